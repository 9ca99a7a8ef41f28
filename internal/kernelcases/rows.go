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
		lines = [][3]int{{3, 40, 1}, {1, 5, 10}}
	}
	channels := [][4]int{{1, 1, 1, 1}, {6, 5, 1, 6}, {40, 37, 1, 10}, {5, 3, 7, 2}, {4, 2, 500, 4}, {7, 1, 33, 3}, {300, 2, 9, 300}}
	if few {
		channels = [][4]int{{4, 10, 1, 2}, {3, 2, 20, 2}}
	}
	norms := [][4]int{{1, 1, 1, 1}, {5, 3, 1, 1}, {300, 7, 1, 1}, {3, 33, 1, 1}, {2, 5000, 1, 1}, {6, 30, 3, 10}, {4, 700, 2, 350}, {4, 20, 4, 20}}
	gradients := [][3]int{{1, 1, 1}, {5, 3, 2}, {300, 7, 64}, {3, 33, 3}, {5, 5000, 2}, {70, 130, 32}}
	if few {
		norms, gradients = [][4]int{norms[3], norms[5]}, [][3]int{gradients[1], gradients[3]}
	}
	if of, least, most := ops.RowForm(k); of != nil { // for rows of some lengths: whole fours, and not
		k, lines, norms, gradients = of, nil, nil, nil
		for i, n := range []int{most, least, most - 1} {
			rows := []int{37, 300, 5}[i]
			lines = append(lines, [3]int{rows, n, 1})
			norms = append(norms, [4]int{rows, n, 1, 1})
			gradients = append(gradients, [3]int{rows, n, ops.NormRun(rows, n, kernels.Target{Units: 1})})
		}
		if few {
			lines, norms, gradients = lines[:2], norms[:2], gradients[:2]
		}
	}
	switch k {
	case ops.Norm:
		for _, b := range norms {
			for _, form := range []int{ops.NormCentred | ops.NormWeights | ops.NormBiases, ops.NormCentred, ops.NormWeights, 0} {
				if few && form&ops.NormWeights == 0 {
					continue
				}
				add(func(o *kernels.Operands) {
					o.In(b[0]*b[1], -1, 3)
					if form == ops.NormCentred { // each row has one of these, or is of equal elements
						o.Args = o.Args[:0]
						special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 300, 0.5}
						o.Reals(b[0]*b[1], func(i int) float64 {
							r := i / b[1] % len(special)
							if i%b[1] == r%b[1] {
								return special[r]
							}
							return 0.5
						})
					}
					c := b[2] * b[1] / b[3]
					o.In(c, -2, 2).In(c, -2, 2).Out(b[0]*b[1]).Out(b[0]).Out(b[0]).Int(b[0], b[1], b[2], b[3]).Real(1e-3).Int(form)
				}, "%v form %d", b, form)
			}
		}
	case ops.NormGrad:
		for i, b := range gradients {
			for f, form := range []int{ops.NormCentred | ops.NormWeights | ops.NormBiases | ops.NormPartials, ops.NormWeights | ops.NormPartials, ops.NormCentred, 0} {
				if few && f != 2*i {
					continue
				}
				add(func(o *kernels.Operands) {
					o.In(b[0]*b[1], -1, 1).In(b[0]*b[1], -1, 1).In(b[1], -2, 2).In(b[0], -1, 1).In(b[0], 0.5, 2).Out(b[0] * b[1])
					shares := 0
					if form&ops.NormPartials != 0 {
						shares = (b[0] + b[2] - 1) / b[2] * b[1]
					}
					o.Out(shares).Out(shares).Int(b[0], b[1], b[2], form)
				}, "%v form %d", b, form)
			}
		}
	case ops.ChannelMoments:
		for _, b := range channels {
			parts := (b[0] + b[3] - 1) / b[3]
			add(func(o *kernels.Operands) {
				o.In(b[0]*b[1]*b[2], -1, 3).Out(parts*b[1]).Out(parts*b[1]).Int(b[0], b[1], b[2], b[3])
			}, "%v", b)
		}
	case ops.ChannelJoin:
		for i, b := range channels {
			parts := (b[0] + b[3] - 1) / b[3]
			add(func(o *kernels.Operands) {
				o.In(parts*b[1], -1, 1).In(parts*b[1], 0.5, 2).Out(b[1]).Out(b[1]).In(b[1], -1, 1).In(b[1], 0, 1)
				o.Int(b[1], b[0], b[2], b[3], i%2).Real(1e-3, 0.3)
			}, "%v running %d", b, i%2)
		}
	case ops.ChannelSums:
		for i, b := range channels {
			parts, share := (b[0]+b[3]-1)/b[3], 1
			if b[1]%2 == 0 && i%2 == 0 {
				share = 2
			}
			add(func(o *kernels.Operands) {
				o.In(b[0]*b[1]*b[2], -1, 1).In(b[0]*b[1]*b[2], -1, 1).In(b[1]/share, -1, 1).In(b[1]/share, 0.5, 2)
				o.Out(parts*b[1]).Out(parts*b[1]).Int(b[0], b[1], b[2], b[3], share)
			}, "%v, %d share", b, share)
		}
	case ops.Softmax:
		for i, b := range lines {
			for logarithm := range 2 {
				if few && logarithm != i {
					continue
				}
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
	case ops.CrossEntropy, ops.CrossEntropyGrad:
		for i, b := range lines {
			if b[1] == 0 {
				continue
			}
			add(func(o *kernels.Operands) {
				n, rows := b[1], b[0]*b[2]
				o.In(rows*n, -3, 3).Ints(rows, func(l int) int {
					return []int{o.Rand.IntN(n), -100, n - 1, 0, n, -1, o.Rand.IntN(n)}[l%7]
				}).In(n, 0.5, 2)
				if k == ops.CrossEntropy {
					o.Out(5 * rows)
				} else {
					o.In(5*rows, 1, 2).In([]int{rows, 1}[i/2%2], -1, 1).Out(rows * n)
				}
				o.Int(b[0], n, b[2], i%2, (i+3)/2%2, -100*(i%3)).Real([]float64{0, 0.1}[(i+1)/2%2])
				if k == ops.CrossEntropyGrad {
					o.Int(1 - i/2%2)
				}
			}, "%v labels", b)
		}
	case ops.SoftmaxGrad:
		for i, b := range lines {
			for logarithm := range 2 {
				if few && logarithm != i {
					continue
				}
				add(func(o *kernels.Operands) {
					o.In(b[0]*b[1]*b[2], -1, 1).In(b[0]*b[1]*b[2], -1, 1).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2], logarithm)
				}, "%v logarithm %d", b, logarithm)
			}
		}
	}
	return cases
}
