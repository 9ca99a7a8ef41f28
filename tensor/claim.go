package tensor

import "github.com/clgrad/clgrad/internal/goroutine"

// busy is set in base.user during an operation: a launch, an allocation or a copy.
const busy = 1

// enter gives the device to the calling goroutine for an operation, until leave.
func (s *base) enter(op string) {
	if !s.user.CompareAndSwap(0, busy) {
		s.enterClaimed(op)
	}
}

// enterClaimed is enter of a device that is in use: only the goroutine that claimed it may
// continue.
func (s *base) enterClaimed(op string) {
	if me := goroutine.ID(); !s.user.CompareAndSwap(me, me|busy) {
		panic(s.inUse("", op))
	}
}

func (s *base) leave() { s.user.Store(s.owner) }

// claimed reports whether the calling goroutine has claimed the device.
func (s *base) claimed() bool {
	owner := s.user.Load() &^ busy
	return owner != 0 && owner == goroutine.ID()
}

func (api) Claim(d Device, pkg, op string) (outermost bool) {
	s := d.core()
	if me := goroutine.ID(); s.user.CompareAndSwap(0, me) {
		s.owner = me
		return true
	}
	api{}.MustOwn(d, pkg, op)
	return false
}

func (api) Unclaim(d Device, outermost bool) {
	if s := d.core(); outermost {
		s.owner = 0
		s.user.Store(0)
	}
}

func (api) MustOwn(d Device, pkg, op string) {
	if s := d.core(); !s.claimed() {
		panic(s.inUse(pkg, op))
	}
}

// inUse returns the error that another goroutine uses the device.
func (s *base) inUse(pkg, op string) *Error {
	e := &Error{Pkg: pkg, Op: op, Kind: ErrGoroutine, Detail: "let one finish before the other starts, or open a device for each"}
	if s.user.Load()&^busy != 0 {
		e.Detail = "another goroutine has claimed the device, by NoGrad, Scope, Backward, Grad, DetectAnomalies, EMA.Use or Record: " + e.Detail
	}
	return e
}
