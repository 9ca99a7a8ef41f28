// Package kernelcases holds the launches that test clgrad's own kernels.
package kernelcases

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Of returns the launches that test k, few and small ones if asked for: the cases that it brings, or those of a kernel
// of package kernels. There are none for any other.
func Of(k *kernels.Kernel, few bool) []kernels.Case {
	if k.Cases != nil {
		return k.Cases(few)
	}
	var cases []kernels.Case
	add := func(build func(o *kernels.Operands), format string, a ...any) {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf(format, a...), Build: build})
	}
	perLength := func(build func(o *kernels.Operands, n int)) {
		cases = append(cases, kernels.PerLength(build)(few)...)
	}
	matrices := [][2]int{{1, 1}, {3, 5}, {17, 3}, {5, 33}, {64, 64}, {130, 67}}
	perMatrix := func(build func(o *kernels.Operands, r, c int)) {
		for _, s := range matrices {
			add(func(o *kernels.Operands) { build(o, s[0], s[1]) }, "%dx%d", s[0], s[1])
		}
	}
	boxes := [][3]int{{1, 1, 1}, {1, 300, 1}, {7, 33, 1}, {1, 100, 64}, {3, 17, 5}, {2, 65, 35}, {1, 513, 3}, {4, 0, 3}}

	if cases == nil {
		cases = append(typedCases(k, few, matrices, boxes), indexCases(k, few)...)
	}
	if cases == nil {
		cases = rowCases(k, few)
	}
	if cases == nil {
		cases = lineCases(k, few)
	}
	switch k {
	case ops.ReducePartials:
		perLength(func(o *kernels.Operands, n int) { o.In(3*n, -1, 1).In(1, 0.5, 2).Out(n).Int(n, 3) })
	case ops.AdamWPartials:
		perLength(func(o *kernels.Operands, n int) {
			o.In(n, -1, 1).In(11*n, -1, 1).In(1, 0.5, 2).In(n, -1, 1).In(n, 0, 1).In(0, 0, 1).Out(0).Int(n, 11, 0).Real(0, 1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})
		for _, losses := range []int{1, 7, 300} {
			add(func(o *kernels.Operands) {
				o.In(45, -1, 1).In(2*45, -1, 1).In(1, 0.5, 2).In(45, -1, 1).In(45, 0, 1).In(losses, 0, 1).Out(1).Int(45, 2, losses).Real(0.25, 1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
			}, "%d losses", losses)
		}
	case ops.Fill:
		perLength(func(o *kernels.Operands, n int) { o.Out(n).Int(n).Real(1.25) })
	case ops.Zero:
		perLength(func(o *kernels.Operands, n int) { o.Out(n).Int(n) })
	case ops.GatherRows:
		perMatrix(func(o *kernels.Operands, r, c int) {
			o.In(r*c, -1, 1).Ints(9, func(int) int { return o.Rand.IntN(r) }).Out(9*c).Int(9, c, r)
		})
		add(func(o *kernels.Operands) { // indices that are no row's
			o.In(6, -1, 1).Ints(5, func(i int) int { return []int{-1, 0, 1, 2, 1 << 30}[i] }).Out(15).Int(5, 3, 2)
		}, "outside")
	case ops.Sum:
		perLength(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Out(1).Int(n, max(n, 1)).Real(0.5) })
		add(func(o *kernels.Operands) { o.In(1000, -1, 1).Out(4).Int(1000, 257).Real(1) }, "4 chunks")
	case ops.SquaredError:
		perLength(func(o *kernels.Operands, n int) { o.In(n, -1, 1).In(n, -1, 1).Out(n).Out(1).Int(n, max(n, 1)) })
		add(func(o *kernels.Operands) { o.In(1000, -1, 1).In(1000, -1, 1).Out(1000).Out(4).Int(1000, 256) }, "4 chunks")
		add(func(o *kernels.Operands) { o.In(5000, -1, 1).In(5000, -1, 1).Out(5000).Out(2).Int(5000, 2700) }, "2 long chunks")
	case ops.MaxAxisGrad:
		for _, b := range boxes[:len(boxes)-1] {
			add(func(o *kernels.Operands) {
				line := func(i int) int { return i/(b[1]*b[2])*b[2] + i%b[2] }
				o.Reals(b[0]*b[1]*b[2], func(i int) float64 { return float64(o.Rand.IntN(4) + line(i)%7) }) // maxima differ
				x := o.Args[0]
				o.Reals(b[0]*b[2], func(l int) float64 {
					m := math.Inf(-1)
					for i := range x.N {
						if line(i) == l {
							m = max(m, x.At(i))
						}
					}
					return m
				}).In(b[0]*b[2], -1, 1).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2])
			}, "%v", b)
			add(func(o *kernels.Operands) {
				o.In(b[0]*b[1]*b[2], -1, 1).Kinks().Reals(b[0]*b[2], func(int) float64 { return math.NaN() }).Start(math.Inf(1))
				o.In(b[0]*b[2], -1, 1).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2])
			}, "%v with NaN", b)
		}
	case ops.Uniform:
		perLength(func(o *kernels.Operands, n int) { o.Out(n).Int(n, 12345, -7, 3).Real(-2, 5) })
	case ops.Normal:
		perLength(func(o *kernels.Operands, n int) { o.Out(n).Int(n, 12345, -7, 3).Real(1, 2) })
	case ops.RandomInts:
		perLength(func(o *kernels.Operands, n int) { o.Ints(n, func(int) int { return -1 }).Int(n, 12345, -7, 3, 1000003) })
	case ops.SGD:
		for _, nesterov := range []int{0, 1} {
			perLength(func(o *kernels.Operands, n int) {
				o.In(n, -1, 1).In(n, -1, 1).In(n, -1, 1).Int(n).Real(0.01, 0.9, 0.1).Int(nesterov)
			})
			perLength(func(o *kernels.Operands, n int) { // without momentum what was there says nothing
				strange := []float64{math.Inf(1), math.NaN(), math.Inf(-1), 1e-40}
				o.In(n, -1, 1).In(n, -1, 1).Reals(n, func(i int) float64 { return strange[i%4] }).Int(n).Real(0.01, 0, 0.1).Int(nesterov)
			})
		}
	case ops.AdamW:
		perLength(func(o *kernels.Operands, n int) {
			o.In(n, -1, 1).In(n, -1, 1).In(n, -1, 1).In(n, 0, 1).Int(n).Real(1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})
	case ops.FMAChains:
		perLength(func(o *kernels.Operands, n int) { o.Out(n).Int(n, 20).Real(0.999, 0.5) })
	}
	return cases
}
