package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// Scatter says what an element becomes when another comes to it.
type Scatter int

// The ways, as combine.cl has them. A NaN is the least and the greatest.
const (
	ScatterSet Scatter = iota // the other
	ScatterAdd                // their sum
	ScatterMul                // their product
	ScatterMin                // the lesser
	ScatterMax                // the greater
)

// Kernels of index.cl. An index that is none is passed over, or gives 0.
var (
	// GatherAxis is Y [outer, m, inner] of X [outer, n, inner], of any type, with the indices I [outer, m, inner] along the
	// middle axis: X, I, Y, outer, n, m, inner.
	GatherAxis = kernels.Typed(&kernels.Kernel{Name: "k_gather_axis", File: "index.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[5].Int)*int(a[6].Int), int(a[3].Int), l)
		},
		Params: []kernels.Param{in("X"), inInts("I"), out("Y"), intArg("outer"), intArg("n"), intArg("m"), intArg("inner")},
		Twin:   kernels.Twin{F32: gatherAxisTwin[float32], F64: gatherAxisTwin[float64]}}, "index.cl", "k_gather_axis",
		kernels.ElementTwin(gatherAxisTwin[int32]), kernels.ElementTwin(gatherAxisTwin[uint8]), kernels.ElementTwin(gatherAxisTwin[float16.Float16]))
	// ScatterAxis brings G [outer, m, inner] to Y [outer, n, inner], of reals or integers, in the order of the middle axis,
	// along which I has indices: G, I, Y, outer, n, m, inner, how.
	ScatterAxis = kernels.Typed(&kernels.Kernel{Name: "k_scatter_axis", File: "index.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[6].Int), int(a[3].Int), l)
		},
		Params: []kernels.Param{in("G"), inInts("I"), inOut("Y"), intArg("outer"), intArg("n"), intArg("m"), intArg("inner"), intArg("how")},
		Twin:   kernels.Twin{F32: scatterAxisTwin[float32], F64: scatterAxisTwin[float64]}}, "index.cl", "k_scatter_axis",
		kernels.ElementTwin(scatterAxisTwin[int32]), kernels.ElementTwin(scatterAxisTwin[uint8]), kernels.Twin{})
	// ScatterRows brings the rows of G [n, cols] to the rows I [n] of Y [rows, cols], of reals or integers, in their order:
	// G, I, Y, n, cols, rows, how. Every work-item reads all indices: it is for CPUs, and for few rows.
	ScatterRows = opaqueForms(kernels.Typed(&kernels.Kernel{Name: "k_scatter_rows", File: "index.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			cols, rows := int(a[4].Int), int(a[5].Int)
			if !l.CPU {
				return kernels.Line(cols, l)
			}
			const wide = 64 // columns of a work-item
			blocks := intmath.CeilDiv(cols, wide)
			return kernels.Groups(blocks, min(rows, intmath.CeilDiv(4*l.Units, max(blocks, 1)))) // all units have some of the rows
		},
		Params: []kernels.Param{in("G"), inInts("I"), inOut("Y"), intArg("n"), intArg("cols"), intArg("rows"), intArg("how")},
		Twin:   kernels.Twin{F32: scatterRowsTwin[float32], F64: scatterRowsTwin[float64]}, Describe: describeScatter}, "index.cl", "k_scatter_int_rows",
		kernels.ElementTwin(scatterRowsTwin[int32]), kernels.ElementTwin(scatterRowsTwin[uint8]), kernels.Twin{}))
)

// opaqueForms takes the description from the forms of k for integers.
func opaqueForms(k *kernels.Kernel) *kernels.Kernel {
	k.Of(kernels.Int32).Describe, k.Of(kernels.Uint8).Describe = nil, nil
	return k
}

func gatherAxisTwin[T kernels.Element](c kernels.Call[T]) {
	x, at, y := c.Reals(0), c.Ints(1), c.Reals(2)
	outer, n, m, inner := c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	c.Parallel(outer*m, inner, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			o := row / m
			to := y[row*inner : (row+1)*inner]
			for i, r := range at[row*inner : (row+1)*inner] {
				to[i] = 0
				if r >= 0 && int(r) < n {
					to[i] = x[(o*n+int(r))*inner+i]
				}
			}
		}
	})
}

// number is what a scatter computes with.
type number interface {
	float32 | float64 | int32 | uint8
}

// combined returns what y becomes when g comes to it.
func combined[T number](y, g T, how Scatter) T {
	switch how {
	case ScatterAdd:
		return y + g
	case ScatterMul:
		return y * g
	case ScatterMin:
		if y != y || y < g {
			return y
		}
	case ScatterMax:
		if y != y || y > g {
			return y
		}
	}
	return g
}

func scatterAxisTwin[T number](c kernels.Call[T]) {
	g, at, y := c.Reals(0), c.Ints(1), c.Reals(2)
	outer, n, m, inner, how := c.Int(3), c.Int(4), c.Int(5), c.Int(6), Scatter(c.Int(7))
	c.Parallel(outer*inner, m, func(lo, hi int) {
		for line := lo; line < hi; line++ {
			o, i := line/inner, line%inner
			for j := range m {
				from := (o*m+j)*inner + i
				if r := int(at[from]); r >= 0 && r < n {
					to := (o*n+r)*inner + i
					y[to] = combined(y[to], g[from], how)
				}
			}
		}
	})
}

func scatterRowsTwin[T number](c kernels.Call[T]) {
	g, at, y, cols, rows, how := c.Reals(0), c.Ints(1), c.Reals(2), c.Int(4), c.Int(5), Scatter(c.Int(6))
	c.Parallel(rows, len(g)/max(rows, 1), func(lo, hi int) {
		for i, r := range at {
			if int(r) < lo || int(r) >= hi {
				continue
			}
			to := y[int(r)*cols:][:cols]
			from := g[i*cols:][:cols]
			if how == ScatterAdd {
				for k, v := range from {
					to[k] += v
				}
				continue
			}
			for k, v := range from {
				to[k] = combined(to[k], v, how)
			}
		}
	})
}
