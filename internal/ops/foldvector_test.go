package ops_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// TestFoldsInVectors: folds, extremes with their places, and moments are in vectors what they are
// in plain loops: extremes, places and counts to the bit, with ties, zeros of both signs, NaN and
// infinities among the elements. They have the same bits on any number of cores.
func TestFoldsInVectors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type of struct {
		k      *kernels.Kernel
		exact  bool
		number float64 // what it takes by value, if it does
	}
	var all []of
	for kind := range defs.FoldKind(defs.FoldKinds) {
		exact := kind >= defs.FoldMax && kind <= defs.FoldMinAbs || kind == defs.FoldCount
		all = append(all, of{ops.Fold(kind).Kernel(), exact, 2})
	}
	for _, least := range []bool{false, true} {
		all = append(all, of{ops.ExtremesOf(least).Parts.Kernel(), true, 0})
	}
	all = append(all, of{ops.Moments.Kernel(), false, 0.5})
	for i, f := range all {
		for _, s := range [][4]int{{3, 33, 1, 33}, {1, 5000, 1, 5000}, {2, 4000, 1, 1500}, {1, 1, 16, 1}, {2, 3, 17, 3}, {3, 70, 33, 32}, {1, 200, 2051, 200},
			{1, 9000, 20, 9000}} {
			outer, n, inner, chunk := s[0], s[1], s[2], s[3]
			shares := (n + chunk - 1) / chunk
			for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
				for special := range 4 {
					run := func(vectors bool, cores int) []kernels.Arg {
						runtime.GOMAXPROCS(cores)
						o := kernels.NewOperands(float, 5, 6)
						element := func(i int) float64 {
							v := float64(i*i*7919%1009) / 1009
							if f.exact { // with ties
								v = math.Trunc(8*v) - 4
							} else { // whose product is near 1
								v = 1 + (v-0.5)/100
							}
							switch at := i / inner % n; {
							case special == 1 && at >= n/2 && i%5 < 2 && at < n/2+9:
								return math.NaN()
							case special == 2 && at == n/3 && i%3 == 0:
								return math.Inf(1 - i%2*2)
							case special == 3:
								return math.Copysign(0, float64(i%3-1))
							}
							return v
						}
						sizes := []int{outer, n, inner, chunk}
						for _, p := range f.k.Params {
							switch {
							case p.Mode == kernels.IntParam:
								o.Int(sizes[0])
								sizes = sizes[1:]
							case p.Mode == kernels.FloatParam:
								o.Float(f.number)
							case p.Mode.Read():
								o.Floats(outer*n*inner, element)
							case p.Mode.Elements(float) == float:
								o.Out(outer * shares * inner)
							default:
								o.Ints(outer*shares*inner, func(int) int { return 77 })
							}
						}
						if vectors {
							f.k.RunVectors(float, o.Args)
						} else {
							f.k.Run(float, o.Args)
						}
						return o.Args
					}
					plain, one, many := run(false, 1), run(true, 1), run(true, 5)
					what := fmt.Sprint(i, ": ", f.k.Name, " ", f.k.Defines, " of ", s, " in ", float, ", special ", special)
					eps, least := float.Epsilon()
					for p, param := range f.k.Params {
						if plain[p].Kind != kernels.ArgBuffer || !param.Mode.Written() {
							continue
						}
						for j := range plain[p].N {
							want, got, again := plain[p].At(j), one[p].At(j), many[p].At(j)
							if got != again && (got == got || again == again) {
								t.Fatalf("%s: %s[%d] is %v on a core, %v on five", what, param.Name, j, got, again)
							}
							bound := eps*math.Abs(want)*(8+float64(n)) + float64(n)*least
							if f.k == ops.Moments.Kernel() {
								bound = eps * (8 + float64(n)) * 2
							}
							if f.exact {
								bound = 0
							}
							if got != want && !(math.Abs(got-want) <= bound) && (got == got || want == want) {
								t.Fatalf("%s: %s[%d] is %v, in plain loops %v", what, param.Name, j, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// TestMaximaInVectors: the maxima of windows are those of plain loops where their places are not
// asked for, with NaN and padding.
func TestMaximaInVectors(t *testing.T) {
	one := [3]int{1, 1, 1}
	for _, s := range []ops.PoolShape{
		{Outer: 3, Size: [3]int{1, 1, 70}, OutSize: [3]int{1, 1, 23}, Kernel: [3]int{1, 1, 3}, Stride: [3]int{1, 1, 3}, Dilation: one},
		{Outer: 3, Size: [3]int{1, 9, 40}, OutSize: [3]int{1, 5, 20}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 2, 2}, Dilation: one, Pad: [3]int{0, 1, 1}},
		{Outer: 2, Size: [3]int{4, 6, 33}, OutSize: [3]int{3, 4, 33}, Kernel: [3]int{2, 2, 5}, Stride: one, Dilation: [3]int{1, 2, 1}, Pad: [3]int{0, 0, 2}},
		{Outer: 2, Size: [3]int{1, 2, 31}, OutSize: [3]int{1, 2, 15}, Kernel: [3]int{1, 1, 2}, Stride: [3]int{1, 1, 2}, Dilation: one},
		{Outer: 2, Size: [3]int{1, 5, 41}, OutSize: [3]int{1, 4, 13}, Kernel: [3]int{1, 2, 4}, Stride: [3]int{1, 1, 3}, Dilation: one},
		{Outer: 2, Size: [3]int{1, 5, 41}, OutSize: [3]int{1, 3, 7}, Kernel: one, Stride: one, Dilation: one, Adaptive: true},
	} {
		for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
			run := func(vectors bool) []kernels.Arg {
				o := kernels.NewOperands(float, 5, 6)
				o.Floats(s.Outer*s.Size[0]*s.Size[1]*s.Size[2], func(i int) float64 {
					if i%29 == 7 {
						return math.NaN()
					}
					return float64(i*i*7919%1009) - 500
				}).Out(s.Outer*s.OutSize[0]*s.OutSize[1]*s.OutSize[2]).Ints(0, nil)
				o.Args = s.Args(o.Args)
				o.Int(0)
				if k := s.PoolKernel(ops.MaxPool); vectors {
					k.RunVectors(float, o.Args)
				} else {
					k.Run(float, o.Args)
				}
				return o.Args
			}
			plain, got := run(false)[1], run(true)[1]
			for i := range plain.N {
				if a, b := got.At(i), plain.At(i); a != b && (a == a || b == b) {
					t.Fatalf("%+v in %v: Y[%d] is %v, in plain loops %v", s, float, i, a, b)
				}
			}
		}
	}
}
