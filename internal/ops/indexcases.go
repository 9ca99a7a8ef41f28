package ops

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
)

func init() {
	setCases(Pad, func(t kernels.DType, few bool) []kernels.Case { return padCases(t, few, false) })
	PadGrad.Cases = func(few bool) []kernels.Case { return padCases(kernels.Float32, few, true) }
	setCases(GatherAxis, gatherAxisCases)
	setCases(ScatterAxis, scatterAxisCases)
	setCases(ScatterRows, scatterRowsCases)
	setCases(ScatterLists, scatterRowsCases)
	setCases(ScatterRuns, scatterRunsCases)
	RowSorts.setCases(func(k *kernels.Kernel, few bool) []kernels.Case {
		var cases caseList
		for i, n := range shorter(few, []int{300, 2100, 1, 2048, 5000}) {
			RowSorts.addCases(&cases, k, i, 1, n, 700, func(o operands) { o.ints(n, func(int) int { return o.Rand.IntN(702) - 1 }) })
		}
		return cases
	})
}

func gatherAxisCases(t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	for _, b := range shorter(few, [][4]int{{3, 7, 2, 5}, {1, 5, 9, 1}, {2, 1, 300, 3}, {2, 300, 1, 67}, {1, 0, 3, 2}, {70, 9, 150, 1}}) {
		for each := range 2 {
			cases.add(func(o operands) {
				n := b[0] * b[2] * b[3]
				o.some(t, b[0]*b[1]*b[3]).ints([]int{b[2], n}[each], func(int) int { return o.Rand.IntN(b[1]+2) - 1 })
				o.undefined(t, n).num(b[0], b[1], b[2], b[3], each)
			}, "%v, each %d", b, each)
		}
	}
	return cases
}

func padCases(t kernels.DType, few, gradient bool) []kernels.Case {
	var cases caseList
	same := PadAxis{M: 1, N: 1}
	for _, axes := range [][PadAxes]PadAxis{
		{same, same, {M: 2, N: 2}, {M: 9, N: 5, Before: 3}},
		{{M: 5, N: 3, Before: 1}, {M: 2, N: 2}, {M: 3, N: 4, Before: -1}, {M: 7, N: 7}},
		{same, {M: 7, N: 3, Before: 2, Mode: PadReflect}, {M: 2, N: 2}, {M: 13, N: 5, Before: 4, Mode: PadReflect}},
		{same, {M: 9, N: 2, Before: 3, Mode: PadNearest}, {M: 2, N: 4, Before: -1, Mode: PadNearest}, {M: 70, N: 67, Before: 1, Mode: PadNearest}},
		{same, {M: 9, N: 3, Before: 3, Mode: PadCircular}, same, {M: 6, N: 4, Before: 0, Mode: PadCircular}},
		{{M: 3, N: 3, Mode: PadMirrored}, {M: 2, N: 2}, {M: 4, N: 4, Mode: PadMirrored}, {M: 5, N: 5}},
		{same, same, same, {M: 3, N: 0, Before: 1}},
		{same, {M: 2, N: 5, Before: 2, Mode: PadReflect}, {M: 5, N: 2, Mode: PadNearest}, {M: 3, N: 6, Before: -5, Mode: PadReflect}},
		{{M: 7, N: 1, Before: 4, Mode: PadNearest}, same, {M: 5, N: 1, Before: -1, Mode: PadNearest}, {M: 9, N: 3, Before: 8, Mode: PadNearest}},
		{same, same, same, {M: 300, N: 300, Mode: PadMirrored}},
	} {
		if gradient && (axes[0].Mode == PadMirrored || axes[3].Mode == PadMirrored) {
			continue
		}
		if few && !gradient && (t != kernels.Float32 || axes[3].M > 100) && axes[1].M != 7 { // the kernel is the same for every type
			continue
		}
		cases.add(func(o operands) {
			from, to := 1, 1
			for _, a := range axes {
				from, to = from*a.N, to*a.M
			}
			switch {
			case gradient:
				o.In(to, -1, 1).Out(from)
			case t == kernels.Float32:
				o.some(t, from).undefined(t, to).Float(-1.5)
			default:
				o.some(t, from).undefined(t, to).num(0x4123)
			}
			for _, a := range axes {
				o.num(a.M, a.N, a.Before, int(a.Mode))
			}
		}, "%v", axes)
	}
	return cases
}

// shorter leaves the first two of a list if few are asked for.
func shorter[T any](few bool, list []T) []T {
	if few {
		return list[:2]
	}
	return list
}

// eachScatter calls f with the ways in which a scatter of elements of type t is tested.
func eachScatter(t kernels.DType, few bool, f func(how Scatter)) {
	for how := ScatterSet; how <= ScatterMax; how++ {
		if !few || how == ScatterAdd || how == ScatterMin && t == kernels.Float32 {
			f(how)
		}
	}
}

func scatterAxisCases(t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	eachScatter(t, few, func(how Scatter) {
		for _, b := range shorter(few, [][4]int{{3, 7, 2, 5}, {1, 5, 40, 1}, {2, 3, 9, 67}, {70, 9, 150, 1}}) {
			for each := range 2 {
				cases.add(func(o operands) {
					n := b[0] * b[2] * b[3]
					o.scattered(t, n).ints([]int{b[2], n}[each], func(int) int { return o.Rand.IntN(b[1]+2) - 1 })
					o.scattered(t, b[0]*b[1]*b[3]).num(b[0], b[1], b[2], b[3], int(how), each)
				}, "%v, way %d, each %d", b, how, each)
			}
		}
	})
	return cases
}

func scatterRowsCases(t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	eachScatter(t, few, func(how Scatter) {
		for _, b := range shorter(few, [][3]int{{40, 3, 17}, {9, 130, 5}, {9, 1, 1}, {300, 1, 33}, {2048, 2, 9}, {2047, 2, 2}, {300, 259, 2}}) {
			cases.add(func(o operands) {
				n, cols, rows := b[0], b[1], b[2]
				o.scattered(t, n*cols).ints(n, func(i int) int { return []int{-1, rows, 1 << 30, i % rows, o.Rand.IntN(rows)}[min(i, 3+i%2)] })
				o.scattered(t, rows*cols).num(n, cols, rows, int(how))
			}, "%v, way %d", b, how)
		}
	})
	return cases
}

func scatterRunsCases(t kernels.DType, few bool) []kernels.Case {
	var cases caseList
	eachScatter(t, few, func(how Scatter) {
		for _, b := range shorter(few, [][3]int{{130, 3, 17}, {100, 2, 1}, {9, 1, 1}, {200, 5, 2}, {1000, 1, 40}}) {
			for sorted := range 2 {
				cases.add(func(o operands) {
					n, cols, rows := b[0], b[1], b[2]
					blocks := RunBlocks(n)
					o.scattered(t, n*cols).ints(n, func(i int) int { return (i*7 + 3) % n }) // a permutation, where 7 divides n not
					o.ints(n, func(i int) int { return min(i*i/n*(rows+1)/n, rows) }).scattered(t, rows*cols)
					o.undefined(t, 2*blocks*cols).ints(2*blocks, func(int) int { return -1 }).num(n, cols, rows, int(how), sorted)
				}, "%v, way %d, sorted %d", b, how, sorted)
			}
		}
	})
	return cases
}

// setCases gives each kernel of the sort its cases.
func (r *Radix) setCases(cases func(k *kernels.Kernel, few bool) []kernels.Case) {
	for _, k := range []*kernels.Kernel{r.Count, r.Scan, r.Move} {
		k.Cases = func(few bool) []kernels.Case { return cases(k, few) }
	}
}

// addCases adds a launch that tests k, a kernel of the sort, on rows of n elements, in the form i;
// none if k is another kernel.
func (r *Radix) addCases(cases *caseList, k *kernels.Kernel, i, rows, n, flags int, values func(operands)) {
	shift, given := 8*(i%4), i/2%2
	switch k {
	case r.Count, r.Move:
		cases.add(func(o operands) {
			values(o)
			x := o.Args[0]
			t := x.Buf.DType()
			tiles := r.Tiles(n, t)
			counts := kernels.NewHostBuffer(kernels.Int32, rows*(tiles+1)*256)
			c := kernels.BufferArg(counts, 0, counts.Len())
			count := []kernels.Arg{x, c, kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(tiles), kernels.IntArg(shift), kernels.IntArg(flags)}
			if k == r.Count {
				o.Args = count
				return
			}
			float := t
			if float == kernels.Int32 {
				float = kernels.Float32
			}
			r.Count.Run(float, count)
			r.Scan.Run(float, []kernels.Arg{c, kernels.IntArg(rows), kernels.IntArg(tiles)})
			o.Ints(given*rows*n, func(i int) int { return 3*i + 1 })
			o.Args = append(o.Args, c)
			o.undefined(t, rows*n).undefined(kernels.Int32, rows*n).num(rows, n, tiles, shift, flags, given)
		}, "%d rows of %d at bit %d", rows, n, shift)
	case r.Scan:
		cases.add(func(o operands) {
			tiles := n / 7
			o.Ints(rows*(tiles+1)*256, func(int) int { return o.Rand.IntN(9) }).Int(rows, tiles)
		}, "%d rows of %d", rows, n)
	}
}

// scattered adds n elements of type t whose sums and products are exact, or special.
func (o operands) scattered(t kernels.DType, n int) operands {
	o.elements(t, n, func(int) float64 { return float64(o.Rand.IntN(5)) })
	if t == kernels.Float32 {
		o.Start(math.NaN(), math.Inf(1), -2, math.Copysign(0, -1))
	}
	return o
}
