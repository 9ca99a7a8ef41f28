package kernels

import "github.com/x448/float16"

// Kernels of move.cl, which write or move elements without computing on them. Those that have an [Kernel.Of] for
// other elements than reals say so.
var (
	// Fill is Y[i] = value: Y, n, value. Of other elements, the value is an int: of float16, its bits.
	Fill = Typed(&Kernel{Name: "k_fill", File: "move.cl", Grid: perElement(0),
		Params: []Param{{"Y", Out}, {"n", IntArg}, {"value", RealArg}},
		Twin:   Twin{fillTwin[float32], fillTwin[float64]}}, "move.cl", "k_fill_int",
		ElementTwin(fillIntTwin[int32]), ElementTwin(fillIntTwin[uint8]), ElementTwin(fillIntTwin[float16.Float16]))
	// Zero is Y[i] = 0, of any element type: Y, n.
	Zero = Typed(&Kernel{Name: "k_zero", File: "move.cl", Grid: perElement(0),
		Params: []Param{{"Y", Out}, {"n", IntArg}},
		Twin:   Twin{zeroTwin[float32], zeroTwin[float64]}}, "move.cl", "k_zero",
		ElementTwin(zeroTwin[int32]), ElementTwin(zeroTwin[uint8]), ElementTwin(zeroTwin[float16.Float16]))
	// Copy is Y[i] = X[i], of any element type: X, Y, n.
	Copy = Typed(&Kernel{Name: "k_copy", File: "move.cl", Grid: perElement(1),
		Params: []Param{{"X", In}, {"Y", Out}, {"n", IntArg}},
		Twin:   Twin{copyTwin[float32], copyTwin[float64]}}, "move.cl", "k_copy",
		ElementTwin(copyTwin[int32]), ElementTwin(copyTwin[uint8]), ElementTwin(copyTwin[float16.Float16]))
	// BroadcastRows repeats the row X of cols elements, of any type, rows times: X, Y, rows, cols.
	BroadcastRows = Typed(&Kernel{Name: "k_broadcast_rows", File: "move.cl",
		Grid:   func(a []Arg, l Limits) Grid { return plane(int(a[3].Int), int(a[2].Int), l) },
		Params: []Param{{"X", In}, {"Y", Out}, {"rows", IntArg}, {"cols", IntArg}},
		Twin:   Twin{broadcastRowsTwin[float32], broadcastRowsTwin[float64]}}, "move.cl", "k_broadcast_rows",
		ElementTwin(broadcastRowsTwin[int32]), ElementTwin(broadcastRowsTwin[uint8]), ElementTwin(broadcastRowsTwin[float16.Float16]))
	// Transpose makes Y [cols, rows] of X [rows, cols], of any element type: X, Y, rows, cols.
	Transpose = Typed(&Kernel{Name: "k_transpose", File: "move.cl",
		Grid: func(a []Arg, _ Limits) Grid {
			const tile = 16
			return Grid{Dims: 2, Global: [3]int{roundUp(int(a[3].Int), tile), roundUp(int(a[2].Int), tile)}, Local: [3]int{tile, tile}}
		},
		Params: []Param{{"X", In}, {"Y", Out}, {"rows", IntArg}, {"cols", IntArg}},
		Twin:   Twin{transposeTwin[float32], transposeTwin[float64]}}, "move.cl", "k_transpose",
		ElementTwin(transposeTwin[int32]), ElementTwin(transposeTwin[uint8]), ElementTwin(transposeTwin[float16.Float16]))
	// StridedCopy makes a view of X, of any element type, contiguous in Y: X, Y, n, five dimensions (all but
	// the leading one), six strides. X's argument covers every element that the view reaches.
	StridedCopy = Typed(&Kernel{Name: "k_strided_copy", File: "move.cl", Grid: perElement(1),
		Params: []Param{{"X", In}, {"Y", Out}, {"n", IntArg},
			{"d1", IntArg}, {"d2", IntArg}, {"d3", IntArg}, {"d4", IntArg}, {"d5", IntArg},
			{"s0", IntArg}, {"s1", IntArg}, {"s2", IntArg}, {"s3", IntArg}, {"s4", IntArg}, {"s5", IntArg}},
		Twin: Twin{stridedTwin[float32](false), stridedTwin[float64](false)}}, "move.cl", "k_strided_copy",
		ElementTwin(stridedTwin[int32](false)), ElementTwin(stridedTwin[uint8](false)), ElementTwin(stridedTwin[float16.Float16](false)))
	// StridedStore writes X over a view of Y, of any element type, of which no two indices name one element: X, Y, n, and the
	// dimensions and strides as in StridedCopy. Y's argument covers every element that the view reaches.
	StridedStore = Typed(&Kernel{Name: "k_strided_store", File: "move.cl", Grid: perElement(0),
		Params: []Param{{"X", In}, {"Y", InOut}, {"n", IntArg},
			{"d1", IntArg}, {"d2", IntArg}, {"d3", IntArg}, {"d4", IntArg}, {"d5", IntArg},
			{"s0", IntArg}, {"s1", IntArg}, {"s2", IntArg}, {"s3", IntArg}, {"s4", IntArg}, {"s5", IntArg}},
		Twin: Twin{stridedTwin[float32](true), stridedTwin[float64](true)}}, "move.cl", "k_strided_store",
		ElementTwin(stridedTwin[int32](true)), ElementTwin(stridedTwin[uint8](true)), ElementTwin(stridedTwin[float16.Float16](true)))
	// GatherRows is Y[i] = X[I[i]] over rows of cols elements of any type, 0 for an index outside [0, rows):
	// X, I, Y, n, cols, rows.
	GatherRows = Typed(&Kernel{Name: "k_gather_rows", File: "move.cl",
		Grid:   func(a []Arg, l Limits) Grid { return plane(int(a[4].Int), int(a[3].Int), l) },
		Params: []Param{{"X", In}, {"I", InInts}, {"Y", Out}, {"n", IntArg}, {"cols", IntArg}, {"rows", IntArg}},
		Twin:   Twin{gatherRowsTwin[float32], gatherRowsTwin[float64]}}, "move.cl", "k_gather_rows",
		ElementTwin(gatherRowsTwin[int32]), ElementTwin(gatherRowsTwin[uint8]), ElementTwin(gatherRowsTwin[float16.Float16]))
	// ScatterAddRows is Y[I[i]] += G[i] over rows of cols elements, in the order of i, passing over an index
	// outside [0, rows): G, I, Y, n, cols, rows.
	ScatterAddRows = &Kernel{Name: "k_scatter_add_rows", File: "move.cl", Grid: perInt(4),
		Params: []Param{{"G", In}, {"I", InInts}, {"Y", InOut}, {"n", IntArg}, {"cols", IntArg}, {"rows", IntArg}},
		Twin:   Twin{scatterAddRowsTwin[float32], scatterAddRowsTwin[float64]}}
)

func fillIntTwin[T Element](c Call[T]) {
	y, v := c.Reals(0), T(c.Int(2))
	for i := range y {
		y[i] = v
	}
}

func fillTwin[T Real](c Call[T]) {
	y, v := c.Reals(0), c.Real(2)
	for i := range y {
		y[i] = v
	}
}

func zeroTwin[T Element](c Call[T]) { clear(c.Reals(0)) }

func copyTwin[T Element](c Call[T]) { copy(c.Reals(1), c.Reals(0)) }

func broadcastRowsTwin[T Element](c Call[T]) {
	x, y := c.Reals(0), c.Reals(1)
	for at := 0; at < len(y); at += len(x) {
		copy(y[at:], x)
	}
}

func transposeTwin[T Element](c Call[T]) {
	x, y, rows, cols := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3)
	for r := range rows {
		for k := range cols {
			y[k*rows+r] = x[r*cols+k]
		}
	}
}

// stridedTwin copies a view to memory without gaps or, for store, back: in one body, as a call for each element
// would take longer than the element.
func stridedTwin[T Element](store bool) func(Call[T]) {
	return func(c Call[T]) {
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

func gatherRowsTwin[T Element](c Call[T]) {
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

func scatterAddRowsTwin[T Real](c Call[T]) {
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
