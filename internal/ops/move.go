package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// Kernels of move.cl, which write or move elements without computing on them. Those that have an [Kernel.Of] for
// other elements than reals say so.
var (
	// Fill is Y[i] = value: Y, n, value. Of other elements, the value is an int: of float16, its bits.
	Fill = kernels.Elementwise(kernels.Typed(&kernels.Kernel{Name: "k_fill", File: "move.cl", Grid: kernels.PerElement(0),
		Params: []kernels.Param{out("Y"), intArg("n"), realArg("value")},
		Twin:   kernels.Twin{F32: fillTwin[float32], F64: fillTwin[float64]}}, "move.cl", "k_fill_int",
		kernels.ElementTwin(fillIntTwin[int32]), kernels.ElementTwin(fillIntTwin[uint8]), kernels.ElementTwin(fillIntTwin[float16.Float16])), nil)
	// Zero is Y[i] = 0, of any element type: Y, n.
	Zero = kernels.Elementwise(kernels.Typed(&kernels.Kernel{Name: "k_zero", File: "move.cl", Grid: kernels.PerElement(0),
		Params: []kernels.Param{out("Y"), intArg("n")},
		Twin:   kernels.Twin{F32: zeroTwin[float32], F64: zeroTwin[float64]}}, "move.cl", "k_zero",
		kernels.ElementTwin(zeroTwin[int32]), kernels.ElementTwin(zeroTwin[uint8]), kernels.ElementTwin(zeroTwin[float16.Float16])), nil)
	// Copy is Y[i] = X[i], of any element type: X, Y, n.
	Copy = kernels.Elementwise(kernels.Typed(&kernels.Kernel{Name: "k_copy", File: "move.cl", Grid: kernels.PerElement(1),
		Params: []kernels.Param{in("X"), out("Y"), intArg("n")},
		Twin:   kernels.Twin{F32: copyTwin[float32], F64: copyTwin[float64]}}, "move.cl", "k_copy",
		kernels.ElementTwin(copyTwin[int32]), kernels.ElementTwin(copyTwin[uint8]), kernels.ElementTwin(copyTwin[float16.Float16])), nil)
	// BroadcastRows repeats the row X of cols elements, of any type, rows times: X, Y, rows, cols.
	BroadcastRows = kernels.Typed(&kernels.Kernel{Name: "k_broadcast_rows", File: "move.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[3].Int), int(a[2].Int), l)
		},
		Params: []kernels.Param{in("X"), out("Y"), intArg("rows"), intArg("cols")},
		Twin:   kernels.Twin{F32: broadcastRowsTwin[float32], F64: broadcastRowsTwin[float64]}}, "move.cl", "k_broadcast_rows",
		kernels.ElementTwin(broadcastRowsTwin[int32]), kernels.ElementTwin(broadcastRowsTwin[uint8]),
		kernels.ElementTwin(broadcastRowsTwin[float16.Float16]))
	// Transpose makes Y [cols, rows] of X [rows, cols], of any element type: X, Y, rows, cols.
	Transpose = kernels.Typed(&kernels.Kernel{Name: "k_transpose", File: "move.cl",
		Grid: func(a []kernels.Arg, _ kernels.Limits) kernels.Grid {
			const tile = 16
			return kernels.Grid{Dims: 2, Global: [3]int{intmath.RoundUp(int(a[3].Int), tile), intmath.RoundUp(int(a[2].Int), tile)},
				Local: [3]int{tile, tile}}
		},
		Params: []kernels.Param{in("X"), out("Y"), intArg("rows"), intArg("cols")},
		Twin:   kernels.Twin{F32: transposeTwin[float32], F64: transposeTwin[float64]}}, "move.cl", "k_transpose",
		kernels.ElementTwin(transposeTwin[int32]), kernels.ElementTwin(transposeTwin[uint8]),
		kernels.ElementTwin(transposeTwin[float16.Float16]))
	// StridedCopy makes a view of X, of any element type, contiguous in Y: X, Y, n, five dimensions (all but
	// the leading one), six strides. X's argument covers every element that the view reaches.
	StridedCopy = kernels.Typed(&kernels.Kernel{Name: "k_strided_copy", File: "move.cl", Grid: kernels.PerElement(1),
		Params: []kernels.Param{in("X"), out("Y"), intArg("n"),
			intArg("d1"), intArg("d2"), intArg("d3"), intArg("d4"), intArg("d5"),
			intArg("s0"), intArg("s1"), intArg("s2"), intArg("s3"), intArg("s4"), intArg("s5")},
		Twin: kernels.Twin{F32: stridedTwin[float32](false), F64: stridedTwin[float64](false)}}, "move.cl", "k_strided_copy",
		kernels.ElementTwin(stridedTwin[int32](false)), kernels.ElementTwin(stridedTwin[uint8](false)),
		kernels.ElementTwin(stridedTwin[float16.Float16](false)))
	// StridedStore writes X over a view of Y, of any element type, of which no two indices name one element: X, Y, n, and the
	// dimensions and strides as in StridedCopy. Y's argument covers every element that the view reaches.
	StridedStore = kernels.Typed(&kernels.Kernel{Name: "k_strided_store", File: "move.cl", Grid: kernels.PerElement(0),
		Params: []kernels.Param{in("X"), inOut("Y"), intArg("n"),
			intArg("d1"), intArg("d2"), intArg("d3"), intArg("d4"), intArg("d5"),
			intArg("s0"), intArg("s1"), intArg("s2"), intArg("s3"), intArg("s4"), intArg("s5")},
		Twin: kernels.Twin{F32: stridedTwin[float32](true), F64: stridedTwin[float64](true)}}, "move.cl", "k_strided_store",
		kernels.ElementTwin(stridedTwin[int32](true)), kernels.ElementTwin(stridedTwin[uint8](true)),
		kernels.ElementTwin(stridedTwin[float16.Float16](true)))
	// GatherRows is Y[i] = X[I[i]] over rows of cols elements of any type, 0 for an index outside [0, rows):
	// X, I, Y, n, cols, rows.
	GatherRows = kernels.Typed(&kernels.Kernel{Name: "k_gather_rows", File: "move.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[4].Int), int(a[3].Int), l)
		},
		Params: []kernels.Param{in("X"), inInts("I"), out("Y"), intArg("n"), intArg("cols"), intArg("rows")},
		Twin:   kernels.Twin{F32: gatherRowsTwin[float32], F64: gatherRowsTwin[float64]}}, "move.cl", "k_gather_rows",
		kernels.ElementTwin(gatherRowsTwin[int32]), kernels.ElementTwin(gatherRowsTwin[uint8]),
		kernels.ElementTwin(gatherRowsTwin[float16.Float16]))
	// ScatterAddRows is Y[I[i]] += G[i] over rows of cols elements, in the order of i, passing over an index
	// outside [0, rows): G, I, Y, n, cols, rows.
	ScatterAddRows = &kernels.Kernel{Name: "k_scatter_add_rows", File: "move.cl", Grid: kernels.PerInt(4),
		Params: []kernels.Param{in("G"), inInts("I"), inOut("Y"), intArg("n"), intArg("cols"), intArg("rows")},
		Twin:   kernels.Twin{F32: scatterAddRowsTwin[float32], F64: scatterAddRowsTwin[float64]}}
)

func fillIntTwin[T kernels.Element](c kernels.Call[T]) {
	y, v := c.Reals(0), T(c.Int(2))
	for i := range y {
		y[i] = v
	}
}

func fillTwin[T kernels.Real](c kernels.Call[T]) {
	y, v := c.Reals(0), c.Real(2)
	for i := range y {
		y[i] = v
	}
}

func zeroTwin[T kernels.Element](c kernels.Call[T]) { clear(c.Reals(0)) }

func copyTwin[T kernels.Element](c kernels.Call[T]) { copy(c.Reals(1), c.Reals(0)) }

func broadcastRowsTwin[T kernels.Element](c kernels.Call[T]) {
	x, y := c.Reals(0), c.Reals(1)
	for at := 0; at < len(y); at += len(x) {
		copy(y[at:], x)
	}
}

func transposeTwin[T kernels.Element](c kernels.Call[T]) {
	x, y, rows, cols := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3)
	for r := range rows {
		for k := range cols {
			y[k*rows+r] = x[r*cols+k]
		}
	}
}

// stridedTwin copies a view to memory without gaps or, for store, back: in one body, as a call for each element
// would take longer than the element.
func stridedTwin[T kernels.Element](store bool) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		x, y := c.Reals(0), c.Reals(1)
		dims := [6]int{0, c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7)}
		strides := [6]int{c.Int(8), c.Int(9), c.Int(10), c.Int(11), c.Int(12), c.Int(13)}
		var index [6]int
		at := 0
		for i := range c.Int(2) {
			if store {
				y[at] = x[i]
			} else {
				y[i] = x[at]
			}
			for d := 5; d >= 0; d-- {
				index[d]++
				at += strides[d]
				if d == 0 || index[d] < dims[d] {
					break
				}
				at -= index[d] * strides[d]
				index[d] = 0
			}
		}
	}
}

func gatherRowsTwin[T kernels.Element](c kernels.Call[T]) {
	x, at, y, cols, rows := c.Reals(0), c.Ints(1), c.Reals(2), c.Int(4), c.Int(5)
	for i, r := range at {
		to := y[i*cols : (i+1)*cols]
		if r < 0 || int(r) >= rows {
			clear(to)
			continue
		}
		copy(to, x[int(r)*cols:])
	}
}

func scatterAddRowsTwin[T kernels.Real](c kernels.Call[T]) {
	g, at, y, cols, rows := c.Reals(0), c.Ints(1), c.Reals(2), c.Int(4), c.Int(5)
	for i, r := range at {
		if r < 0 || int(r) >= rows {
			continue
		}
		for k := range cols {
			y[int(r)*cols+k] += g[i*cols+k]
		}
	}
}
