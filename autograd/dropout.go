package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) dropout(p float64, rng *tensor.RNG, train bool) *Node {
	const op = "Dropout"
	xv := x.use(op)
	switch {
	case !(p >= 0 && p <= 1), xv.Type().Storage():
		xv.Dropout(p, nil, false) // which panics, before rng moves
	case !train && !xv.Type().Float():
		return x.To(tensorapi.Impl.Floats(xv))
	case !train:
		return x
	}
	if rng == nil {
		xv.Dropout(p, nil, true) // which panics
	}
	lo, hi, call := rng.Next()
	return x.dropped(p, call, lo, hi)
}

func (x *Node) dropped(p float64, call, lo, hi kernels.Arg) *Node {
	const op = "Dropout"
	return NewOp(op, tensorapi.Impl.Dropped(x.use(op), p, call, lo, hi), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.dropped(p, call, lo, hi))
	})
}
