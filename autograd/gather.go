package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// gradient is what has been gathered for a node during a walk that records nothing.
type gradient struct {
	t *tensor.Tensor
	// mine says that nobody else reads t's elements and that they are contiguous, so that more may
	// be added to it in place.
	mine bool
}

// settled returns g once all that came before are freed that it may share memory with: it is nobody
// else's if there is no other tensor in its memory. What a view passed on, such as the gradient of
// a Reshape, then needs no copy.
func (g gradient) settled() gradient {
	g.mine = g.mine || tensorapi.Impl.Alone(g.t)
	return g
}

// add gathers g for n, summed over the axes along which n was broadcast. It takes g over.
func (w *walk) add(n *Node, g gradient) {
	switch {
	case !w.wants(n):
		g.t.Free()
	case w.canWriteInPlace(n) && (g.mine || n.gradBuffer != nil || n.grad != nil) && n.pending.t == nil:
		n.addToLeaf(g)
	default: // also what others may still read, until it is settled
		n.pending = plus(n.pending, n.unbroadcast(g))
	}
}

// canWriteInPlace reports whether each gradient of n goes to its Grad as it comes: nobody wants to
// see the sum before.
func (w *walk) canWriteInPlace(n *Node) bool {
	return n.op == "" && n.needs && !w.hasTargets && !n.hooked()
}

// unbroadcast sums g to n's shape.
func (n *Node) unbroadcast(g gradient) gradient {
	if slices.Equal(g.t.Shape(), n.Shape()) {
		return g
	}
	sum := gradient{g.t.SumTo(n.Shape()...), true}
	g.t.Free()
	return sum
}

// addToLeaf gathers g in a parameter's Grad, which outlives the pass: in its home, if it has one.
func (n *Node) addToLeaf(g gradient) {
	n.foundGrad()
	if n.gradBuffer != nil {
		switch {
		case suffix(n.Shape(), g.t.Shape()) && n.value.Len() > 0 && !n.gradType().Half():
			tensorapi.Impl.SumRowsInto(n.gradBuffer, g.t, n.grad != nil) // one launch for bias gradients
		default:
			g = n.unbroadcast(g)
			if n.grad != nil {
				n.gradBuffer.MapInPlace(fn.Add, nil, g.t)
			} else {
				n.gradBuffer.SetInPlace(g.t)
			}
		}
		g.t.Free()
		n.grad = n.gradBuffer
		return
	}
	g = plus(gradient{n.grad, true}, n.unbroadcast(g))
	if !g.mine {
		c := g.t.Copy()
		g.t.Free()
		g.t = c
	}
	n.grad = g.t.Retain()
}

// suffix reports whether shape is whole without some leading axes.
func suffix(shape, whole []int) bool {
	return len(shape) < len(whole) && slices.Equal(shape, whole[len(whole)-len(shape):])
}

// plus adds two contributions, in place of one that is nobody else's. It takes both over.
func plus(a, b gradient) gradient {
	switch {
	case a.t == nil:
		return b
	case a.mine:
		a.t.MapInPlace(fn.Add, nil, b.t)
		b.t.Free()
		return a
	case b.mine:
		b.t.MapInPlace(fn.Add, nil, a.t)
		a.t.Free()
		return b
	}
	sum := a.t.Add(b.t)
	a.t.Free()
	b.t.Free()
	return gradient{sum, true}
}
