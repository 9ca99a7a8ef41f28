package kernels

import "github.com/clgrad/clgrad/internal/par"

// LinearGrad is the gradient of a layer Y = f(X·W + b) before its matrix products: D = f'·G, and the sums of
// the columns of D over runs of its rows. G, Y, D [rows, cols], P [⌈rows/run⌉, cols], rows, cols, run,
// act (an [Activation]), slope.
var LinearGrad = &Kernel{Name: "k_linear_grad", File: "linear_cpu.cl", GPU: "linear_gpu.cl",
	Params: []Param{{"G", In}, {"Y", In}, {"D", Out}, {"P", Out}, {"rows", IntArg}, {"cols", IntArg}, {"run", IntArg},
		{"act", IntArg}, {"slope", RealArg}},
	Grid: func(a []Arg, l Limits) Grid {
		cols, runs := int(a[5].Int), ceilDiv(int(a[4].Int), int(a[6].Int))
		if l.CPU {
			return groups(ceilDiv(cols, 16), runs)
		}
		return plane(cols, runs, l)
	},
	Twin: Twin{linearGradTwin[float32], linearGradTwin[float64]},
	Tol: Tolerance{ULP: 4, Rel: 4, Scale: func(a []Arg) float64 {
		return float64(a[6].Int) * MaxAbs(a, 0) * max(1, a[8].Real)
	}}}

// LinearGradRun chooses the length of the runs: short enough that they fill the device.
func LinearGradRun(rows int, l Limits) int {
	runs := 8 * l.Units
	if l.CPU {
		runs = 2 * l.Units
	}
	return max(16, ceilDiv(rows, runs))
}

func linearGradTwin[T Real](c Call[T]) {
	g, y, d, p, rows, cols, run := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), c.Int(4), c.Int(5), c.Int(6)
	act, slope := Activation(c.Int(7)), c.Real(8)
	par.For(ceilDiv(rows, run), max(1, par.Grain/max(run*cols, 1)), func(lo, hi int) {
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
