package autograd

import (
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// cumSum is CumSum in a direction.
func (x *Node) cumSum(axis, direction int) *Node {
	return NewOp("CumSum", tensorapi.Impl.Scan("CumSum", ops.ScanSum, x.use("CumSum"), axis, direction), []*Node{x}, func(g *Node, in *Grads) {
		in.accumulateNew(0, g.cumSum(axis, direction^ops.ScanReverse))
	})
}

// cumProd is CumProd in a direction, maybe without the element itself. Product k has the gradient g[k]·Π x[l] by x[i],
// over all l ≤ k but i: that is the product up to i, without x[i], times the sum r[i] of what follows, r[i] = g[i] +
// x[i+1]·r[i+1]. Of products without the element itself only later ones are of x[i]: the sum is that of element i + 1,
// without r: r[i+1] = g[i+1] + x[i+1]·r[i+2].
func (x *Node) cumProd(axis, flags int) *Node {
	xv := x.use("CumProd")
	y := tensorapi.Impl.Scan("CumProd", ops.ScanProd, xv, axis, flags)
	return NewOp("CumProd", y, []*Node{x}, func(g *Node, in *Grads) {
		back := flags&ops.ScanReverse ^ ops.ScanReverse
		if flags&ops.ScanExclusive != 0 {
			in.accumulateElement(0, fn.Mul, in.Output(), x.linearScan(g, axis, back).shifted(axis, back))
		} else {
			in.accumulateElement(0, fn.Mul, x.linearScan(g, axis, back|ops.ScanShifted),
				x.cumProd(axis, flags|ops.ScanExclusive))
		}
	}, xv, y)
}

// exclusive returns what y, the results of a scan along an axis, are without the element itself: those before each, and
// for the first what the scan begins with.
func (y *Node) exclusive(axis int, start float64) *Node {
	shape := y.Shape()
	if len(shape) == 0 {
		return constant(tensor.FullLike(y.value, start))
	}
	axis = fromFront(axis, len(shape))
	first := make([]float64, shape[axis])
	if len(first) > 0 {
		first[0] = start
	}
	line := keepDims(shape, sequence(len(shape)))
	line[axis] = len(first)
	return y.shifted(axis, 0).Add(constant(tensor.NewOf(y.Device(), y.value.Type(), first, line...)))
}

func fromFront(axis, rank int) int {
	if axis < 0 {
		return axis + rank
	}
	return axis
}

// shifted returns the element before each along an axis, in a direction: 0 for the first.
func (x *Node) shifted(axis, direction int) *Node {
	shape := x.Shape()
	if len(shape) == 0 {
		return x.MulScalar(0)
	}
	n := shape[fromFront(axis, len(shape))]
	from, to := 0, min(1, n)
	if direction&ops.ScanReverse != 0 {
		from, to = to, from
	}
	rest := max(n-1, 0)
	c := cut{
		of:   func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(axis, to, to+rest) },
		node: func(g *Node) *Node { return g.Slice(axis, to, to+rest) },
	}
	return placed([]part{{c, x.Slice(axis, from, from+rest)}}, x.value.Type(), shape)
}

// linearScan returns y with y[k] = x[k]·y[k−1] + z[k] along an axis, as flags say: see
// [tensorapi.API.ScanLinear]. Gradient: r, the same scan of g in the other direction with the
// factor that follows, for z; the product of r and the y before for x.
func (x *Node) linearScan(z *Node, axis, flags int) *Node {
	const op = "LinearScan"
	xv, zv := x.use(op), z.use(op)
	y := tensorapi.Impl.ScanLinear(xv, zv, axis, flags)
	return NewOp(op, y, []*Node{x, z}, func(g *Node, in *Grads) {
		r := x.linearScan(g, axis, flags^ops.ScanReverse^ops.ScanShifted)
		if flags&ops.ScanShifted != 0 { // x[k] takes y[k] to what follows
			in.AccumulateNode(0, in.Output().Mul(r.shifted(axis, flags^ops.ScanReverse)))
		} else {
			in.AccumulateNode(0, r.Mul(in.Output().shifted(axis, flags)))
		}
		in.AccumulateNode(1, r)
	}, xv, y)
}

func (x *Node) logCumSumExp(axis int) *Node {
	xv := x.use("LogCumSumExp")
	y := xv.LogCumSumExp(axis)
	return NewOp("LogCumSumExp", y, []*Node{x}, func(g *Node, in *Grads) {
		// e^(x − y)·r, with r[i] = g[i] + e^(y[i] − y[i+1])·r[i+1]: no power is above 1.
		out, unit := in.Output(), constant(tensor.FullOf(xv.Device(), y.Type(), 1))
		fall := element(ops.LogSumExpGrad, nil, out.exclusive(axis, math.Inf(-1)), out, unit)
		in.accumulateElement(0, ops.LogSumExpGrad, x, out, fall.linearScan(g, axis, ops.ScanReverse|ops.ScanShifted))
	}, xv, y)
}

func (x *Node) cumMax(axis int) (values *Node, indices *tensor.Tensor) {
	y, index := x.use("CumMax").CumMax(axis)
	return NewOp("CumMax", y, []*Node{x}, x.toRunning(axis, index), index).ofIndex(index)
}

func (x *Node) cumMin(axis int) (values *Node, indices *tensor.Tensor) {
	y, index := x.use("CumMin").CumMin(axis)
	return NewOp("CumMin", y, []*Node{x}, x.toRunning(axis, index), index).ofIndex(index)
}

// toRunning returns the gradient of extremes up to each element of x along an axis: to those that
// index names.
func (x *Node) toRunning(axis int, index *tensor.Tensor) func(g *Node, in *Grads) {
	shape := x.Shape()
	return func(g *Node, in *Grads) {
		if len(shape) == 0 {
			in.AccumulateNode(0, g)
			return
		}
		in.AccumulateNode(0, g.addRuns(index, fromFront(axis, len(shape))))
	}
}

// ofIndex returns n, whose gradient reads index, and a view of index for the caller.
func (n *Node) ofIndex(index *tensor.Tensor) (*Node, *tensor.Tensor) {
	view := index.View()
	n.keeping(index)
	return n, view
}

func (x *Node) prod(axes ...int) *Node {
	over := tensorapi.Impl.Axes("Prod", x.use("Prod"), axes...)
	line, axis := x.joined(over)
	lv := line.use("Prod")
	one := keepDims(lv.Shape(), []int{axis})
	y := NewOp("Prod", lv.Prod(axis), []*Node{line}, func(g *Node, in *Grads) {
		g = g.Reshape(one...)
		others := line.cumProd(axis, ops.ScanExclusive).Mul(line.cumProd(axis, ops.ScanExclusive|ops.ScanReverse))
		in.accumulateNew(0, others.Mul(g))
	}, lv)
	if kept := keepDims(x.Shape(), over); keeps(axes) {
		return y.Reshape(kept...)
	}
	return y
}
