package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Dropout returns, in training, x with each element times 0 with probability p, else times 1/(1 −
// p), by the next numbers of rng: the same for the same seed and call on every device. Otherwise it
// returns x, and rng stays as it is and may be nil. What is not of reals is converted to these in
// both. It panics with tensor.ErrValue unless p is in [0, 1], and for an rng that is nil in
// training; rng stays as it is then. Gradient: g times the same factors, which are made again and
// not kept. Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple
// Way to Prevent Neural Networks from Overfitting", JMLR 15, 2014.
func (x *Node) Dropout(p float64, rng *tensor.RNG, train bool) *Node {
	const op = "Dropout"
	xv := x.use(op)
	switch {
	case !(p >= 0 && p <= 1):
		xv.Dropout(p, nil, false) // which panics, before rng moves
	case !train && xv.Type() != tensor.Real:
		return x.To(tensor.Real)
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
