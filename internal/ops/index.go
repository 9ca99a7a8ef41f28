package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
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
	// GatherAxis is Y [outer, m, inner] of X [outer, n, inner], of any type, with the indices I
	// along the middle axis: [m] or, if each, [outer, m, inner]: X, I, Y, outer, n, m, inner, each.
	GatherAxis = kernels.Typed(&kernels.Kernel{Name: "k_gather_axis", File: "index.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			outer, columns := int(a[3].Int), int(a[5].Int)*int(a[6].Int)
			if l.CPU {
				const chunk = 4096 // elements, and a work-item copies no fewer
				perRow := intmath.CeilDiv(columns, chunk)
				return kernels.Groups(perRow, min(outer, intmath.CeilDiv(outer*columns, chunk*max(perRow, 1))))
			}
			return kernels.Grid2D(columns, outer, l)
		},
		Params: []kernels.Param{in("X"), inInts("I"), out("Y"), intArg("outer"), intArg("n"), intArg("m"), intArg("inner"), intArg("each")},
		Host:   kernels.HostKernel{F32: gatherAxisHost[float32], F64: gatherAxisHost[float64]}, Semantics: gatherAxisSemantics}, "index.cl", "k_gather_axis",
		kernels.ElementHostKernel(gatherAxisHost[int32]), kernels.ElementHostKernel(gatherAxisHost[uint8]),
		kernels.ElementHostKernel(gatherAxisHost[uint16]), kernels.ElementHostKernel(gatherAxisHost[int64]))
	// ScatterAxis brings G [outer, m, inner] to Y [outer, n, inner], of floats or integers, in the
	// order of the middle axis, along which I has indices: [m] or, if each, [outer, m, inner]: G,
	// I, Y, outer, n, m, inner, how, each.
	ScatterAxis = kernels.Typed(&kernels.Kernel{Name: "k_scatter_axis", File: "index.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			outer, m, inner := int(a[3].Int), int(a[5].Int), int(a[6].Int)
			if l.CPU {
				const chunk, wide = 4096, 16 // elements of a work-item, and columns, at least
				perRow := min(intmath.CeilDiv(inner, wide), intmath.CeilDiv(4*l.Units, max(outer, 1)))
				return kernels.Groups(perRow, min(outer, intmath.CeilDiv(outer*m*inner, chunk)))
			}
			return kernels.Grid2D(inner, outer, l)
		},
		Params: []kernels.Param{in("G"), inInts("I"), inOut("Y"), intArg("outer"), intArg("n"), intArg("m"), intArg("inner"), intArg("how"), intArg("each")},
		Host:   kernels.HostKernel{F32: scatterAxisHost[float32], F64: scatterAxisHost[float64]}, Semantics: scatterAxisSemantics}, "index.cl",
		"k_scatter_axis",
		kernels.ElementHostKernel(scatterAxisHost[int32]), kernels.ElementHostKernel(scatterAxisHost[uint8]),
		kernels.HostKernel{}, kernels.ElementHostKernel(scatterAxisHost[int64]))
	// ScatterRows brings the rows of G [n, cols] to the rows I [n] of Y [rows, cols], of floats or
	// integers, in their order: G, I, Y, n, cols, rows, how. Every work-item reads all indices: it
	// is for CPUs, and for few rows.
	ScatterRows = kernels.Typed(&kernels.Kernel{Name: "k_scatter_rows", File: "index.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			cols, rows := int(a[4].Int), int(a[5].Int)
			if !l.CPU {
				return kernels.Grid1D(cols, l)
			}
			const wide = 64 // columns of a work-item
			blocks := intmath.CeilDiv(cols, wide)
			// All units have some of the rows, and no more work-items read all indices than that takes.
			return kernels.Groups(blocks, min(rows, intmath.CeilDiv(l.Units, max(blocks, 1))))
		},
		Params:    []kernels.Param{in("G"), inInts("I"), inOut("Y"), intArg("n"), intArg("cols"), intArg("rows"), intArg("how")},
		Host:      kernels.HostKernel{F32: scatterRowsHost[float32], F64: scatterRowsHost[float64]},
		Semantics: scatterSemantics}, "index.cl", "k_scatter_int_rows",
		kernels.ElementHostKernel(scatterRowsHost[int32]), kernels.ElementHostKernel(scatterRowsHost[uint8]),
		kernels.HostKernel{}, kernels.ElementHostKernel(scatterRowsHost[int64]))
)

func gatherAxisHost[T kernels.Element](c kernels.HostArgs[T]) {
	x, at, y := c.Floats(0), c.Ints(1), c.Floats(2)
	outer, n, m, inner, each := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7) != 0
	columns := m * inner
	if columns == 0 {
		return
	}
	c.Parallel(outer*columns, 1, func(lo, hi int) {
		for lo < hi {
			o, p := lo/columns, lo%columns
			from, to := x[o*n*inner:][:n*inner], y[lo:min(hi, (o+1)*columns)]
			lo += len(to)
			indices := at
			if each {
				indices = at[o*columns:]
			}
			if inner == 1 {
				for k, r := range indices[p:][:len(to)] {
					var v T
					if uint(r) < uint(len(from)) {
						v = from[r]
					}
					to[k] = v
				}
				continue
			}
			for j, i := p/inner, p%inner; len(to) > 0; j, i = j+1, 0 {
				row := to[:min(inner-i, len(to))]
				to = to[len(row):]
				if each {
					for k, r := range indices[j*inner+i:][:len(row)] {
						var v T
						if r >= 0 && int(r) < n {
							v = from[int(r)*inner+i+k]
						}
						row[k] = v
					}
					continue
				}
				if r := int(indices[j]); r >= 0 && r < n {
					copy(row, from[r*inner+i:])
				} else {
					clear(row)
				}
			}
		}
	})
}

// number is what a scatter computes with.
type number interface {
	float32 | float64 | int32 | uint8 | int64
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

func scatterAxisHost[T number](c kernels.HostArgs[T]) {
	g, at, y := c.Floats(0), c.Ints(1), c.Floats(2)
	outer, n, m, inner, how, each := c.Int(3), c.Int(4), c.Int(5), c.Int(6), Scatter(c.Int(7)), c.Int(8) != 0
	set := setOf(c)
	c.Parallel(outer*inner, m, func(lo, hi int) {
		for lo < hi {
			o, i := lo/inner, lo%inner
			width := min(hi-lo, inner-i)
			lo += width
			to := y[o*n*inner:][:n*inner]
			if inner == 1 {
				indices := at
				if each {
					indices = at[o*m:]
				}
				combineAt(to, g[o*m:][:m], indices[:m], how)
				continue
			}
			for j := range m {
				from := g[(o*m+j)*inner+i:][:width]
				if !each {
					if r := int(at[j]); r >= 0 && r < n {
						combineRow(set, to[r*inner+i:][:width], from, how)
					}
					continue
				}
				for k, r := range at[(o*m+j)*inner+i:][:width] {
					if r >= 0 && int(r) < n {
						p := &to[int(r)*inner+i+k]
						*p = combined(*p, from[k], how)
					}
				}
			}
		}
	})
}

// combineAt brings each element of from to that of to which its index names, if there is one.
func combineAt[T number](to, from []T, at []int32, how Scatter) {
	from = from[:len(at)]
	switch how {
	case ScatterSet:
		for k, r := range at {
			if uint(r) < uint(len(to)) {
				to[r] = from[k]
			}
		}
	case ScatterAdd:
		for k, r := range at {
			if uint(r) < uint(len(to)) {
				to[r] += from[k]
			}
		}
	default:
		for k, r := range at {
			if uint(r) < uint(len(to)) {
				to[r] = combined(to[r], from[k], how)
			}
		}
	}
}

// combineRow brings each element of from to that of to.
func combineRow[T number](set *vec.Set, to, from []T, how Scatter) {
	switch how {
	case ScatterSet:
		copy(to, from)
	case ScatterAdd:
		if sums, ok := any(to).([]float32); ok && set != nil {
			more := any(from).([]float32)
			vec.On[float32](set).Map(vec.Add, sums, sums, more, sums, sums)
			return
		}
		for k, v := range from {
			to[k] += v
		}
	default:
		for k, v := range from {
			to[k] = combined(to[k], v, how)
		}
	}
}

func scatterRowsHost[T number](c kernels.HostArgs[T]) {
	g, at, y, cols, rows, how := c.Floats(0), c.Ints(1), c.Floats(2), c.Int(4), c.Int(5), Scatter(c.Int(6))
	set := setOf(c)
	c.Parallel(rows, len(g)/max(rows, 1), func(lo, hi int) {
		for i, r := range at {
			if int(r) < lo || int(r) >= hi {
				continue
			}
			if cols == 1 {
				y[r] = combined(y[r], g[i], how)
				continue
			}
			combineRow(set, y[int(r)*cols:][:cols], g[i*cols:][:cols], how)
		}
	})
}
