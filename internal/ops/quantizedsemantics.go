package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// dequantize returns the function of element (i, j) of weights of a format, of the operands W, S and Z as vec.Weights
// lays them out, and the numbers of rows of a panel, which is even, of rows of a group, and of groups.
func dequantize(f vec.WeightFormat) *kernels.Function {
	const columns = 64 // of a panel
	i, j := expr.Index(0), expr.Index(1)
	rows, group, groups := expr.IntParam(0), expr.IntParam(1), expr.IntParam(2)
	wide, two := expr.Const(columns), expr.Const(2)
	panel, column := j.Quo(wide), j.Rem(wide)
	at := func(row *expr.Expr) *expr.Expr { return row.Mul(wide).Add(column) }
	element := at(panel.Mul(rows).Add(i))
	var value *expr.Expr
	signed := func(v *expr.Expr, most float64) *expr.Expr { // a number below 2·most
		return expr.Where(v.Lt(expr.Const(most)), v, v.Sub(expr.Const(2*most)))
	}
	switch f {
	case vec.Weights8:
		value = signed(expr.Load(0, element), 128)
	case vec.Weights4:
		both := expr.Load(0, at(panel.Mul(rows).Add(i).Quo(two)))
		high := both.Div(expr.Const(16)).Floor()
		value = signed(expr.Where(i.Rem(two).Float().Eq(zero), both.Sub(high.Mul(expr.Const(16))), high), 8)
	default:
		value = expr.Load(0, element)
	}
	scale := at(panel.Mul(groups).Add(i.Quo(group)))
	return &kernels.Function{Name: "dequantize", Scalars: []float64{2, 1, 2},
		Value: value.Sub(expr.Load(2, scale)).Mul(expr.Load(1, scale))}
}

// dequantized describes weights that become Y [k, n]: W, S and Z are arguments from w on, group and zeros from another.
func (q *Quantized) dequantized(in args, w, k, n, numbers int, y kernels.View) kernels.Op {
	group, groups := int(in[numbers].Int), 1
	if group == 0 {
		group = max(1, k)
	} else {
		groups = intmath.CeilDiv(k, group)
	}
	var scalars []operation.Scalar
	for _, v := range []int{intmath.RoundUp(k, 2), group, groups} {
		scalars = append(scalars, constant(float64(v)))
	}
	return &operation.Map{Dims: []int{k, n},
		Operands: []kernels.View{view(in, w, 0, 1), view(in, w+1, 0, 1), view(in, w+2, 0, 1)},
		Elements: []int{in[w].N, in[w+1].N, in[w+2].N * int(in[numbers+1].Int)}, // zero points that are not there are 0
		Results:  []operation.Result{{Function: q.function, Scalars: scalars, View: y}}}
}

// productSemantics: X, W, S, Z, Y, m, n, k, group, zeros.
func (q *Quantized) productSemantics(in args) operations {
	m, n, k := int(in[5].Int), int(in[6].Int), int(in[7].Int)
	weights := temporary(0, n, 1)
	return operations{q.dequantized(in, 1, k, n, 8, weights),
		&operation.MatMul{M: m, N: n, K: k, Slice: max(1, k), A: view(in, 0, 0, k, 1), B: weights,
			C: view(in, 4, 0, 0, n, 1)}}
}

// floatsSemantics: W, S, Z, Y, k, n, group, zeros, transposed.
func (q *Quantized) floatsSemantics(in args) operations {
	k, n := int(in[4].Int), int(in[5].Int)
	y := view(in, 3, 0, n, 1)
	if in[8].Int != 0 {
		y.Strides = []int{1, k}
	}
	return operations{q.dequantized(in, 0, k, n, 6, y)}
}

// columnsSemantics: W, S, Z, AT, Y, count, k, n, group, zeros.
func (q *Quantized) columnsSemantics(in args) operations {
	count, k, n := int(in[5].Int), int(in[6].Int), int(in[7].Int)
	return operations{q.dequantized(in, 0, k, n, 8, temporary(0, n, 1)),
		&operation.Gather{Outer: 1, N: count, Cols: k, Rows: n, X: temporary(0, 0, 1, n),
			Index: view(in, 3, 0, 0, 1, 0), Y: view(in, 4, 0, 0, k, 1)}}
}
