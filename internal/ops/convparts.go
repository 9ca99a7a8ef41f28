package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// ConvParts sums up what the kernel of ConvShape.WeightKernel computes, and turns it to the
// gradients of the weights and of the bias: the parts [slices, groups, weights + biased, co], W
// [groups, co, weights], BIAS [groups, co] or any buffer, slices, groups, weights, co, biased.
var ConvParts = &kernels.Kernel{Name: "k_conv_parts", File: "conv_parts_cpu.cl", GPU: "conv_parts_gpu.cl",
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		slices, groups, rows, co := int(a[3].Int), int(a[4].Int), int(a[5].Int+a[7].Int), int(a[6].Int)
		if l.CPU {
			return kernels.Groups(intmath.CeilDiv(rows, 16), groups)
		}
		const most, short = 32, 4 // channels or parts of a group, parts of an item
		wide, tall := 1, 1
		for wide < co && wide < most {
			wide *= 2
		}
		// Many sums keep a GPU busy by themselves.
		sums := groups * rows * intmath.RoundUp(co, wide)
		for tall*short < slices && tall < most && 2*tall*wide <= l.MaxGroup && sums*tall < most*most*l.Units {
			tall *= 2
		}
		return kernels.Grid{Dims: 2, Global: [3]int{intmath.RoundUp(co, wide), groups * rows * tall}, Local: [3]int{wide, tall}}
	},
	Params:    []kernels.Param{in("D"), out("W"), out("BIAS"), intArg("slices"), intArg("groups"), intArg("weights"), intArg("co"), intArg("biased")},
	Semantics: convPartsOperations,
	Host:      kernels.HostKernel{F32: convPartsHost[float32], F64: convPartsHost[float64]},
	Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		return float64(a[3].Int) * kernels.MaxAbs(a, 0)
	}},
	Cases: func(few bool) []kernels.Case {
		sizes := [][4]int{{3, 1, 5, 4}, {2, 2, 17, 3}}
		if !few {
			sizes = append(sizes, [4]int{1, 1, 1, 1}, [4]int{300, 1, 25, 32}, [4]int{7, 3, 16, 16}, [4]int{9, 1, 33, 65}, [4]int{40, 2, 2, 20})
		}
		var cases []kernels.Case
		for i, n := range sizes {
			biased := 1 - i%2
			cases = append(cases, kernels.Case{Name: fmt.Sprintf("%d parts, %d groups, %d weights, %d channels, biased %d", n[0], n[1], n[2], n[3], biased),
				Build: func(o *kernels.Operands) {
					o.In(n[0]*n[1]*(n[2]+biased)*n[3], -1, 1).Out(n[1] * n[2] * n[3]).Out(n[1] * n[3] * biased).Int(n[:]...).Int(biased)
				}})
		}
		return cases
	},
}

func convPartsHost[T kernels.Float](c kernels.HostArgs[T]) {
	d, w, bias, slices, groups, weights, co := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(4),
		c.Int(5), c.Int(6)
	each := weights + c.Int(7)
	rows := groups * each
	c.Parallel(rows, slices*co, func(lo, hi int) {
		sum := make([]T, co)
		for row := lo; row < hi; row++ {
			copy(sum, d[row*co:])
			for s := 1; s < slices; s++ {
				for o, v := range d[(s*rows+row)*co:][:co] {
					sum[o] += v
				}
			}
			g, k := row/each, row%each
			if k == weights {
				copy(bias[g*co:], sum)
				continue
			}
			for o, v := range sum {
				w[(g*co+o)*weights+k] = v
			}
		}
	})
}
