package kernels

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/stepwatch"
)

// Slots are numbers of launches that change from step to step, such as a learning rate or the
// counter of a random stream. Their owner makes them once. At the start of a step it calls
// [Slots.Next], and passes the numbers with [Slots.Arg]. A recorded step runs Next again before
// each replay, as often as the step did, so that the owner's state and the numbers are those of an
// eager step; a number passed otherwise has to be the same in every run. See package replay.
//
// Slots belong to one goroutine at a time, as devices do.
type Slots struct {
	next    func(numbers []Arg) error
	numbers []Arg
	turn    int
}

// maxSlots is what Arg.slot counts up to.
const maxSlots = 255

// NewSlots returns n numbers, 0 to begin with. next advances the owner's state by a step and sets
// all of them, with [IntArg], [BitsArg], [FlagArg] or [FloatArg]. It must not use a device. Where it returns an
// error, it has changed nothing. NewSlots panics unless there are 1 to 255 numbers and a next.
func NewSlots(n int, next func(numbers []Arg) error) *Slots {
	if n < 1 || n > maxSlots || next == nil {
		panic(fmt.Sprintf("kernels: NewSlots: %d numbers: there are 1 to %d, and a function that sets them", n, maxSlots))
	}
	s := &Slots{next: next, numbers: make([]Arg, n)}
	for i := range s.numbers {
		s.numbers[i] = FloatArg(0)
	}
	return s
}

// Next makes the numbers of the next step. The error is that of the owner's function: the numbers
// are not to be used.
func (s *Slots) Next() error {
	if err := s.next(s.numbers); err != nil {
		return err
	}
	s.turn++
	stepwatch.Notify(s)
	return nil
}

// Turn returns how often Next has made numbers.
func (s *Slots) Turn() int { return s.turn }

// Number returns number i as a plain argument. It panics if there is none.
func (s *Slots) Number(i int) Arg { return s.numbers[i] }

// Arg returns number i for a launch of this step. It panics if there is none.
func (s *Slots) Arg(i int) Arg {
	a := s.numbers[i]
	a.slots, a.slot, a.Off = s, uint8(i), s.turn
	return a
}

// Slot returns the Slots that the number a is one of, its place among them, and the turn that it
// was passed in; nil for a number of no slot and for memory.
func (a *Arg) Slot() (s *Slots, i, turn int) {
	if a.slots == nil {
		return nil, 0, 0
	}
	return a.slots, int(a.slot), a.Off
}
