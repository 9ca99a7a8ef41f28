package ops

import (
	"github.com/clgrad/clgrad/kernels"
)

// Kernels that take elements by their index along the middle axis of [outer, len, inner], which I
// [outer, n, inner] has, and pass over an index outside [0, len). All have the arguments X, I, Y,
// outer, len, inner, n.
var (
	// TakeAlong is Y[o, k, i] = X[o, I[o, k, i], i], 0 for an index outside.
	TakeAlong = movesAlong(along("k_take_along", out("Y"), takeAlongSemantics, func(c kernels.HostArgs[float32]) { takeAlongHost(c) },
		func(c kernels.HostArgs[float64]) { takeAlongHost(c) }), func(c kernels.HostArgs[uint16]) { takeAlongHost(c) })
	// PlaceAlong is Y[o, I[o, k, i], i] = X[o, k, i], of indices that differ along each line.
	PlaceAlong = movesAlong(along("k_place_along", inOut("Y"), scatterAlongSemantics(ScatterSet),
		func(c kernels.HostArgs[float32]) { addAlongHost(c, false) },
		func(c kernels.HostArgs[float64]) { addAlongHost(c, false) }),
		func(c kernels.HostArgs[uint16]) { addAlongHost(c, false) })
	// AddAlong is Y[o, I[o, k, i], i] += X[o, k, i], in the order of k.
	AddAlong = along("k_add_along", inOut("Y"), scatterAlongSemantics(ScatterAdd), func(c kernels.HostArgs[float32]) { addAlongHost(c, true) },
		func(c kernels.HostArgs[float64]) { addAlongHost(c, true) })
	// AddRuns is Y[o, l, i] = Σ X[o, k, i] over the k with I[o, k, i] = l, in their order, of indices that do not fall
	// along a line.
	AddRuns = addRuns()
)

func addRuns() *kernels.Kernel {
	k := along("k_add_runs", out("Y"), addRunsSemantics, addRunsHost[float32], addRunsHost[float64])
	k.File = "add_runs.cl"
	k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return kernels.Grid1D(int(a[3].Int)*int(a[5].Int), l)
	}
	return k
}

func along(name string, y kernels.Param, says func(args) operations, f32 func(kernels.HostArgs[float32]),
	f64 func(kernels.HostArgs[float64])) *kernels.Kernel {
	return &kernels.Kernel{Name: name, File: "take_along.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			lines, n := int(a[3].Int)*int(a[5].Int), int(a[6].Int)
			if name == "k_add_along" {
				n = 1
			}
			return kernels.Grid1D(lines*n, l)
		},
		Params: []kernels.Param{in("X"), inInts("I"), y, intArg("outer"), intArg("len"), intArg("inner"), intArg("n")},
		Host:   kernels.HostKernel{F32: f32, F64: f64}, Semantics: says}
}

// movesAlong gives a kernel that moves elements its form for those of 16 bits.
func movesAlong(k *kernels.Kernel, move func(kernels.HostArgs[uint16])) *kernels.Kernel {
	return kernels.Typed(k, k.File, k.Name, kernels.HostKernel{}, kernels.HostKernel{}, kernels.ElementHostKernel(move))
}

func takeAlongHost[T kernels.Element](c kernels.HostArgs[T]) {
	x, index, y, n, inner, count := c.Floats(0), c.Ints(1), c.Floats(2), c.Int(4), c.Int(5), c.Int(6)
	c.Parallel(len(index)/inner, 2*inner, func(lo, hi int) {
		for row := lo; row < hi; {
			o := row / count
			from := x[o*n*inner:][:n*inner]
			for ; row < min(hi, (o+1)*count); row++ {
				to := y[row*inner:][:inner]
				for i, k := range index[row*inner:][:inner] {
					if to[i] = 0; k >= 0 && int(k) < n {
						to[i] = from[int(k)*inner+i]
					}
				}
			}
		}
	})
}

func addAlongHost[T kernels.Element](c kernels.HostArgs[T], add bool) {
	x, index, y, outer, n, inner, count := c.Floats(0), c.Ints(1), c.Floats(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	c.Parallel(outer, 2*count*inner, func(lo, hi int) {
		for o := lo; o < hi; o++ {
			to := y[o*n*inner:][:n*inner]
			if add && inner == 1 {
				addAt(to, x[o*count:][:count], index[o*count:][:count])
				continue
			}
			for row := o * count; row < (o+1)*count; row++ {
				from := x[row*inner:][:inner]
				for i, k := range index[row*inner:][:inner] {
					switch {
					case k < 0 || int(k) >= n:
					case add:
						to[int(k)*inner+i] += from[i]
					default:
						to[int(k)*inner+i] = from[i]
					}
				}
			}
		}
	})
}

func addRunsHost[T kernels.Float](c kernels.HostArgs[T]) {
	c.Parallel(c.Len(2), 1, func(lo, hi int) { clear(c.Floats(2)[lo:hi]) })
	addAlongHost(c, true)
}

// addAt adds each element of from to that of to which its index names, if there is one. The sum of
// neighbours with one index, as those of a running maximum are, does not go through memory.
func addAt[T kernels.Element](to, from []T, index []int32) {
	from = from[:len(index)]
	sum, at := T(0), none
	for i, k := range index {
		if uint(k) >= uint(len(to)) {
			continue
		}
		if int(k) != at {
			if at >= 0 {
				to[at] = sum
			}
			at, sum = int(k), to[k]
		}
		sum += from[i]
	}
	if at >= 0 {
		to[at] = sum
	}
}
