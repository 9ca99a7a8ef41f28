package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Dropout returns, in training, t with each element times 0 with probability p, else times 1/(1 −
// p), by the next numbers of rng: the same for the same seed and call on every device. Otherwise it
// returns a view of t, and rng stays as it is and may be nil. What is not of reals is converted to
// these in both. It panics with ErrValue unless p is in [0, 1], and for an rng that is nil in
// training. Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple
// Way to Prevent Neural Networks from Overfitting", JMLR 15, 2014.
func (t *Tensor) Dropout(p float64, rng *RNG, train bool) *Tensor {
	const op = "Dropout"
	check(op, t)
	mustProbability(op, p)
	if !train {
		return t.To(Real)
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
	x := t.reals()
	defer x.release()
	flat := x.Reshape(t.Len())
	defer flat.Free()
	scale := 0.0
	if p < 1 {
		scale = 1 / (1 - p)
	}
	y := alloc("Dropout", t.Device(), []int{t.Len()})
	MapInto(ops.Dropout, []kernels.Arg{kernels.FloatArg(p), kernels.FloatArg(scale), call, lo, hi}, []*Tensor{y}, flat)
	return y.reshaped(append([]int{}, t.shape...))
}
