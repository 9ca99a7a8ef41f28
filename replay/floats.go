package replay

import (
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// keepApart makes the launches of a step on one float type, Float32 or Float64, opaque to rewrites: those
// of the type that fewer of them have. Formulas and joined kernels are of one float type. Floats of 16
// bits, which are computed in float32, go with neither in a step that has float64.
func keepApart(step []capture.Launch) {
	const none = kernels.Int32
	counts := map[kernels.DType]int{}
	types := make([]kernels.DType, len(step))
	for i, l := range step {
		types[i] = l.Kernel.FloatOf(l.Args, none)
		counts[types[i]]++
	}
	fewer := kernels.Float64
	if counts[kernels.Float64] > counts[kernels.Float32] {
		fewer = kernels.Float32
	}
	if counts[kernels.Float64] == 0 {
		return
	}
	for i, typ := range types {
		if typ == fewer && counts[kernels.Float32] > 0 || slices.ContainsFunc(step[i].Args, ofHalves) {
			step[i].Kernel = withoutWords(step[i].Kernel)
		}
	}
}

// ofHalves reports whether an argument is memory of floats of 16 bits.
func ofHalves(a kernels.Arg) bool { return a.Buf != nil && a.Buf.DType().Half() }

var silent sync.Map // by kernel

// withoutWords returns a kernel that computes what k does and says nothing of it.
func withoutWords(k *kernels.Kernel) *kernels.Kernel {
	if made, ok := silent.Load(k); ok {
		return made.(*kernels.Kernel)
	}
	plain := *k
	plain.Semantics, plain.Fusions = nil, fused.Fusions{Kernels: fused.Of(k).Kernels}
	made, _ := silent.LoadOrStore(k, &plain)
	return made.(*kernels.Kernel)
}
