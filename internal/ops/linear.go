package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// LinearGrad is the gradient of a layer Y = f(X·W + b) before its matrix products: D = f'·G, and the sums of
// the columns of D over runs of its rows. G, Y, D [rows, cols], P [⌈rows/run⌉, cols], rows, cols, run,
// act (an [Activation]), slope.
var LinearGrad = &kernels.Kernel{Name: "k_linear_grad", File: "linear_cpu.cl", GPU: "linear_gpu.cl",
	Params: []kernels.Param{in("G"), in("Y"), out("D"), out("P"), intArg("rows"), intArg("cols"), intArg("run"),
		intArg("act"), realArg("slope")},
	Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
		cols, runs := int(a[5].Int), intmath.CeilDiv(int(a[4].Int), int(a[6].Int))
		if l.CPU {
			return kernels.Groups(intmath.CeilDiv(cols, 16), runs)
		}
		return kernels.Plane(cols, runs, l)
	},
	Twin: kernels.Twin{F32: linearGradTwin[float32], F64: linearGradTwin[float64]}, Describe: describeLinearGrad,
	Tol: kernels.Tolerance{ULP: 4, Rel: 4, Scale: func(a []kernels.Arg) float64 {
		return float64(a[6].Int) * kernels.MaxAbs(a, 0) * max(1, a[8].Real)
	}}}

// LinearGradRun chooses the length of the runs: short enough that they fill the device.
func LinearGradRun(rows int, l kernels.Limits) int {
	runs := 8 * l.Units
	if l.CPU {
		runs = 2 * l.Units
	}
	return max(16, intmath.CeilDiv(rows, runs))
}

func linearGradTwin[T kernels.Real](c kernels.Call[T]) {
	g, y, d, p, rows, cols, run := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), c.Int(4), c.Int(5), c.Int(6)
	act, slope := kernels.Activation(c.Int(7)), c.Real(8)
	c.Parallel(intmath.CeilDiv(rows, run), run*cols, func(lo, hi int) {
		for z := lo; z < hi; z++ {
			sum := p[z*cols : (z+1)*cols]
			clear(sum)
			for r := z * run; r < min(rows, (z+1)*run); r++ {
				row := d[r*cols : (r+1)*cols]
				activationGrad(act, slope, y[r*cols:(r+1)*cols], g[r*cols:], row)
				for j, v := range row {
					sum[j] += v
				}
			}
		}
	})
}
