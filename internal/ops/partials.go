package ops

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// Gradients that a pass leaves in shares, one for each group of samples: PART [groups, size]. Their
// sum in a fixed order, times the scalar G [1], is the gradient.
var (
	// ReducePartials writes it: PART, G, Y [size], size, groups.
	ReducePartials = &kernels.Kernel{Name: "k_reduce_partials", File: "partials_cpu.cl", GPU: "partials_gpu.cl", Grid: partialsGrid(2),
		Params:    []kernels.Param{in("PART"), in("G"), out("Y"), intArg("size"), intArg("groups")},
		Host:      kernels.HostKernel{F32: reducePartialsHost[float32], F64: reducePartialsHost[float64]},
		Semantics: reducePartialsSemantics,
		Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
			return float64(a[4].Int) * kernels.MaxAbs(a, 0) * kernels.MaxAbs(a, 1)
		}}}
	// AdamWPartials is AdamW of it, and adds up a loss in shares, SUM = scale·Σ LOSS, if there are
	// any: P, PART, G, M, V, LOSS, SUM, size, groups, losses, scale, decay, b1, one_b1, b2, one_b2,
	// step, root, eps. SUM has an element if there are losses, else none.
	AdamWPartials = tried(&kernels.Kernel{Name: "k_adamw_partials", File: "partials_cpu.cl", GPU: "partials_gpu.cl", Grid: adamwPartialsGrid,
		Params: append([]kernels.Param{inOut("P"), in("PART"), in("G"), inOut("M"), inOut("V"), in("LOSS"), out("SUM"),
			intArg("size"), intArg("groups"), intArg("losses"), floatArg("scale")}, adamwScalars...),
		Host:      kernels.HostKernel{F32: adamwPartialsHost[float32], F64: adamwPartialsHost[float64]},
		Semantics: adamwPartialsSemantics,
		Fusions:   fused.Fusions{Batch: &fused.BatchSpec{Function: "adamw_partials", Local: "SLICES * WIDE", Items: true}},
		Tol:       kernels.Tolerance{ULP: 8, Rel: 64}}, func(ops []kernels.Operand) bool {
		ops[4].Lo = 0 // squares
		selftest.SetNumbers(ops[11:], adamwNumbers...)
		return true
	})
)

// partialsGrid covers the elements of argument arg.
func partialsGrid(arg int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid { return partialsGridOf(a[arg].N, l) }
}

const partialsWide = 32 // elements of a work-group of a GPU

func partialsGridOf(n int, l kernels.Target) kernels.Grid {
	if l.CPU {
		return kernels.Grid1D(n, l)
	}
	const slices = 8
	return kernels.Grid{Dims: 2, Global: [3]int{intmath.RoundUp(n, partialsWide), slices}, Local: [3]int{partialsWide, slices}}
}

// adamwPartialsGrid covers the parameters, and has a work-item or a work-group more if there is a
// loss.
func adamwPartialsGrid(a []kernels.Arg, l kernels.Target) kernels.Grid {
	n := a[0].N
	if a[9].Int > 0 {
		n++
		if !l.CPU {
			n = intmath.RoundUp(a[0].N, partialsWide) + 1
		}
	}
	return partialsGridOf(n, l)
}

func reducePartialsHost[T kernels.Float](c kernels.HostArgs[T]) {
	part, seed, y, size, groups := c.Floats(0), c.Floats(1)[0], c.Floats(2), c.Int(3), c.Int(4)
	c.Parallel(size, 1, func(lo, hi int) { sumPartials(loopsOf(c), y[lo:hi], part[lo:], seed, size, groups) })
}

func adamwPartialsHost[T kernels.Float](c kernels.HostArgs[T]) {
	p, part, seed, m, v, size, groups := c.Floats(0), c.Floats(1), c.Floats(2)[0], c.Floats(3), c.Floats(4),
		c.Int(7), c.Int(8)
	update, loops := adamwUpdater(c, 11), loopsOf(c)
	if losses := c.Int(9); losses > 0 {
		sumPartials(nil, c.Floats(6), c.Floats(5), c.Float(10), 1, losses)
	}
	c.Parallel(size, 1, func(lo, hi int) {
		var g []T
		if loops != nil {
			room := loops.Scratch(hi - lo)
			defer loops.Return(room)
			g = room.V
		} else {
			g = make([]T, hi-lo)
		}
		sumPartials(loops, g, part[lo:], seed, size, groups)
		update(updated[T]{p[lo:hi], g, m[lo:hi], v[lo:hi]})
	})
}

// sumPartials writes seed times the sum of shares that lie size apart.
func sumPartials[T kernels.Float](loops *vec.Loops[T], y, part []T, seed T, size, groups int) {
	copy(y, part)
	if loops != nil {
		for k := 1; k < groups; k++ {
			share := part[k*size:][:len(y)]
			loops.Map(vec.Add, y, y, share, share, share)
		}
		loops.MapBy(vec.Mul, y, y, seed)
		return
	}
	for k := 1; k < groups; k++ {
		for i, v := range part[k*size:][:len(y)] {
			y[i] += v
		}
	}
	for i := range y {
		y[i] *= seed
	}
}

// sumPartialsOf is the sum of partial sums [groups, size] in an argument, in temporary 0.
func sumPartialsOf(in args, part, size, groups int) kernels.Op {
	return &operation.Reduction{Function: fn.Add, Outer: 1, Len: groups, Inner: size, Shares: 1, Chunk: groups,
		X: view(in, part, 0, 0, size, 1), Y: temporary(0, 0, 0, 1)}
}

// reducePartialsSemantics: PART, G, Y, size, groups.
func reducePartialsSemantics(in args) operations {
	size := int(in[3].Int)
	return operations{sumPartialsOf(in, 0, size, int(in[4].Int)),
		mapped(fn.Mul, nil, []int{size}, view(in, 2, 0, 1), view(in, 1, 0, 0), temporary(0, 1))}
}

// adamwPartialsSemantics: P, PART, G, M, V, LOSS, SUM, size, groups, losses, scale, and the scalars.
func adamwPartialsSemantics(in args) operations {
	size, losses := int(in[7].Int), int(in[9].Int)
	update := adamwSeededRule.operation(size, 11, view(in, 0, 0, 1), temporary(0, 1), view(in, 3, 0, 1), view(in, 4, 0, 1), view(in, 2, 0, 0))
	update.ExactRounding = true
	list := operations{sumPartialsOf(in, 1, size, int(in[8].Int)), update}
	if losses == 0 {
		return list
	}
	return append(list, &operation.Reduction{Function: fn.Add, Outer: 1, Len: losses, Inner: 1, Shares: 1, Chunk: losses,
		X: view(in, 5, 0, 0, 1, 0), Y: temporary(1, 0, 0, 0)},
		mapped(fn.MulScalar, []operation.Scalar{passed(10)}, []int{1}, view(in, 6, 0, 1), temporary(1, 1)))
}
