package ops

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// rowSizes are the sizes with which a kernel of rows is tested.
type rowSizes struct {
	lines [][3]int // outer, n, inner
	norms [][4]int // rows, n, groups, channel
	few   bool
}

func newRowSizes(few bool) rowSizes {
	s := rowSizes{
		lines: [][3]int{{1, 1, 1}, {5, 3, 1}, {300, 7, 1}, {3, 33, 1}, {2, 5000, 1}, {2, 4, 3}, {3, 17, 20}, {1, 600, 35}, {4, 0, 3}, {18, 64, 1}},
		norms: [][4]int{{1, 1, 1, 1}, {5, 3, 1, 1}, {300, 7, 1, 1}, {3, 33, 1, 1}, {2, 5000, 1, 1}, {6, 30, 3, 10}, {4, 700, 2, 350}, {4, 20, 4, 20}},
	}
	if few {
		s = rowSizes{[][3]int{{3, 40, 1}, {1, 5, 10}}, [][4]int{s.norms[3], s.norms[5]}, true}
	}
	return s
}

// formSizes are the sizes of the form for rows of most elements at most: whole fours, and not.
func formSizes(most int, few bool) rowSizes {
	s := rowSizes{few: few}
	for i, n := range []int{most, most/2 + 1, most - 1} {
		rows := []int{37, 300, 5}[i]
		s.lines = append(s.lines, [3]int{rows, n, 1})
		s.norms = append(s.norms, [4]int{rows, n, 1, 1})
	}
	if few {
		s.lines, s.norms = s.lines[:2], s.norms[:2]
	}
	return s
}

func normCases(s rowSizes, form int) []kernels.Case {
	var cases caseList
	for i, b := range s.norms {
		if form&(NormWeights|NormBiases) == 0 && b[2]*b[3] != 1 {
			continue
		}
		for special := range 2 {
			if s.few && special != i%2 {
				continue
			}
			cases.add(func(o operands) {
				o.In(b[0]*b[1], -1, 3)
				if special == 1 { // each row has one of these, or is of equal elements
					o.Args = o.Args[:0]
					special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 300, 0.5, 1e30}
					o.Floats(b[0]*b[1], func(i int) float64 {
						r := i / b[1] % len(special)
						if i%b[1] == r%b[1] {
							return special[r]
						}
						return 0.5
					})
				}
				c := b[2] * b[1] / b[3]
				for _, is := range []int{NormWeights, NormBiases} {
					if form&is != 0 {
						o.In(c, -2, 2)
					}
				}
				o.Out(b[0]*b[1]).Out(b[0]).Out(b[0]).Int(b[0], b[1], 1)
				if form&(NormWeights|NormBiases) != 0 {
					o.Int(b[2], b[3])
				}
				o.Float(1e-3)
			}, "%v special %d", b, special)
		}
	}
	return cases
}

func softmaxCases(s rowSizes) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		cases.add(func(o operands) {
			o.In(b[0]*b[1]*b[2], -9, 9).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2])
		}, "%v", b)
		if s.few && i > 0 {
			continue
		}
		cases.add(func(o operands) {
			large := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, 100, math.Copysign(0, -1)}
			o.Floats(b[0]*b[1]*b[2], func(i int) float64 { // each line has one of these
				l := i/(b[1]*b[2])*b[2] + i%b[2]
				if l%9 == 8 {
					return math.Inf(-1)
				}
				if i/b[2]%b[1] == l%b[1] {
					return large[l%len(large)]
				}
				return o.Rand.Float64()
			})
			o.Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2])
		}, "%v special", b)
	}
	return cases
}

func crossEntropyCases(s rowSizes, form int, gradient bool) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		if b[1] == 0 {
			continue
		}
		cases.add(func(o operands) {
			n, rows := b[1], b[0]*b[2]
			if !gradient || form&EntropyLogits != 0 {
				o.In(rows*n, -3, 3)
			}
			o.Ints(rows, func(l int) int {
				return []int{o.Rand.IntN(n), -100, n - 1, 0, n, -1, o.Rand.IntN(n)}[l%7]
			})
			if form&EntropyWeights != 0 {
				o.In(n, 0.5, 2)
			}
			switch {
			case !gradient:
				o.Out(rows).Out(rows).Out(rows).Out(rows).Out(rows)
			default:
				if form&EntropyLogits != 0 {
					o.In(rows, 1, 2).In(rows, 1, 2).In(rows, 1, 2)
				}
				if form&EntropyEach != 0 {
					o.In(rows, -1, 1)
				} else {
					o.In(1, -1, 1)
				}
				o.Out(rows * n)
			}
			o.Int(b[0], n, b[2], -100*(i%3))
			if form&EntropySmoothing != 0 {
				o.Float(0.1)
			}
		}, "%v labels", b)
	}
	return cases
}
