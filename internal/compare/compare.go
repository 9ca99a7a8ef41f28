// Package compare compares what a kernel wrote on a device with what its host kernel wrote.
package compare

import (
	"math"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// Margin is how far the results of one launch may lie from its host kernel's.
type Margin struct {
	tol   kernels.Tolerance
	scale float64                    // NaN: the largest finite magnitude of what is wanted
	bound func(param, i int) float64 // of an element, or nil
	parts []Margin                   // of the parameters of a chain, each with those of its launch, counted from its first
	first []int
}

// MarginOf returns the margin of a launch with args as host memory, before the host kernel has run. Reals
// are of type float.
func MarginOf(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) Margin {
	m := Margin{tol: k.Tol, scale: math.NaN()}
	if fused.Of(k).Kernels != nil {
		fused.EachLaunch(k, args, func(part *kernels.Kernel, args []kernels.Arg, first int) {
			of := MarginOf(part, float, args)
			for range part.Params {
				m.parts, m.first = append(m.parts, of), append(m.first, first)
			}
		})
		return m
	}
	if k.Tol.Scale != nil {
		m.scale = k.Tol.Scale(args)
	}
	if k.Tol.Bound != nil {
		m.bound = k.Tol.Bound(float, args)
	}
	return m
}

// Differs returns the index of the first element of a parameter, of which got was written, that is
// too far from want, or −1.
func (m Margin) Differs(param int, got, want *kernels.HostBuffer) int {
	if param < len(m.parts) {
		return m.parts[param].Differs(param-m.first[param], got, want)
	}
	scale := m.scale
	if math.IsNaN(scale) {
		scale = 0
		for i := range want.Len() {
			if v := math.Abs(want.At(i)); v > scale && !math.IsInf(v, 0) {
				scale = v
			}
		}
	}
	for i := range want.Len() {
		g, w := got.At(i), want.At(i)
		if g == w || m.tol.Accepts(want.DType(), g, w, scale) {
			continue
		}
		if m.bound == nil {
			return i
		}
		if b := m.bound(param, i); !math.IsInf(b, 1) && !(math.Abs(g-w) <= b) {
			return i
		}
	}
	return -1
}
