package ops_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// TestColumnsInVectors: softmax along columns, and the sums of norms, are in vectors what
// they are in plain loops, with NaN and infinities among the elements, far from 0, and have the
// same bits on any number of cores.
func TestColumnsInVectors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type of struct {
		k     *kernels.Kernel
		build func(o *kernels.Operands, outer, n, inner int)
	}
	softmax := func(k *kernels.Kernel) of {
		return of{k, func(o *kernels.Operands, outer, n, inner int) {
			o.In(outer*n*inner, -9, 9).Out(outer*n*inner).Int(outer, n, inner)
		}}
	}
	slope := func(k *kernels.Kernel, low, high float64) of {
		return of{k, func(o *kernels.Operands, outer, n, inner int) {
			o.In(outer*n*inner, low, high).In(outer*n*inner, -1, 1).Out(outer*n*inner).Int(outer, n, inner)
		}}
	}
	sums := of{ops.NormSums.Kernel(), func(o *kernels.Operands, outer, n, inner int) {
		results := outer * inner * lower.Parts(n, (n+1)/2)
		o.In(outer*n*inner, -1, 1).In(outer*n*inner, -1, 1).In(outer*inner, -1, 1).In(outer*inner, 1, 2)
		o.Out(results).Out(results).Int(outer, n, inner, (n+1)/2)
	}}
	cases := []of{softmax(ops.Softmax.Kernel()), softmax(ops.LogSoftmax.Kernel()),
		slope(ops.Softmax.Gradient(1, false).Kernel(), 0, 1), slope(ops.LogSoftmax.Gradient(1, false).Kernel(), -2, 0),
		sums}
	for i, c := range cases {
		for _, s := range [][3]int{{1, 1, 16}, {2, 3, 17}, {3, 70, 33}, {1, 200, 1025}, {5, 2, 4099}, {1, 9000, 20}} {
			for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
				for _, special := range []bool{false, true} {
					run := func(vectors bool, cores int) []kernels.Arg {
						runtime.GOMAXPROCS(cores)
						o := kernels.NewOperands(float, 5, 6)
						c.build(o, s[0], s[1], s[2])
						if x := o.Args[0].Buf.(*kernels.HostBuffer); special {
							x.Set(o.Args[0].Off, math.NaN())
							x.Set(o.Args[0].Off+s[2]/2, math.Inf(1))
							x.Set(o.Args[0].Off+s[2]-1, math.Inf(-1))
						}
						if vectors {
							c.k.RunVectors(float, o.Args)
						} else {
							c.k.Run(float, o.Args)
						}
						return o.Args
					}
					plain, one, many := run(false, 1), run(true, 1), run(true, 5)
					what := fmt.Sprint(i, ": ", c.k.Name, " of ", s, " in ", float, ", special ", special)
					eps, _ := float.Epsilon()
					for p, param := range c.k.Params {
						if plain[p].Kind != kernels.ArgBuffer || !param.Mode.Written() {
							continue
						}
						size := 1.0
						for j := range plain[p].N {
							if v := math.Abs(plain[p].At(j)); v-v == 0 {
								size = max(size, v)
							}
						}
						for j := range plain[p].N {
							want, got, again := plain[p].At(j), one[p].At(j), many[p].At(j)
							if math.Float64bits(got) != math.Float64bits(again) && !(got != got && again != again) {
								t.Fatalf("%s: %s[%d] is %v on a core, %v on five", what, param.Name, j, got, again)
							}
							near := math.Abs(got-want) <= eps*size*(64+float64(s[1])/8)
							if !(near || got == want || got-got != 0 && want-want != 0) {
								t.Fatalf("%s: %s[%d] is %v, in plain loops %v", what, param.Name, j, got, want)
							}
						}
					}
				}
			}
		}
	}
}
