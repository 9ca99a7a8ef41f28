package kernels

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"
)

// TestStepScalars: arguments carry the number of the turn that they were made in, and say which it was.
func TestStepScalars(t *testing.T) {
	step, broken := 0, error(nil)
	s := NewStepScalars(2, func(numbers []Arg) error {
		if broken != nil {
			return broken
		}
		step++
		numbers[0], numbers[1] = FloatArg(float64(step)/2), IntArg(step)
		return nil
	})
	if a := s.Arg(1); a.Kind != ArgFloat || a.Float != 0 {
		t.Errorf("before the first turn: %v", a)
	}
	for turn := 1; turn <= 3; turn++ {
		if err := s.Next(); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			a := s.Arg(i)
			if of, at, now := a.StepScalar(); of != s || at != i || now != turn || s.Step() != turn {
				t.Errorf("number %d of turn %d says that it is number %d of turn %d", i, turn, at, now)
			}
		}
		if a, b := s.Arg(0), s.Number(1); a.Float != float64(turn)/2 || b != IntArg(turn) {
			t.Errorf("turn %d: %v, %v", turn, a.Float, b)
		}
	}
	broken = errors.New("no more")
	if err := s.Next(); !errors.Is(err, broken) || s.Step() != 3 || s.Number(1).Int != 3 {
		t.Errorf("err = %v, turn %d", err, s.Step())
	}
	plain := FloatArg(1)
	if of, _, _ := plain.StepScalar(); of != nil {
		t.Error("a number of no step scalar has one")
	}
}

// TestNewStepScalarsRefuses: as many numbers as an argument can count, and somebody who makes them.
func TestNewStepScalarsRefuses(t *testing.T) {
	next := func([]Arg) error { return nil }
	for _, c := range []struct {
		n    int
		next func([]Arg) error
		want bool
	}{{1, next, true}, {255, next, true}, {0, next, false}, {256, next, false}, {1, nil, false}} {
		made := func() (ok bool) {
			defer func() { _ = recover() }()
			s := NewStepScalars(c.n, c.next)
			_, at, _ := ptr(s.Arg(c.n - 1)).StepScalar()
			return at == c.n-1
		}()
		if made != c.want {
			t.Errorf("%d numbers, a function: %v: made %v", c.n, c.next != nil, made)
		}
	}
}

func ptr(a Arg) *Arg { return &a }

// TestArgSmall: a launch copies its arguments, a line of the cache each.
func TestArgSmall(t *testing.T) {
	if n := unsafe.Sizeof(Arg{}); unsafe.Sizeof(uintptr(0)) == 8 && n > 64 {
		t.Errorf("an argument has %d bytes", n)
	}
}

// The owner of a schedule makes its number a step scalar: a launch of a recorded step is given another
// each time.
func ExampleStepScalars() {
	rate := 1.0
	scalars := NewStepScalars(1, func(numbers []Arg) error {
		rate /= 2
		numbers[0] = FloatArg(rate)
		return nil
	})
	for range 2 {
		if err := scalars.Next(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(scalars.Arg(0).Float) // the last argument of a tensor.Launch, say
	}
	// Output:
	// 0.5
	// 0.25
}
