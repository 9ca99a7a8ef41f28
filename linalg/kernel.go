package linalg

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// Kernels returns the kernels that the package launches, for tests and for a person who doubts a
// device.
func Kernels() []*kernels.Kernel {
	return []*kernels.Kernel{cholesky, lu, luSolve, solveTriangular, qr, qrQ, svd, eigh}
}

// groups launches a work-group for each of the count matrices: of one work-item on a CPU.
func groups(count int, l kernels.Target) kernels.Grid {
	lanes := 1
	if !l.CPU {
		lanes = min(64, l.MaxGroup)
	}
	return kernels.Grid{Dims: 1, Global: [3]int{count * lanes}, Local: [3]int{lanes}}
}

// perMatrix launches a work-group for each matrix of n rows and n columns of an argument, where n is
// an argument, too.
func perMatrix(matrices, n int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return groups(a[matrices].N/max(1, int(a[n].Int*a[n].Int)), l)
	}
}

// conditioned returns how far results may be off by the condition of the operands: a multiple of what
// perturbations by a unit in the last place change, computed by the twin in float64.
func conditioned(k *kernels.Kernel) kernels.Tolerance {
	return kernels.Tolerance{ULP: 4, Bound: func(typ kernels.DType, args []kernels.Arg) func(param, i int) float64 {
		eps, least := typ.Epsilon()
		plain := inDouble(k, args, 0, 0)
		off := make([]float64, len(args))
		for seed := range uint32(3) {
			other := inDouble(k, args, eps, seed+1)
			for p := range args {
				if !k.Params[p].Mode.Written() {
					continue
				}
				for i := range args[p].N {
					x, y := plain[p].At(i), other[p].At(i)
					if d := math.Abs(x - y); d > off[p] {
						off[p] = d
					}
					if d := eps * math.Abs(x); d > off[p] && !math.IsInf(d, 0) {
						off[p] = d
					}
				}
			}
		}
		return func(p, _ int) float64 { return 256*off[p] + least }
	}}
}

// inDouble returns the buffers of a launch that the twin did in float64, each read element changed by
// a part of about eps.
func inDouble(k *kernels.Kernel, args []kernels.Arg, eps float64, seed uint32) []*kernels.HostBuffer {
	doubles, buffers := make([]kernels.Arg, len(args)), make([]*kernels.HostBuffer, len(args))
	for p, a := range args {
		if doubles[p] = a; a.Buf == nil {
			continue
		}
		from := a.Buf.(*kernels.HostBuffer)
		typ := from.DType()
		if !typ.Integer() {
			typ = kernels.Float64
		}
		buffers[p] = kernels.NewHostBuffer(typ, a.N)
		for i := range a.N {
			v := from.At(a.Off + i)
			if typ == kernels.Float64 && k.Params[p].Mode == kernels.In {
				seed = seed*1664525 + 1013904223
				v *= 1 + eps*(float64(seed>>8)*0x1p-23-1)
			}
			buffers[p].Set(i, v)
		}
		doubles[p] = kernels.BufferArg(buffers[p], 0, a.N)
	}
	k.Run(kernels.Float64, doubles)
	return buffers
}

// sizes are those of matrices to test a kernel with; few leaves out the large ones.
func sizes(few bool) []int {
	if few {
		return []int{1, 3, 8}
	}
	return []int{1, 2, 3, 5, 8, 17, 33}
}
