package kernels

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/stepwatch"
)

// StepScalars holds numbers of launches that change from step to step, such as a learning rate or the
// counter of a random stream. Their owner makes them once. At the start of a step it calls
// [StepScalars.Next], and passes the numbers with [StepScalars.Arg]. A recorded step runs Next again before
// each replay, as often as the step did, so that the owner's state and the numbers are those of an
// eager step; a number passed otherwise has to be the same in every run. See package replay.
//
// StepScalars belong to one goroutine at a time, as devices do.
type StepScalars struct {
	next    func(numbers []Arg) error
	numbers []Arg
	step    int
}

// maxStepScalars is what Arg.place counts up to.
const maxStepScalars = 255

// NewStepScalars returns n numbers, 0 to begin with. next advances the owner's state by a step and sets
// all of them, with [IntArg], [BitsArg], [FlagArg] or [FloatArg]. It must not use a device. Where it returns an
// error, it has changed nothing. NewStepScalars panics unless there are 1 to 255 numbers and a next.
func NewStepScalars(n int, next func(numbers []Arg) error) *StepScalars {
	if n < 1 || n > maxStepScalars || next == nil {
		panic(fmt.Sprintf("kernels: NewStepScalars: %d numbers: there are 1 to %d, and a function that sets them", n,
			maxStepScalars))
	}
	s := &StepScalars{next: next, numbers: make([]Arg, n)}
	for i := range s.numbers {
		s.numbers[i] = FloatArg(0)
	}
	return s
}

// Next makes the numbers of the next step. The error is that of the owner's function: the numbers
// are not to be used.
func (s *StepScalars) Next() error {
	if err := s.next(s.numbers); err != nil {
		return err
	}
	s.step++
	stepwatch.Notify(s)
	return nil
}

// Step returns how often Next has made numbers.
func (s *StepScalars) Step() int { return s.step }

// Number returns number i as a plain argument. It panics if there is none.
func (s *StepScalars) Number(i int) Arg { return s.numbers[i] }

// Arg returns number i for a launch of this step. It panics if there is none.
func (s *StepScalars) Arg(i int) Arg {
	a := s.numbers[i]
	a.scalars, a.place, a.Off = s, uint8(i), s.step
	return a
}

// StepScalar returns the StepScalars that hold the number a, its place among them, and the step that it
// was passed in; nil for any other number and for memory.
func (a *Arg) StepScalar() (s *StepScalars, i, step int) {
	if a.scalars == nil {
		return nil, 0, 0
	}
	return a.scalars, int(a.place), a.Off
}
