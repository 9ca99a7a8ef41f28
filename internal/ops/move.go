package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// Kernels of move.cl. Those that have forms for other elements than floats, which
// [kernels.Kernel.Of] returns, say so.
var (
	// Fill is Y[i] = value: Y, n, value. Of other elements, the value is an int: of floats of 16
	// bits, their bits.
	Fill = selftest.Elementwise(kernels.Typed(&kernels.Kernel{Name: "k_fill", File: "move.cl",
		Grid:   kernels.GridPerElement(0),
		Params: []kernels.Param{out("Y"), intArg("n"), floatArg("value")},
		Host:   kernels.HostKernel{F32: fillHost[float32], F64: fillHost[float64]}, Semantics: fillSemantics}, "move.cl",
		"k_fill_int",
		kernels.ElementHostKernel(fillIntHost[int32]), kernels.ElementHostKernel(fillIntHost[uint8]),
		kernels.ElementHostKernel(fillIntHost[uint16]), kernels.ElementHostKernel(fillIntHost[int64])), nil)
	// Zero is Y[i] = 0, of any element type: Y, n.
	Zero = selftest.Elementwise(kernels.Typed(&kernels.Kernel{Name: "k_zero", File: "move.cl",
		Grid:   kernels.GridPerElement(0),
		Params: []kernels.Param{out("Y"), intArg("n")},
		Host:   kernels.HostKernel{F32: zeroHost[float32], F64: zeroHost[float64]}, Semantics: zeroSemantics}, "move.cl",
		"k_zero",
		kernels.ElementHostKernel(zeroHost[int32]), kernels.ElementHostKernel(zeroHost[uint8]),
		kernels.ElementHostKernel(zeroHost[uint16]), kernels.ElementHostKernel(zeroHost[int64])), nil)
	// GatherRows is Y[i] = X[I[i]] over rows of cols elements of any type, 0 for an index outside
	// [0, rows): X, I, Y, n, cols, rows.
	GatherRows = kernels.Typed(&kernels.Kernel{Name: "k_gather_rows", File: "move.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			n, cols := int(a[3].Int), int(a[4].Int)
			if l.CPU && cols > 0 {
				const chunk = 4096 // elements, and a work-item copies no fewer
				return kernels.Groups(1, min(n, intmath.CeilDiv(n*cols, chunk)))
			}
			return kernels.Grid2D(cols, n, l)
		},
		Params: []kernels.Param{in("X"), inInts("I"), out("Y"), intArg("n"), intArg("cols"), intArg("rows")},
		Host:   kernels.HostKernel{F32: gatherRowsHost[float32], F64: gatherRowsHost[float64]}, Semantics: gatherSemantics},
		"move.cl", "k_gather_rows",
		kernels.ElementHostKernel(gatherRowsHost[int32]), kernels.ElementHostKernel(gatherRowsHost[uint8]),
		kernels.ElementHostKernel(gatherRowsHost[uint16]), kernels.ElementHostKernel(gatherRowsHost[int64]))
)

func fillIntHost[T kernels.Element](c kernels.HostArgs[T]) {
	vec.Fill(c.Floats(0), T(c.Long(2)))
}

func fillHost[T kernels.Float](c kernels.HostArgs[T]) {
	vec.Fill(c.Floats(0), c.Float(2))
}

func zeroHost[T kernels.Element](c kernels.HostArgs[T]) { clear(c.Floats(0)) }

func gatherRowsHost[T kernels.Element](c kernels.HostArgs[T]) {
	x, at, y, cols, rows := c.Floats(0), c.Ints(1), c.Floats(2), c.Int(4), c.Int(5)
	c.Parallel(len(at), cols, func(lo, hi int) {
		if cols == 1 {
			for i, r := range at[lo:hi] {
				var v T
				if r >= 0 && int(r) < rows {
					v = x[r]
				}
				y[lo+i] = v
			}
			return
		}
		for i, r := range at[lo:hi] {
			to := y[(lo+i)*cols:][:cols]
			if r < 0 || int(r) >= rows {
				clear(to)
				continue
			}
			copy(to, x[int(r)*cols:])
		}
	})
}
