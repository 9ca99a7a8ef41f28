package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// lineBoxes are shapes [outer, n, inner] of lines.
func lineBoxes(few bool) [][3]int {
	boxes := [][3]int{{1, 1, 1}, {1, 70, 1}, {7, 33, 1}, {1, 35, 19}, {3, 7, 5}}
	if !few {
		boxes = append(boxes, [][3]int{{1, 300, 1}, {2, 100, 37}, {40, 3, 1}, {1, 100, 64}, {2, 65, 35}, {1, 513, 3}, {5, 129, 16}, {1, 2100, 1}, {300, 5, 2}}...)
	}
	return boxes
}

func init() {
	for _, t := range lineTypes {
		for kind := ScanSum; kind <= ScanMin; kind++ {
			if k := Scan(kind, t); k != nil {
				k.Cases = func(few bool) []kernels.Case { return scanCases(kind, t, few) }
			}
		}
	}
	for _, t := range sortTypes {
		sorts := SortsOf(t)
		cases := func(k *kernels.Kernel, few bool) []kernels.Case { return sortCases(sorts, k, t, few) }
		sorts.setCases(cases)
		for _, k := range []*kernels.Kernel{sorts.Blocks, sorts.Digit, sorts.Merge, sorts.Median, sorts.SelectMedian} {
			k.Cases = func(few bool) []kernels.Case { return cases(k, few) }
		}
	}
	for _, t := range integers {
		SumInts(t).Cases = func(few bool) []kernels.Case { return sumIntsCases(t, few) }
		ExtremeInts(t).Cases = func(few bool) []kernels.Case { return extremeIntsCases(t, few) }
	}
	ScanLinear.Cases = scanLinearCases
	for _, k := range []*kernels.Kernel{TakeAlong, PlaceAlong, AddAlong, AddRuns} {
		setCases(k, func(t kernels.DType, _ bool) []kernels.Case { return alongCases(k, t) })
	}
}

func foldCases(kind FoldKind, s rowSizes) []kernels.Case {
	var cases caseList
	extreme := kind >= defs.FoldMax && kind <= defs.FoldMinAbs
	power := kind == defs.FoldPower || kind == defs.FoldPowerNorm
	for i, b := range s.lines {
		if b[1] == 0 && extreme { // there is none of nothing
			continue
		}
		cases.add(func(o operands) {
			n := b[0] * b[1] * b[2]
			switch {
			case kind == defs.FoldProd:
				o.In(n, 0.9, 1.1)
			case power:
				o.In(n, -2, 2)
			default:
				o.In(n, -9, 9)
				if i%2 == 0 && (extreme || kind == defs.FoldCount || kind == defs.FoldLogSumExp) {
					o.Special()
				}
			}
			chunk := []int{max(b[1], 1), b[1]/3 + 1, b[1] + 30}[(i+b[1])%3]
			results := b[0] * lower.Parts(b[1], chunk) * b[2]
			if kind == defs.FoldCount {
				o.undefined(kernels.Int32, results)
			} else {
				o.Out(results)
			}
			o.Int(b[0], b[1], b[2], chunk)
			if power {
				o.Float(2.5)
			}
		}, "%v", b)
	}
	return cases
}

func dotCases(s rowSizes) []kernels.Case { return pairCases(s, 9, false) }

func squaredErrorCases(s rowSizes) []kernels.Case { return pairCases(s, 1, true) }

// pairCases are launches with two lines of [−most, most), whole and in parts, with a result for each part and, if
// there are some, one of elements.
func pairCases(s rowSizes, most float64, elements bool) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		cases.add(func(o operands) {
			n, chunk := b[0]*b[1]*b[2], []int{max(b[1], 1), b[1]/3 + 1, b[1] + 30}[(i+b[1])%3]
			o.In(n, -most, most).In(n, -most, most).Out(b[0] * lower.Parts(b[1], chunk) * b[2])
			if elements {
				o.Out(n)
			}
			o.Int(b[0], b[1], b[2], chunk)
		}, "%v", b)
	}
	return cases
}

// extremeCases are launches of lines in parts, or of lines of which there are the extremes of parts.
func extremeCases(join bool, s rowSizes) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		if b[1] == 0 { // there is none of nothing
			continue
		}
		cases.add(func(o operands) {
			n, chunk := b[0]*b[1]*b[2], []int{b[1], b[1]/3 + 1, b[1] + 30}[(i+b[1])%3]
			o.Floats(n, func(int) float64 { return float64(o.Rand.IntN(9)) }) // with ties
			if i%2 == 0 {
				o.Special()
			}
			results := b[0] * lower.Parts(b[1], chunk) * b[2]
			if join {
				results, chunk = b[0]*b[2], 1<<18-1 // indices that single precision has not
				o.Ints(n, func(i int) int { return i * 7 % chunk })
			}
			o.Out(results)
			o.undefined(kernels.Int32, results)
			o.Int(b[0], b[1], b[2], chunk)
		}, "%v", b)
	}
	return cases
}

// sumIntsCases are launches of SumInts, of lines whole and in parts, side by side and apart.
func sumIntsCases(t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	for i, b := range append(lineBoxes(few), [3]int{2, 0, 3}) {
		for kind := IntsSum; kind <= IntsCount; kind++ {
			cases.add(func(o operands) {
				chunk, apart := max(1, []int{b[1], b[1]/3 + 1, b[1]/5 + 1}[(i+kind)%3]), (i+kind)%2
				parts := lower.Parts(b[1], chunk)
				o.Elements(t, b[0]*b[1]*b[2], integersOf(o))
				o.undefined(kernels.Int64, b[0]*parts*b[2]).num(b[0], b[1], b[2], parts, chunk, apart, kind)
			}, "%v %d", b, kind)
		}
	}
	return cases
}

// extremeIntsCases are such launches of ExtremeInts, with indices and without.
func extremeIntsCases(t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	for i, b := range lineBoxes(few) {
		for given := range 2 {
			cases.add(func(o operands) {
				chunk, apart := []int{b[1], b[1]/3 + 1, b[1]/5 + 1}[(i+given)%3], i%2
				parts, n := lower.Parts(b[1], chunk), b[0]*b[1]*b[2]
				o.Elements(t, n, integersOf(o))
				o.Elements(kernels.Int64, n*given, func(i int) float64 { return 1<<40 + float64(i*7%n) })
				o.undefined(t, b[0]*parts*b[2]).undefined(kernels.Int64, b[0]*parts*b[2])
				o.num(b[0], b[1], b[2], parts, chunk, apart, (i+given)/2%2, given)
			}, "%v %d", b, given)
		}
	}
	return cases
}

// integersOf returns elements, few different ones, and the ends of the range but for types of 64 bits,
// whose sums a float64 is to hold.
func integersOf(o operands) func(int) float64 {
	return func(int) float64 {
		if o.Rand.IntN(5) == 0 {
			return []float64{-1 << 45, 1 << 45}[o.Rand.IntN(2)]
		}
		return float64(o.Rand.IntN(9) - 4)
	}
}

func scanCases(kind ScanKind, t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	for i, b := range append(lineBoxes(few), [3]int{4, 0, 3}) {
		cases.add(func(o operands) {
			n, low, high := b[0]*b[1]*b[2], -9.0, 9.0
			if kind == ScanProd {
				low, high = -1.1, 1.1
			}
			o.elements(t, n, func(int) float64 {
				if t.Integer() || kind >= ScanMax {
					return float64(o.Rand.IntN(9) - 4) // with ties
				}
				return low + (high-low)*o.Rand.Float64()
			})
			if kind >= ScanMax {
				if i%2 == 0 && t == kernels.Float32 {
					o.Special()
				}
				o.undefined(t, n).undefined(kernels.Int32, n)
				o.num(b[0], b[1], b[2], ScanTall(b[1]))
				return
			}
			if i == 1 && kind == ScanLSE {
				o.Start(math.Inf(-1), math.Inf(-1), 3)
			}
			chunk := max(b[1], 1)
			if i%3 == 2 {
				chunk = 24
			}
			shares := (max(b[1], 1) + chunk - 1) / chunk
			o.elements(t, b[0]*shares*b[2], func(i int) float64 { return float64(1 + i%2) })
			o.undefined(t, n)
			o.num(b[0], b[1], b[2], chunk, shares, ScanTall(min(chunk, max(b[1], 1))), []int{0, ScanReverse, ScanCarry, ScanExclusive,
				ScanCarry | ScanExclusive | ScanReverse}[i%5])
		}, "%v", b)
	}
	return cases
}

func scanLinearCases(few bool) []kernels.Case {
	var cases caseList
	for i, b := range append(lineBoxes(few), [3]int{4, 0, 3}) {
		cases.add(func(o operands) {
			n := b[0] * b[1] * b[2]
			o.In(n, -1.1, 1.1).In(n, -1, 1).Out(n)
			o.num(b[0], b[1], b[2], ScanTall(b[1]), []int{0, ScanReverse, ScanShifted, ScanReverse | ScanShifted}[i%4])
		}, "%v", b)
	}
	return cases
}

func alongCases(k *kernels.Kernel, t kernels.DType) []kernels.Case {
	var cases caseList
	values := func(o operands, n int) operands {
		return o.elements(t, n, func(int) float64 {
			if t.Integer() {
				return float64(o.Rand.IntN(1 << 16))
			}
			return 2*o.Rand.Float64() - 1
		})
	}
	for _, b := range lineBoxes(true) {
		cases.add(func(o operands) {
			n, lines := (b[1]+1)/2, b[0]*b[2]
			index := func(i int) int { return (i/b[2]%n*7 + i) % b[1] }
			switch {
			case k == AddRuns:
				index = func(i int) int { return i / b[2] % n / 3 * 5 } // runs with gaps between them
			case b[1]%7 == 0 || k != AddAlong:
				index = func(i int) int { return i / b[2] % n * 2 } // no two of a line
			}
			from, to := lines*b[1], lines*n
			if k != TakeAlong {
				from, to = to, from
			}
			values(o, from).Ints(lines*n, func(i int) int {
				if i%19 == 5 {
					return []int{-1, b[1], 1 << 30}[i%3]
				}
				return index(i)
			})
			if k == TakeAlong || k == AddRuns {
				o.undefined(t, to)
			} else {
				values(o, to)
			}
			o.num(b[0], b[1], b[2], n)
		}, "%v", b)
	}
	return cases
}

// sortCases are the cases of k, one of the sorts of elements of type t.
func sortCases(sorts *Sorts, k *kernels.Kernel, t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	rows := [][3]int{{1, 1, 1}, {3, 7, 7}, {1, 70, 70}, {2, 33, 16}}
	if !few {
		rows = append(rows, [][3]int{{2, 300, 300}, {1, 100, 20}, {1, 3000, 2048}, {7, 129, 64}}...)
	}
	values := func(o operands, n, i int) {
		o.elements(t, n, func(int) float64 { return float64(o.Rand.IntN(90) - 40) })
		if i%2 == 0 && t.Float() {
			o.Special()
		}
	}
	for i, r := range rows {
		n, flags := r[0]*r[1], []int{0, SortDescending, SortGiven, SortGiven | SortDescending}[i%4]
		given := func(o operands) {
			o.Ints(n*min(1, flags/SortGiven), func(i int) int { return 3*i + 1 })
		}
		if width := r[1] * []int{1, 100, 1, 300}[i%4]; !few || i%4 < 3 {
			sorts.addCases(&cases, k, i, r[0], width, flags%2, func(o operands) { values(o, r[0]*width, i) })
		}
		switch k {
		case sorts.Blocks:
			for _, keep := range []int{r[2], 1, 5} {
				last := r[1] - (r[1]-1)/r[2]*r[2]
				out := r[0] * ((r[1]-1)/r[2]*min(keep, r[2]) + min(keep, last))
				cases.add(func(o operands) {
					values(o, n, i)
					given(o)
					o.undefined(t, out).undefined(kernels.Int32, out).num(r[0], r[1], r[2], keep, flags)
				}, "%v, %d kept", r, keep)
			}
		case sorts.Digit:
			cases.add(func(o operands) {
				values(o, n, i)
				given(o)
				o.undefined(t, n).undefined(kernels.Int32, n).num(r[0], r[1], r[2], 5*(i%4), []int{8, SortBits, 1}[i%3], flags)
			}, "%v", r)
		case sorts.Merge:
			for _, run := range []int{r[2], SortTile} {
				width := r[1]
				if run == SortTile { // of more than one work-item each
					if few || i > 1 {
						continue
					}
					width = 2*run + 7*r[1]
				}
				n := r[0] * width
				sign := 1 - 2*(i%2)
				cases.add(func(o operands) {
					o.elements(t, n, func(at int) float64 {
						k := at % width % run
						if k == run-1 && i%4 == 2 && t.Float() {
							return math.NaN()
						}
						return float64(sign * (k / (3 + at%width/run)))
					})
					o.Ints(n, func(i int) int { return 3*i + 1 })
					o.undefined(t, n).undefined(kernels.Int32, n).num(r[0], width, run, SortTile, i%2*SortDescending)
				}, "%v in runs of %d", r, run)
			}
		case sorts.SelectMedian:
			cases.add(func(o operands) {
				values(o, n, i)
				if i%4 == 2 && t.Float() {
					o.Start(0, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 3e38, 1e-42) // without a NaN
				}
				o.undefined(t, r[0]).undefined(kernels.Int32, r[0]).num(r[0], r[1])
			}, "%v", r)
		case sorts.Median:
			cases.add(func(o operands) {
				o.elements(t, n, func(at int) float64 {
					if k := at % r[1]; i%2 == 0 && t.Float() && k > r[1]*(at/r[1]+1)/4 {
						return math.NaN()
					}
					return float64(at % r[1] / 2)
				})
				o.Ints(n, func(i int) int { return 3*i + 1 })
				o.undefined(t, r[0]).undefined(kernels.Int32, r[0]).num(r[0], r[1])
			}, "%v", r)
		}
	}
	return cases
}
