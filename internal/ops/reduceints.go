package ops

import (
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// Kinds of SumInts: those of reduce_ints.cl.
const (
	IntsSum   = iota // Σ x
	IntsProd         // Π x
	IntsCount        // how many x are not 0
)

// SumInts returns the kernel that reduces the middle axis of integers X [outer, len, inner] of a type, in
// parts, to Y [outer, parts, inner] of Int64, which wraps around: X, Y, outer, len, inner, parts, chunk,
// apart, kind. See reduce_ints.cl.
func SumInts(t kernels.DType) *kernels.Kernel { return intReductions[t.Stored()].sum }

// ExtremeInts is SumInts of the greatest elements, or the least, Y, and their first indices I, of Int64:
// X, J, Y, I, outer, len, inner, parts, chunk, apart, least, given. Of X that has elements of parts of
// lines, J has the indices; else it is not read.
func ExtremeInts(t kernels.DType) *kernels.Kernel { return intReductions[t.Stored()].extreme }

// integers are the types of integers.
var integers = [...]kernels.DType{kernels.Int8, kernels.Int16, kernels.Int32, kernels.Int64,
	kernels.Uint8, kernels.Uint16, kernels.Uint32, kernels.Uint64}

type intReduction struct{ sum, extreme *kernels.Kernel }

var intReductions = map[kernels.DType]intReduction{
	kernels.Int8:   newIntReduction[int8](kernels.Int8),
	kernels.Int16:  newIntReduction[int16](kernels.Int16),
	kernels.Int32:  newIntReduction[int32](kernels.Int32),
	kernels.Int64:  newIntReduction[int64](kernels.Int64),
	kernels.Uint8:  newIntReduction[uint8](kernels.Uint8),
	kernels.Uint16: newIntReduction[uint16](kernels.Uint16),
	kernels.Uint32: newIntReduction[uint32](kernels.Uint32),
	kernels.Uint64: newIntReduction[uint64](kernels.Uint64),
}

func newIntReduction[T element](t kernels.DType) intReduction {
	buffer := func(name string, m kernels.Mode, of kernels.DType) kernels.Param {
		return kernels.Param{Name: name, Mode: m.Of(of)}
	}
	kernel := func(name string, sizes int, host func(kernels.HostArgs[T]), buffers []kernels.Param, numbers ...string) *kernels.Kernel {
		k := &kernels.Kernel{Name: name, File: "reduce_ints.cl", Defines: t.Define(), Params: buffers,
			Host: kernels.ElementHostKernel(host),
			Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				return kernels.Grid1D(int(a[sizes].Int*a[sizes+2].Int*a[sizes+3].Int), l)
			}}
		for _, n := range append([]string{"outer", "len", "inner", "parts", "chunk", "apart"}, numbers...) {
			k.Params = append(k.Params, intArg(n))
		}
		return k
	}
	const long = kernels.Int64
	r := intReduction{
		kernel("k_sum_ints", 2, sumIntsHost[T], []kernels.Param{buffer("X", kernels.In, t), buffer("Y", kernels.Out, long)},
			"kind"),
		kernel("k_extreme_ints", 4, extremeIntsHost[T],
			[]kernels.Param{buffer("X", kernels.In, t), buffer("J", kernels.In, long),
				buffer("Y", kernels.Out, t), buffer("I", kernels.Out, long)}, "least", "given"),
	}
	r.sum.Semantics, r.extreme.Semantics = sumIntsSemantics, extremeIntsSemantics
	return r
}

// element is a type of integers that memory holds.
type element interface {
	convert.Integer
	kernels.Element
}

// IntParts returns in how many parts, of what length, lines of integers [outer, len, inner] are reduced,
// and whether their elements lie apart.
func IntParts(outer, n, inner int, l kernels.Target) (parts, chunk int, apart bool) {
	chunk, apart = 256, !l.CPU
	if l.CPU {
		busy := intmath.CeilDiv(4*l.Units, max(1, outer*inner))
		chunk = max(4096, intmath.CeilDiv(n, busy))
	} else if outer*inner >= 1<<16 { // there are enough lines
		chunk = n
	}
	chunk = max(1, min(chunk, n))
	return max(1, intmath.CeilDiv(n, chunk)), chunk, apart
}

// eachIntLine calls f for some parts of lines: part u of [outer, parts, inner] is the elements k, k +
// step, … below end of a line that begins at element at.
func eachIntLine[T element](c kernels.HostArgs[T], sizes int, f func(u, at, k, end, step int)) {
	outer, n, inner := c.Int(sizes), c.Int(sizes+1), c.Int(sizes+2)
	parts, chunk, apart := c.Int(sizes+3), c.Int(sizes+4), c.Int(sizes+5) != 0
	c.Parallel(outer*parts*inner, min(n, chunk), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			part := u / inner % parts
			at := u/(parts*inner)*n*inner + u%inner
			if apart {
				f(u, at, part, n, parts)
			} else {
				from := min(n, part*chunk)
				f(u, at, from, min(n, from+chunk), 1)
			}
		}
	})
}

// intFold describes a reduction of X to Y, which are those arguments, with the numbers from one on.
func intFold(in args, f *kernels.Function, y, sizes int) *operation.Reduction {
	num := func(i int) int { return int(in[sizes+i].Int) }
	n, inner, parts := num(1), num(2), num(3)
	return &operation.Reduction{Function: f, Outer: num(0), Len: n, Inner: inner, Shares: parts, Chunk: max(1, num(4)),
		Interleaved: num(5) != 0, X: view(in, 0, 0, n*inner, inner, 1), Y: view(in, y, 0, parts*inner, inner, 1)}
}

// sumIntsSemantics: X, Y, outer, len, inner, parts, chunk, apart, kind.
func sumIntsSemantics(in args) operations {
	r := intFold(in, fn.Add, 1, 2)
	switch in[8].Int {
	case IntsProd:
		r.Function = fn.Mul
	case IntsCount:
		counted := r.X
		r.X = kernels.View{Arg: operation.Temp(0), Type: kernels.Uint8, Strides: counted.Strides}
		dims, none := []int{r.Outer, r.Len, r.Inner}, []operation.Scalar{constant(0)}
		return operations{mapped(fn.NeScalar, none, dims, r.X, counted), r}
	}
	return operations{r}
}

// extremeIntsSemantics: X, J, Y, I, outer, len, inner, parts, chunk, apart, least, given.
func extremeIntsSemantics(in args) operations {
	r := intFold(in, extremeFunction(in[10].Int != 0), 2, 4)
	r.Index = view(in, 3, 0, r.Y.Strides...)
	if in[11].Int != 0 {
		r.Given = view(in, 1, 0, r.X.Strides...)
	}
	return operations{r}
}

func sumIntsHost[T element](c kernels.HostArgs[T]) {
	x, y, inner, kind := c.Floats(0), kernels.Elements[int64](c, 1), c.Int(4), c.Int(8)
	if kind == IntsSum && inner > 1 {
		sumIntColumns(c)
		return
	}
	eachIntLine(c, 2, func(u, at, k, end, step int) {
		var sum int64
		switch {
		case kind == IntsSum && step == 1:
			sum = sumLine(x[at+k : at+end])
		case kind == IntsSum:
			for ; k < end; k += step {
				sum += int64(x[at+k])
			}
		case kind == IntsProd:
			sum = 1
			for ; k < end; k += step {
				sum *= int64(x[at+k*inner])
			}
		default:
			for ; k < end; k += step {
				if x[at+k*inner] != 0 {
					sum++
				}
			}
		}
		y[u] = sum
	})
}

// sumLine adds a line up. Four running sums do not wait for each other.
func sumLine[T element](x []T) int64 {
	var a [4]int64
	for ; len(x) >= 4; x = x[4:] {
		a[0] += int64(x[0])
		a[1] += int64(x[1])
		a[2] += int64(x[2])
		a[3] += int64(x[3])
	}
	for _, v := range x {
		a[0] += int64(v)
	}
	return a[0] + a[1] + a[2] + a[3]
}

func extremeIntsHost[T element](c kernels.HostArgs[T]) {
	x, j, y, places := c.Floats(0), kernels.Elements[int64](c, 1), c.Floats(2), kernels.Elements[int64](c, 3)
	inner, least, given := c.Int(6), c.Int(10) != 0, c.Int(11) != 0
	place := func(at, k int) int64 {
		if given {
			return j[at+k*inner]
		}
		return int64(k)
	}
	eachIntLine(c, 4, func(u, at, k, end, step int) {
		best, first := x[at+k*inner], place(at, k)
		for k += step; k < end; k += step {
			v := x[at+k*inner]
			if v > best && !least || v < best && least {
				best, first = v, place(at, k)
			} else if v == best {
				first = min(first, place(at, k))
			}
		}
		y[u], places[u] = best, first
	})
}
