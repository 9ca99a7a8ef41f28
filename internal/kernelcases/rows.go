package kernelcases

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// rowCases are the launches that test the kernels of softmax, norms, attention and dropout; none if k is another.
func rowCases(k *kernels.Kernel, few bool) []kernels.Case {
	var cases []kernels.Case
	add := func(build func(o *kernels.Operands), format string, a ...any) {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf(format, a...), Build: build})
	}
	lines := [][3]int{{1, 1, 1}, {5, 3, 1}, {300, 7, 1}, {3, 33, 1}, {2, 5000, 1}, {2, 4, 3}, {3, 17, 20}, {1, 600, 35}, {4, 0, 3}}
	if few {
		lines = [][3]int{{5, 3, 1}, {2, 130, 1}, {2, 33, 18}}
	}
	switch k {
	case ops.Softmax:
		for i, b := range lines {
			for logarithm := range 2 {
				add(func(o *kernels.Operands) {
					o.In(b[0]*b[1]*b[2], -9, 9).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2], logarithm)
				}, "%v logarithm %d", b, logarithm)
				if few && i > 0 {
					continue
				}
				add(func(o *kernels.Operands) {
					large := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, 100, math.Copysign(0, -1)}
					o.Reals(b[0]*b[1]*b[2], func(i int) float64 { // each line has one of these
						l := i/(b[1]*b[2])*b[2] + i%b[2]
						if l%9 == 8 {
							return math.Inf(-1)
						}
						if i/b[2]%b[1] == l%b[1] {
							return large[l%len(large)]
						}
						return o.Rand.Float64()
					})
					o.Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2], logarithm)
				}, "%v special, logarithm %d", b, logarithm)
			}
		}
	case ops.SoftmaxGrad:
		for _, b := range lines {
			for logarithm := range 2 {
				add(func(o *kernels.Operands) {
					o.In(b[0]*b[1]*b[2], -1, 1).In(b[0]*b[1]*b[2], -1, 1).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2], logarithm)
				}, "%v logarithm %d", b, logarithm)
			}
		}
	}
	return cases
}
