package tensor

import (
	"github.com/clgrad/clgrad/internal/hooks"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// api implements tensorapi.API, which documents the methods. Many stand with the operations that
// they are forms of.
type api struct{}

func init() { hooks.Tensor = api{} }

func (api) TakeLaunched(d Device, op string) [recentLaunches]*kernels.Kernel {
	s := d.core()
	s.enter(op)
	defer s.leave()
	s.labelled("", op)
	taken := s.recent
	s.recent, s.nrecent = [recentLaunches]*kernels.Kernel{}, 0
	return taken
}

func (api) One(d Device, shape ...int) *Tensor {
	s := d.core()
	if n := checkShape("One", shape); n != 1 {
		panic(&Error{Op: "One", Kind: ErrShape, Shapes: [][]int{shape}, Detail: "it has one element"})
	}
	if s.one.Load() == nil {
		s.one.CompareAndSwap(nil, Full(d, 1, []int{}...).Retain())
	}
	return s.one.Load().view(append([]int{}, shape...), rowMajor(shape), 0)
}

func (api) Floats(ts ...*Tensor) Type { return floatsOf(ts...) }

func (api) Promoted(ts ...*Tensor) Type { return promotedOf(ts...) }

func (api) IsOne(t *Tensor) bool {
	one := t.Device().core().one.Load()
	return one != nil && t.st == one.st
}

func (api) Rehome(t, place *Tensor) {
	place.SetInPlace(t)
	place.st.version = max(place.st.version, t.st.version) + 1
	place.st.retain()
	old := t.st
	old.moves++
	t.st, t.typ, t.strides, t.off, t.inFlatBuffer = place.st, place.typ, place.strides, place.off, true
	if v := old.transposes[t]; v != nil {
		delete(old.transposes, t)
		v.follow(t, old)
	}
	old.release()
}

func (api) Transposed(t *Tensor) *Tensor {
	check("Transposed", t)
	v := t.st.transposes[t]
	if v == nil || v.freed != nil {
		v = t.T().Retain()
		t.st.keepTranspose(t, v)
	}
	return v
}

// keepTranspose remembers v as the transpose of t.
func (s *storage) keepTranspose(t, v *Tensor) {
	if s.transposes == nil {
		s.transposes = map[*Tensor]*Tensor{}
	}
	s.transposes[t] = v
}

// follow makes v, a transpose of t in its old storage, one of t as it is now.
func (v *Tensor) follow(t *Tensor, old *storage) {
	if v.freed != nil {
		return
	}
	t.st.retain()
	v.st, v.typ, v.strides, v.off = t.st, t.typ, []int{t.strides[1], t.strides[0]}, t.off
	t.st.keepTranspose(t, v)
	old.release()
}

func (api) InFlatBuffer(t *Tensor) bool { return t.inFlatBuffer }

func (api) LeaveFlatBuffer(t *Tensor) { t.inFlatBuffer = false }

func (api) Alone(t *Tensor) bool {
	return t.st.refs.Load() == 1 && t.IsContiguous() && t.Len() == intmath.Product(t.st.shape)
}

func (api) Memory(t *Tensor) (storage any, first int) { return t.st, t.off }

func (api) Version(t *Tensor) uint64 { return t.st.version }

func (api) Axes(op string, t *Tensor, axes ...int) []int {
	check(op, t)
	over, _ := t.reduced(op, axes)
	return over
}

func (api) Try(d Device, k *kernels.Kernel, args []kernels.Arg) error { return d.selfTest(k, args) }

func (api) TrialsRemembered(d Device) (path string, trials int) { return d.trialsRemembered() }

func (api) GPUKernels(opt Options) Options {
	opt.gpuKernels = true
	return opt
}

func (api) TuningName(d Device) string { return d.core().tuning }
