package kernelcases

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// lineCases are the launches that test a kernel that works along the lines of [outer, n, inner]; none if k is no such kernel.
func lineCases(k *kernels.Kernel, few bool) []kernels.Case {
	var cases []kernels.Case
	add := func(build func(o operands), format string, a ...any) {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf(format, a...), Build: func(o *kernels.Operands) { build(operands{o}) }})
	}
	boxes := [][3]int{{1, 1, 1}, {1, 70, 1}, {7, 33, 1}, {1, 35, 19}, {3, 7, 5}}
	if !few {
		boxes = append(boxes, [][3]int{{1, 300, 1}, {2, 100, 37}, {40, 3, 1}, {1, 100, 64}, {2, 65, 35}, {1, 513, 3}, {5, 129, 16}, {1, 2100, 1}, {300, 5, 2}}...)
	}
	// The shape of a launch: in one share, or in those of some elements; of work-groups of a width, as tall as they may be or
	// of several lines.
	shape := func(o operands, i int, b [3]int) (parts int) {
		chunk, wide, tall := max(b[1], 1), 1, 256
		if i%2 == 1 {
			chunk = 32
		}
		for wide < b[2] && wide < 32 {
			wide *= 2
		}
		if tall /= wide; i%3 == 0 {
			tall = 4
		}
		shares := (max(b[1], 1) + chunk - 1) / chunk
		o.num(b[0], b[1], b[2], chunk, shares, wide, tall)
		return b[0] * shares * b[2]
	}
	parts := func(i int, b [3]int) int { return shape(operands{kernels.NewOperands(kernels.Float32, 1, 1)}, i, b) }
	types := []kernels.DType{kernels.Float32, kernels.Int32}
	for kind := ops.FoldProd; kind <= ops.FoldSum; kind++ {
		for _, t := range types {
			if k != ops.Fold(kind, t) {
				continue
			}
			boxes := boxes
			if kind < ops.FoldMax || kind >= ops.FoldLSE { // there is a fold of none
				boxes = append(boxes, [3]int{4, 0, 3})
			}
			for i, b := range boxes {
				add(func(o operands) {
					n := b[0] * b[1] * b[2]
					switch {
					case t == kernels.Int32:
						o.Ints(n, func(int) int { return o.Rand.IntN(7) - 3 })
					case kind == ops.FoldProd:
						o.In(n, 0.9, 1.1)
					case kind == ops.FoldPow:
						o.In(n, -2, 2)
					default:
						o.In(n, -9, 9)
						if i%2 == 0 && kind != ops.FoldAbs && kind != ops.FoldSquare {
							o.Special()
						}
					}
					if t == kernels.Int32 || kind == ops.FoldCount {
						o.undefined(kernels.Int32, parts(i, b))
					} else {
						o.Out(parts(i, b))
					}
					shape(o, i, b)
					o.Int(i % 2).Real(2.5)
				}, "%v", b)
			}
		}
	}
	for _, least := range []bool{false, true} {
		for _, t := range types {
			if k != ops.Arg(least, t) {
				continue
			}
			for i, b := range boxes {
				add(func(o operands) {
					n := b[0] * b[1] * b[2]
					o.elements(t, n, func(int) float64 { return float64(o.Rand.IntN(9)) }) // with ties
					if t == kernels.Float32 && i%2 == 0 {
						o.Special()
					}
					given := i % 3 % 2
					o.Ints(given*n, func(i int) int { return 5*i + 1 })
					o.undefined(t, parts(i, b)).undefined(kernels.Int32, parts(i, b))
					shape(o, i, b)
					o.Int(given)
				}, "%v", b)
			}
		}
	}
	for kind := ops.ScanSum; kind <= ops.ScanMin; kind++ {
		for _, t := range types {
			if k != ops.Scan(kind, t) {
				continue
			}
			for i, b := range append(boxes, [3]int{4, 0, 3}) {
				add(func(o operands) {
					n, low, high := b[0]*b[1]*b[2], -9.0, 9.0
					if kind == ops.ScanProd {
						low, high = -1.1, 1.1
					}
					o.elements(t, n, func(int) float64 {
						if t == kernels.Int32 || kind >= ops.ScanMax {
							return float64(o.Rand.IntN(9) - 4) // with ties
						}
						return low + (high-low)*o.Rand.Float64()
					})
					if kind >= ops.ScanMax {
						if i%2 == 0 && t == kernels.Float32 {
							o.Special()
						}
						o.undefined(t, n).undefined(kernels.Int32, n)
						o.num(b[0], b[1], b[2], ops.ScanTall(b[1]))
						return
					}
					if i == 1 && kind == ops.ScanLSE {
						o.Start(math.Inf(-1), math.Inf(-1), 3)
					}
					chunk := max(b[1], 1)
					if i%3 == 2 {
						chunk = 24
					}
					shares := (max(b[1], 1) + chunk - 1) / chunk
					o.elements(t, b[0]*shares*b[2], func(i int) float64 { return float64(1 + i%2) })
					o.undefined(t, n)
					o.num(b[0], b[1], b[2], chunk, shares, ops.ScanTall(min(chunk, max(b[1], 1))), []int{0, ops.ScanReverse, ops.ScanCarry, ops.ScanExclusive,
						ops.ScanCarry | ops.ScanExclusive | ops.ScanReverse}[i%5])
				}, "%v", b)
			}
		}
	}
	switch k {
	case ops.ScanLinear:
		for i, b := range append(boxes, [3]int{4, 0, 3}) {
			add(func(o operands) {
				n := b[0] * b[1] * b[2]
				o.In(n, -1.1, 1.1).In(n, -1, 1).Out(n)
				o.num(b[0], b[1], b[2], ops.ScanTall(b[1]), []int{0, ops.ScanReverse, ops.ScanShifted, ops.ScanReverse | ops.ScanShifted}[i%4])
			}, "%v", b)
		}
	case ops.Moments:
		for i, b := range append(boxes, [3]int{4, 0, 3}) {
			add(func(o operands) {
				o.In(b[0]*b[1]*b[2], 90, 92)
				if i == 4 {
					o.Special()
				}
				o.Out(parts(i, b)).Out(parts(i, b))
				shape(o, i, b)
				o.Real(0.5)
			}, "%v", b)
		}
	case ops.TakeAlong, ops.PlaceAlong, ops.AddAlong:
		for _, b := range boxes[:5] {
			add(func(o operands) {
				n, lines := (b[1]+1)/2, b[0]*b[2]
				index := func(i int) int { return (i/b[2]%n*7 + i) % b[1] }
				if b[1]%7 == 0 || k != ops.AddAlong {
					index = func(i int) int { return i / b[2] % n * 2 } // no two of a line
				}
				from, to := lines*b[1], lines*n
				if k != ops.TakeAlong {
					from, to = to, from
				}
				o.In(from, -1, 1).Ints(lines*n, func(i int) int {
					if i%19 == 5 {
						return []int{-1, b[1], 1 << 30}[i%3]
					}
					return index(i)
				})
				if k == ops.TakeAlong {
					o.Out(to)
				} else {
					o.In(to, -1, 1)
				}
				o.num(b[0], b[1], b[2], n)
			}, "%v", b)
		}
	case ops.MomentsJoin:
		for _, b := range [][3]int{{1, 1, 1}, {3, 5, 7}, {1, 300, 2}} {
			add(func(o operands) {
				n := b[0] * b[1] * b[2]
				o.In(n, 9, 11).In(n, 0, 5).Out(b[0]*b[2]).Out(b[0]*b[2]).Int(b[0], 32*b[1]-9, b[2], 32, b[1]).Real(0.01)
			}, "%v", b)
		}
	}
	for _, t := range types {
		sorts := ops.SortsOf(t)
		rows := [][3]int{{1, 1, 1}, {3, 7, 7}, {1, 70, 70}, {2, 33, 16}}
		if !few {
			rows = append(rows, [][3]int{{2, 300, 300}, {1, 100, 20}, {1, 3000, 2048}, {7, 129, 64}}...)
		}
		values := func(o operands, n, i int) {
			o.elements(t, n, func(int) float64 { return float64(o.Rand.IntN(90) - 40) })
			if i%2 == 0 && t == kernels.Float32 {
				o.Special()
			}
		}
		for i, r := range rows {
			n, flags := r[0]*r[1], []int{0, ops.SortDescending, ops.SortGiven, ops.SortGiven | ops.SortDescending}[i%4]
			given := func(o operands) {
				o.Ints(n*min(1, flags/ops.SortGiven), func(i int) int { return 3*i + 1 })
			}
			if width := r[1] * []int{1, 100, 1, 300}[i%4]; !few || i%4 < 3 {
				radixCases(k, &sorts.Radix, i, r[0], width, flags%2, add, func(o operands) { values(o, r[0]*width, i) })
			}
			switch k {
			case sorts.Blocks:
				for _, keep := range []int{r[2], 1, 5} {
					last := r[1] - (r[1]-1)/r[2]*r[2]
					out := r[0] * ((r[1]-1)/r[2]*min(keep, r[2]) + min(keep, last))
					add(func(o operands) {
						values(o, n, i)
						given(o)
						o.undefined(t, out).undefined(kernels.Int32, out).num(r[0], r[1], r[2], keep, flags)
					}, "%v, %d kept", r, keep)
				}
			case sorts.Digit:
				add(func(o operands) {
					values(o, n, i)
					given(o)
					o.undefined(t, n).undefined(kernels.Int32, n).num(r[0], r[1], r[2], 8*(i%4), flags)
				}, "%v", r)
			case sorts.Merge:
				for _, run := range []int{r[2], ops.SortTile} {
					width := r[1]
					if run == ops.SortTile { // of more than one work-item each
						if few || i > 1 {
							continue
						}
						width = 2*run + 7*r[1]
					}
					n := r[0] * width
					sign := 1 - 2*(i%2)
					add(func(o operands) {
						o.elements(t, n, func(at int) float64 {
							k := at % width % run
							if k == run-1 && i%4 == 2 && t == kernels.Float32 {
								return math.NaN()
							}
							return float64(sign * (k / (3 + at%width/run)))
						})
						o.Ints(n, func(i int) int { return 3*i + 1 })
						o.undefined(t, n).undefined(kernels.Int32, n).num(r[0], width, run, ops.SortTile, i%2*ops.SortDescending)
					}, "%v in runs of %d", r, run)
				}
			case sorts.SelectMedian:
				add(func(o operands) {
					values(o, n, i)
					if i%4 == 2 && t == kernels.Float32 {
						o.Start(0, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 3e38, 1e-42) // without a NaN
					}
					o.undefined(t, r[0]).undefined(kernels.Int32, r[0]).num(r[0], r[1])
				}, "%v", r)
			case sorts.Median:
				add(func(o operands) {
					o.elements(t, n, func(at int) float64 {
						if k := at % r[1]; i%2 == 0 && t == kernels.Float32 && k > r[1]*(at/r[1]+1)/4 {
							return math.NaN()
						}
						return float64(at % r[1] / 2)
					})
					o.Ints(n, func(i int) int { return 3*i + 1 })
					o.undefined(t, r[0]).undefined(kernels.Int32, r[0]).num(r[0], r[1])
				}, "%v", r)
			}
		}
	}
	return cases
}
