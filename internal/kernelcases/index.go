package kernelcases

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// indexCases are the launches that test a kernel of padding or of indices, in a form for elements of some type; none if k
// is no such kernel.
func indexCases(k *kernels.Kernel, few bool) []kernels.Case {
	var cases []kernels.Case
	add := func(build func(o operands), format string, a ...any) {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf(format, a...), Build: func(o *kernels.Operands) { build(operands{o}) }})
	}
	for _, t := range []kernels.DType{kernels.Float32, kernels.Int32, kernels.Uint8, kernels.Float16} {
		switch k {
		case ops.Pad.Of(t):
			padCases(t, few, false, add)
		case ops.PadGrad:
			if t == kernels.Float32 {
				padCases(t, few, true, add)
			}
		case ops.GatherAxis.Of(t):
			for _, b := range shorter(few, [][4]int{{3, 7, 2, 5}, {1, 5, 9, 1}, {2, 1, 300, 3}, {2, 300, 1, 67}, {1, 0, 3, 2}, {70, 9, 150, 1}}) {
				for each := range 2 {
					add(func(o operands) {
						n := b[0] * b[2] * b[3]
						o.some(t, b[0]*b[1]*b[3]).ints([]int{b[2], n}[each], func(int) int { return o.Rand.IntN(b[1]+2) - 1 })
						o.undefined(t, n).num(b[0], b[1], b[2], b[3], each)
					}, "%v, each %d", b, each)
				}
			}
		}
		if t != kernels.Float16 {
			scatterCases(k, t, few, add)
		}
	}
	return cases
}

func padCases(t kernels.DType, few, gradient bool, add func(build func(o operands), format string, a ...any)) {
	same := ops.PadAxis{M: 1, N: 1}
	for _, axes := range [][ops.PadAxes]ops.PadAxis{
		{same, same, {M: 2, N: 2}, {M: 9, N: 5, Before: 3}},
		{{M: 5, N: 3, Before: 1}, {M: 2, N: 2}, {M: 3, N: 4, Before: -1}, {M: 7, N: 7}},
		{same, {M: 7, N: 3, Before: 2, Mode: ops.PadReflect}, {M: 2, N: 2}, {M: 13, N: 5, Before: 4, Mode: ops.PadReflect}},
		{same, {M: 9, N: 2, Before: 3, Mode: ops.PadNearest}, {M: 2, N: 4, Before: -1, Mode: ops.PadNearest}, {M: 70, N: 67, Before: 1, Mode: ops.PadNearest}},
		{same, {M: 9, N: 3, Before: 3, Mode: ops.PadCircular}, same, {M: 6, N: 4, Before: 0, Mode: ops.PadCircular}},
		{{M: 3, N: 3, Mode: ops.PadMirrored}, {M: 2, N: 2}, {M: 4, N: 4, Mode: ops.PadMirrored}, {M: 5, N: 5}},
		{same, same, same, {M: 3, N: 0, Before: 1}},
		{same, {M: 2, N: 5, Before: 2, Mode: ops.PadReflect}, {M: 5, N: 2, Mode: ops.PadNearest}, {M: 3, N: 6, Before: -5, Mode: ops.PadReflect}},
		{{M: 7, N: 1, Before: 4, Mode: ops.PadNearest}, same, {M: 5, N: 1, Before: -1, Mode: ops.PadNearest}, {M: 9, N: 3, Before: 8, Mode: ops.PadNearest}},
		{same, same, same, {M: 300, N: 300, Mode: ops.PadMirrored}},
	} {
		if gradient && (axes[0].Mode == ops.PadMirrored || axes[3].Mode == ops.PadMirrored) {
			continue
		}
		if few && !gradient && (t != kernels.Float32 || axes[3].M > 100) && axes[1].M != 7 { // the kernel is the same for every type
			continue
		}
		add(func(o operands) {
			from, to := 1, 1
			for _, a := range axes {
				from, to = from*a.N, to*a.M
			}
			switch {
			case gradient:
				o.In(to, -1, 1).Out(from)
			case t == kernels.Float32:
				o.some(t, from).undefined(t, to).Real(-1.5)
			default:
				o.some(t, from).undefined(t, to).num(0x4123)
			}
			for _, a := range axes {
				o.num(a.M, a.N, a.Before, int(a.Mode))
			}
		}, "%v", axes)
	}
}

// shorter leaves the first two of a list if few are asked for.
func shorter[T any](few bool, list []T) []T {
	if few {
		return list[:2]
	}
	return list
}

// scatterCases are those of scatters of elements of type t, in all ways that there are.
func scatterCases(k *kernels.Kernel, t kernels.DType, few bool, add func(build func(o operands), format string, a ...any)) {
	for how := ops.ScatterSet; how <= ops.ScatterMax; how++ {
		if few && how != ops.ScatterAdd && (how != ops.ScatterMin || t != kernels.Float32) {
			continue
		}
		switch k {
		case ops.ScatterAxis.Of(t):
			for _, b := range shorter(few, [][4]int{{3, 7, 2, 5}, {1, 5, 40, 1}, {2, 3, 9, 67}, {70, 9, 150, 1}}) {
				for each := range 2 {
					add(func(o operands) {
						n := b[0] * b[2] * b[3]
						o.scattered(t, n).ints([]int{b[2], n}[each], func(int) int { return o.Rand.IntN(b[1]+2) - 1 })
						o.scattered(t, b[0]*b[1]*b[3]).num(b[0], b[1], b[2], b[3], int(how), each)
					}, "%v, way %d, each %d", b, how, each)
				}
			}
		case ops.ScatterRows.Of(t), ops.ScatterLists.Of(t):
			for _, b := range shorter(few, [][3]int{{40, 3, 17}, {9, 130, 5}, {9, 1, 1}, {300, 1, 33}, {2048, 2, 9}, {2047, 2, 2}, {300, 259, 2}}) {
				add(func(o operands) {
					n, cols, rows := b[0], b[1], b[2]
					o.scattered(t, n*cols).ints(n, func(i int) int { return []int{-1, rows, 1 << 30, i % rows, o.Rand.IntN(rows)}[min(i, 3+i%2)] })
					o.scattered(t, rows*cols).num(n, cols, rows, int(how))
				}, "%v, way %d", b, how)
			}
		case ops.ScatterRuns.Of(t):
			for _, b := range shorter(few, [][3]int{{130, 3, 17}, {100, 2, 1}, {9, 1, 1}, {200, 5, 2}, {1000, 1, 40}}) {
				for sorted := range 2 {
					add(func(o operands) {
						n, cols, rows := b[0], b[1], b[2]
						blocks := ops.RunBlocks(n)
						o.scattered(t, n*cols).ints(n, func(i int) int { return (i*7 + 3) % n }) // a permutation, where 7 divides n not
						o.ints(n, func(i int) int { return min(i*i/n*(rows+1)/n, rows) }).scattered(t, rows*cols)
						o.undefined(t, 2*blocks*cols).ints(2*blocks, func(int) int { return -1 }).num(n, cols, rows, int(how), sorted)
					}, "%v, way %d, sorted %d", b, how, sorted)
				}
			}
		}
	}
	if t != kernels.Float32 {
		return
	}
	for i, n := range []int{300, 2100, 1, 2048, 5000} {
		if few && i > 1 {
			continue
		}
		radixCases(k, &ops.RowSorts, i, 1, n, 700, add, func(o operands) { o.ints(n, func(int) int { return o.Rand.IntN(702) - 1 }) })
	}
}

// radixCases adds a launch that tests a kernel of a radix sort of rows of n elements, in the form i; none if k is no such kernel.
func radixCases(k *kernels.Kernel, r *ops.Radix, i, rows, n, flags int, add func(func(operands), string, ...any), values func(operands)) {
	shift, given := 8*(i%4), i/2%2
	switch k {
	case r.Count, r.Move:
		add(func(o operands) {
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
			real := t
			if real == kernels.Int32 {
				real = kernels.Float32
			}
			r.Count.Run(real, count)
			r.Scan.Run(real, []kernels.Arg{c, kernels.IntArg(rows), kernels.IntArg(tiles)})
			o.Ints(given*rows*n, func(i int) int { return 3*i + 1 })
			o.Args = append(o.Args, c)
			o.undefined(t, rows*n).undefined(kernels.Int32, rows*n).num(rows, n, tiles, shift, flags, given)
		}, "%d rows of %d at bit %d", rows, n, shift)
	case r.Scan:
		add(func(o operands) {
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
