package ops

import (
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// FMAChains measures the peak of a device's arithmetic: Y[i] is the sum of 128 chains x = a·x + b
// of `steps` fused multiply-adds, chain j starting from j: 256·steps operations for each element.
// Y, n, steps, a, b.
var FMAChains = selftest.Elementwise(&kernels.Kernel{Name: "k_fma_chains", File: "peak.cl",
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		if l.CPU { // a work-item is vectors already
			return kernels.Grid{Dims: 1, Global: [3]int{a[0].N}, Local: [3]int{1}}
		}
		return kernels.Grid1D(a[0].N, l)
	},
	Params: []kernels.Param{out("Y"), intArg("n"), intArg("steps"), floatArg("a"), floatArg("b")},
	Host:   kernels.HostKernel{F32: fmaChainsHost[float32], F64: fmaChainsHost[float64]},
	Tol:    kernels.Tolerance{ULP: 256}}, func(ops []kernels.Operand) {
	const steps = 20
	n := min(ops[0].N, selftest.Products/(256*steps))
	ops[0].N = n
	selftest.SetNumbers(ops[1:], float64(n), min(ops[2].Number, steps), 0.999, 0.5)
})

func fmaChainsHost[T kernels.Float](c kernels.HostArgs[T]) {
	y, steps, a, b := c.Floats(0), c.Int(2), c.Float(3), c.Float(4)
	parallel.For(len(y), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var sum T
			for j := range 128 {
				x := T(j)
				for range steps {
					x = x*a + b
				}
				sum += x
			}
			y[i] = sum
		}
	})
}
