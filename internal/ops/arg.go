package ops

import "github.com/clgrad/clgrad/kernels"

// Arg returns the kernel that finds the greatest element of parts of the middle axis of X [outer,
// len, inner], of reals or of int32, or the least, and its first index; a NaN is beyond all others.
// Y and I [outer, shares, inner] have the extreme of each share, which is chunk elements, the last
// fewer, and its index along the axis; or, if given, the element of J, of X's shape, that lies
// there. Its arguments are X, J, Y, I, outer, len, inner, chunk, shares, wide, tall, given: see
// FoldShape.
func Arg(least bool, t kernels.DType) *kernels.Kernel {
	i, j := 0, 0
	if least {
		i = 1
	}
	if t == kernels.Int32 {
		j = 1
	}
	return argKernels[i][j]
}

var argKernels = [2][2]*kernels.Kernel{
	{newArg(false, kernels.Float32), newArg(false, kernels.Int32)},
	{newArg(true, kernels.Float32), newArg(true, kernels.Int32)},
}

func newArg(least bool, t kernels.DType) *kernels.Kernel {
	k := &kernels.Kernel{Name: "k_arg", File: "arg_cpu.cl", GPU: "arg_gpu.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			outer, n, inner, chunk, shares := int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int), int(a[8].Int)
			if l.CPU {
				return cpuLines(outer*shares, min(n, chunk), inner, l)
			}
			return gpuLines(outer*shares, inner, int(a[9].Int), int(a[10].Int))
		},
		Params: []kernels.Param{in("X"), inInts("J"), out("Y"), outInts("I"), intArg("outer"), intArg("len"), intArg("inner"), intArg("chunk"),
			intArg("shares"), intArg("wide"), intArg("tall"), intArg("given")},
		Twin: kernels.Twin{F32: argRealTwin[float32](least), F64: argRealTwin[float64](least)}}
	if least {
		k.Defines = "-DLEAST "
	}
	if t == kernels.Int32 {
		k.Defines += "-DOF_INTS -DELEM=int"
		k.Params[0], k.Params[2] = inInts("X"), outInts("Y")
		k.Twin = kernels.ElementTwin(argTwin[int32](least))
	}
	return k
}

// argTwin takes the extremes of lines from extremeAt.
func argTwin[T float32 | float64 | int32](least bool) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		put := argPut(c)
		eachPart(c, c.Reals(0), c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8), 1, func(to int, line []T) {
			k := extremeAt(line, least)
			put(to, k, line[k])
		})
	}
}

// argRealTwin is argTwin, in vectors where that is worth it.
func argRealTwin[T kernels.Real](least bool) func(kernels.Call[T]) {
	plain := argTwin[T](least)
	return func(c kernels.Call[T]) {
		if loops := vectorFold(c, min(c.Int(5), c.Int(7)), c.Int(6)); loops != nil {
			argVectors(c, loops, least, argPut(c))
			return
		}
		plain(c)
	}
}

// argPut returns what writes a result: the extreme of the share of a line, and its index in the
// share.
func argPut[T kernels.Element](c kernels.Call[T]) func(to, k int, v T) {
	j, y, at, n, inner, chunk, shares, given := c.Ints(1), c.Reals(2), c.Ints(3), c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Int(11) != 0
	return func(to, k int, v T) {
		y[to] = v
		row := to / inner
		k += row % shares * chunk
		at[to] = int32(k)
		if given {
			at[to] = j[(row/shares*n+k)*inner+to%inner]
		}
	}
}

// extremeAt returns the first index of the greatest element, or the least; a NaN is beyond all
// others.
func extremeAt[T float32 | float64 | int32](line []T, least bool) int {
	at, best := 0, line[0]
	for k, v := range line {
		if best == best && (v != v || (v > best) != least && v != best) {
			at, best = k, v
		}
	}
	return at
}
