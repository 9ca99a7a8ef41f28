package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// The exported methods of base are those of every device that only package internal/plumbing knows, where it is said
// what they do. Some stand with the operations that they are forms of.

// TakeLaunched is that of package plumbing.
func (s *base) TakeLaunched(op string) [recentLaunches]*kernels.Kernel {
	s.enter(op)
	defer s.leave()
	taken := s.recent
	s.recent, s.nrecent = [recentLaunches]*kernels.Kernel{}, 0
	return taken
}

// One is that of package plumbing, of d, which s is the base of.
func (s *base) One(d Device, shape []int) *Tensor {
	if n := checkShape("One", shape); n != 1 {
		panic(&Error{Op: "One", Kind: ErrShape, Shapes: [][]int{shape}, Detail: "it has one element"})
	}
	if s.one.Load() == nil {
		s.one.CompareAndSwap(nil, Full(d, 1, []int{}...).Retain())
	}
	return s.one.Load().view(append([]int{}, shape...), rowMajor(shape), 0)
}

// IsOne is that of package plumbing.
func (s *base) IsOne(t *Tensor) bool {
	one := s.one.Load()
	return one != nil && t.st == one.st
}

// Rehome is that of package plumbing.
func (*base) Rehome(t, place *Tensor) {
	place.SetInPlace(t)
	place.st.version = max(place.st.version, t.st.version) + 1
	place.st.retain()
	old := t.st
	old.moves++
	t.st, t.strides, t.off, t.inFlatBuffer = place.st, place.strides, place.off, true
	if v := old.turned[t]; v != nil {
		delete(old.turned, t)
		v.follow(t, old)
	}
	old.release()
}

// Transposed is that of package plumbing.
func (*base) Transposed(t *Tensor) *Tensor {
	check("Transposed", t)
	v := t.st.turned[t]
	if v == nil || v.freed {
		v = t.T().Retain()
		t.st.turn(t, v)
	}
	return v
}

// turn remembers the transpose of a tensor.
func (s *storage) turn(t, v *Tensor) {
	if s.turned == nil {
		s.turned = map[*Tensor]*Tensor{}
	}
	s.turned[t] = v
}

// follow makes v, a transpose of t in its old storage, one of t as it is now.
func (v *Tensor) follow(t *Tensor, old *storage) {
	if v.freed {
		return
	}
	t.st.retain()
	v.st, v.strides, v.off = t.st, []int{t.strides[1], t.strides[0]}, t.off
	t.st.turn(t, v)
	old.release()
}

// InFlatBuffer is that of package plumbing.
func (*base) InFlatBuffer(t *Tensor) bool { return t.inFlatBuffer }

// LeaveFlatBuffer is that of package plumbing.
func (*base) LeaveFlatBuffer(t *Tensor) { t.inFlatBuffer = false }

// Alone is that of package plumbing.
func (*base) Alone(t *Tensor) bool {
	return t.st.refs.Load() == 1 && t.IsContiguous() && t.Len() == intmath.Product(t.st.shape)
}

// Memory is that of package plumbing.
func (*base) Memory(t *Tensor) (storage any, first int) { return t.st, t.off }

// Version is that of package plumbing.
func (*base) Version(t *Tensor) uint64 { return t.st.version }

// Axes is that of package plumbing.
func (*base) Axes(op string, t *Tensor, axes []int) []int {
	check(op, t)
	over, _ := t.reduced(op, axes)
	return over
}

// Try is that of package plumbing: a device tries nothing unless it says otherwise.
func (*base) Try(*kernels.Kernel, []kernels.Arg) error { return nil }

// TrialsRemembered is that of package plumbing.
func (*base) TrialsRemembered() (path string, trials int) { return "", 0 }

// TuningName is that of package plumbing.
func (s *base) TuningName() string { return s.tuning }
