package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (t *Tensor) dropout(p float64, rng *RNG, train bool) *Tensor {
	const op = "Dropout"
	check(op, t)
	mustProbability(op, p)
	if !train {
		return t.To(floats(t))
	}
	lo, hi, call := rng.next(op)
	return t.dropped(p, call, lo, hi)
}

func mustProbability(op string, p float64) {
	if !(p >= 0 && p <= 1) {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("the probability is %v: it is in [0, 1]", p)})
	}
}

func (api) Dropped(t *Tensor, p float64, call, lo, hi kernels.Arg) *Tensor {
	check("Dropout", t)
	mustProbability("Dropout", p)
	return t.dropped(p, call, lo, hi)
}

func (t *Tensor) dropped(p float64, call, lo, hi kernels.Arg) *Tensor {
	x := t.dense(floats(t))
	defer x.release()
	flat := x.Reshape(t.Len())
	defer flat.Free()
	scale := 0.0
	if p < 1 {
		scale = 1 / (1 - p)
	}
	y := alloc("Dropout", t.Device(), x.typ, []int{t.Len()})
	MapInto(ops.Dropout, []kernels.Arg{kernels.FloatArg(p), kernels.FloatArg(scale), call, lo, hi}, []*Tensor{y}, flat)
	return y.reshaped(append([]int{}, t.shape...))
}
