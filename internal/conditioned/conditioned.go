// Package conditioned says how far results of a kernel may be off by the condition of its operands, where rounding is
// amplified: of factorisations, and of layers that feed back.
package conditioned

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// Tolerance returns how far results of k may be off: a multiple of what operands change them that are off by a unit in the
// last place, as the host kernel computes it in float64.
func Tolerance(k *kernels.Kernel) kernels.Tolerance {
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

// inDouble returns the buffers of a launch that the host kernel did in float64, each read element changed by
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
