package autograd

import "github.com/clgrad/clgrad/tensor"

// Pad returns x with elements more at the ends of its last axes, or fewer: as [tensor.Tensor.Pad], as which it panics.
// Gradient: the sum of g over the places to which an element went; 0 for one that was cut off and stands for no other.
func (x *Node) Pad(widths [][2]int, opts ...tensor.PadOptions) *Node {
	const op = "Pad"
	before := x.use(op).Shape()
	var o tensor.PadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	return Apply(op, x.value.Pad(widths, opts...), []*Node{x}, func(g *Node, in *Grads) {
		for i, w := range widths {
			if w == [2]int{} {
				continue
			}
			axis := len(before) - len(widths) + i
			p := padding{axis, before[axis], w[0], w[1]}
			if sum := p.sum(g, o.Mode); sum != nil {
				g = sum
				continue
			}
			shape := append([]int{}, g.Shape()...)
			shape[axis] = p.n
			g = Const(tensor.Zeros(g.Device(), shape...))
		}
		in.GiveNode(0, g)
	})
}

// padding is that of one axis of n elements.
type padding struct{ axis, n, before, behind int }

// sum returns the sum of g over the places of each element, nil if none has one.
func (p padding) sum(g *Node, mode tensor.PadMode) *Node {
	m := g.Shape()[p.axis]
	// What came from where it was, and what stands for elements outside.
	all := p.put(nil, g, max(p.before, 0), min(m, p.before+p.n), max(-p.before, 0))
	if mode == tensor.PadConstant {
		return all
	}
	first, last := min(max(p.before, 0), m), max(p.before+p.n, 0)
	switch mode {
	case tensor.PadReflect:
		mirrored := g.Flip(p.axis)
		all = p.put(all, mirrored, m-first, m, p.before-first+1)
		all = p.put(all, mirrored, 0, m-last, 2*(p.n-1)-(m-1-p.before))
	case tensor.PadCircular:
		all = p.put(all, g, 0, first, p.n-p.before)
		all = p.put(all, g, last, m, 0)
	default:
		if first > 0 {
			all = p.put(all, g.Slice(p.axis, 0, first).Sum(p.axis, tensor.Keepdims), 0, 1, 0)
		}
		if last < m {
			all = p.put(all, g.Slice(p.axis, last, m).Sum(p.axis, tensor.Keepdims), 0, 1, p.n-1)
		}
	}
	return all
}

// put adds elements [from, to) of g, if there are some, to those of all from element at on. All may be nil: nothing so far.
func (p padding) put(all, g *Node, from, to, at int) *Node {
	if from >= to {
		return all
	}
	widths := make([][2]int, g.Rank()-p.axis)
	widths[0] = [2]int{at, p.n - at - (to - from)}
	part := g.Slice(p.axis, from, to)
	if widths[0] != [2]int{} {
		part = part.Pad(widths)
	}
	if all == nil {
		return part
	}
	return all.Add(part)
}
