package ops

import (
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// poolSemantics says what a kernel of pooling computes: see [PoolKernel] for its arguments.
func poolSemantics(kind PoolKernel) func(args) operations {
	return func(in args) operations {
		from := 2
		if kind == MaxPool || kind == MaxPoolGrad {
			from = 3
		}
		s := poolShapeOf(in, from)
		first := firstAxis(func(a int) bool {
			return s.Size[a] == 1 && s.OutSize[a] == 1 && (s.Adaptive || s.Kernel[a] == 1 && s.Stride[a] == 1 && s.Pad[a] == 0)
		})
		spec := operation.PoolSpec{Function: fn.Max, Outer: s.Outer, Adaptive: s.Adaptive,
			Windows: windowsOf(first, &s.Size, &s.OutSize, &s.Kernel, &s.Stride, &s.Dilation, &s.Pad)}
		if kind >= AvgPool {
			spec.Function = fn.Add
			spec.CountPadding, spec.Divisor = in[from+poolCount].Int != 0, int(in[from+poolCount+1].Int)
		}
		x, y := rowMajor(spec.Inputs()), rowMajor(spec.Outputs())
		switch kind {
		case MaxPool:
			p := &operation.Pool{PoolSpec: spec, X: view(in, 0, 0, x...), Y: view(in, 1, 0, y...)}
			if in[from+poolCount].Int != 0 {
				p.Index = view(in, 2, 0, y...)
			}
			return operations{p}
		case AvgPool:
			return operations{&operation.Pool{PoolSpec: spec, X: view(in, 0, 0, x...), Y: view(in, 1, 0, y...)}}
		case MaxPoolGrad:
			return operations{&operation.PoolGrad{PoolSpec: spec, G: view(in, 0, 0, y...), Index: view(in, 1, 0, y...),
				D: view(in, 2, 0, x...)}}
		}
		return operations{&operation.PoolGrad{PoolSpec: spec, G: view(in, 0, 0, y...), D: view(in, 1, 0, x...)}}
	}
}
