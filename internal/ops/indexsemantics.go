package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// linesOf returns the view of argument arg [outer, n, inner].
func linesOf(in args, arg, n, inner int) kernels.View { return view(in, arg, 0, n*inner, inner, 1) }

// indicesOf returns the view of the indices of argument 1: [outer, n, inner] if each, else [n].
func indicesOf(in args, n, inner int, each bool) kernels.View {
	if each {
		return linesOf(in, 1, n, inner)
	}
	return view(in, 1, 0, 0, 1, 0)
}

// gathered says that argument 2 [outer, n, inner] is of the middle axis, of so many rows, of argument 0.
func gathered(in args, outer, rows, n, inner int, each bool) operations {
	return operations{&operation.Gather{Outer: outer, N: n, Cols: inner, Rows: rows, X: linesOf(in, 0, rows, inner),
		Index: indicesOf(in, n, inner, each), Y: linesOf(in, 2, n, inner)}}
}

// scattered says that argument 0 [outer, n, inner] is brought to the middle axis, of so many rows, of argument 2.
func scattered(in args, how Scatter, outer, rows, n, inner int, each bool) operations {
	f := [...]*kernels.Function{fn.Identity, fn.Add, fn.Mul, fn.Min, fn.Max}[how]
	return operations{&operation.Scatter{Function: f, Outer: outer, N: n, Cols: inner, Rows: rows,
		X: linesOf(in, 0, n, inner), Index: indicesOf(in, n, inner, each), Y: linesOf(in, 2, rows, inner)}}
}

// gatherSemantics: X, I, Y, n, cols, rows.
func gatherSemantics(in args) operations {
	return gathered(in, 1, int(in[5].Int), int(in[3].Int), int(in[4].Int), false)
}

// gatherAxisSemantics: X, I, Y, outer, n, m, inner, each.
func gatherAxisSemantics(in args) operations {
	return gathered(in, int(in[3].Int), int(in[4].Int), int(in[5].Int), int(in[6].Int), in[7].Int != 0)
}

// takeAlongSemantics: X, I, Y, outer, len, inner, n.
func takeAlongSemantics(in args) operations {
	return gathered(in, int(in[3].Int), int(in[4].Int), int(in[6].Int), int(in[5].Int), true)
}

// scatterSemantics: G, I, Y, n, cols, rows, how.
func scatterSemantics(in args) operations {
	return scattered(in, Scatter(in[6].Int), 1, int(in[5].Int), int(in[3].Int), int(in[4].Int), false)
}

// scatterAxisSemantics: G, I, Y, outer, n, m, inner, how, each.
func scatterAxisSemantics(in args) operations {
	return scattered(in, Scatter(in[7].Int), int(in[3].Int), int(in[4].Int), int(in[5].Int), int(in[6].Int),
		in[8].Int != 0)
}

// scatterAlongSemantics: X, I, Y, outer, len, inner, n.
func scatterAlongSemantics(how Scatter) func(args) operations {
	return func(in args) operations {
		return scattered(in, how, int(in[3].Int), int(in[4].Int), int(in[6].Int), int(in[5].Int), true)
	}
}

// addRunsSemantics: X, I, Y, outer, len, inner, n. It adds to zeros, of Y of 16 bits in a temporary.
func addRunsSemantics(in args) operations {
	dims, y := []int{int(in[3].Int * in[4].Int * in[5].Int)}, view(in, 2, 0, 1)
	list := scatterAlongSemantics(ScatterAdd)(in)
	if !y.Type.Half() {
		return append(operations{mapped(nothing, nil, dims, y)}, list...)
	}
	sums := temporary(0, 1)
	to := &list[0].(*operation.Scatter).Y
	to.Arg, to.Type = sums.Arg, sums.Type
	return operations{mapped(nothing, nil, dims, sums), list[0], mapped(fn.Identity, nil, dims, y, sums)}
}

// padSemantics: X, Y, value, and the axes. One that is mirrored is read from its end on.
func padSemantics(in args) operations {
	p := &operation.Pad{Value: passed(2)}
	p.Axes, p.X, p.Y = padded(in, 3)
	return operations{p}
}

// padGradSemantics: G, D, and the axes.
func padGradSemantics(in args) operations {
	p := &operation.PadGrad{}
	p.Axes, p.D, p.G = padded(in, 2)
	p.D.Arg, p.G.Arg = p.G.Arg, p.D.Arg
	return operations{p}
}

// padded returns the axes that arguments from one on name, without the first that stay as they are, and views of
// argument 0 that is padded and of argument 1 that it becomes.
func padded(in args, from int) (axes []operation.PadAxis, x, y kernels.View) {
	all := padAxesOf(in, from)
	list := all[:]
	for len(list) > 1 && list[0] == (PadAxis{M: 1, N: 1, Mode: list[0].Mode}) {
		list = list[1:]
	}
	var sizes, results []int
	for _, a := range list {
		sizes, results = append(sizes, a.N), append(results, a.M)
	}
	x, y = view(in, 0, 0, rowMajor(sizes)...), view(in, 1, 0, rowMajor(results)...)
	for d, a := range list {
		axis := operation.PadAxis{Size: a.N, OutSize: a.M, Before: a.Before, Mode: operation.PadMode(a.Mode)}
		if a.Mode == PadMirrored {
			axis.Mode = operation.PadConstant
			x.Offset += (a.N - 1) * x.Strides[d]
			x.Strides[d] = -x.Strides[d]
		}
		axes = append(axes, axis)
	}
	return axes, x, y
}
