package kernels

import "github.com/clgrad/clgrad/internal/par"

// Gradients that a pass leaves in shares, one for each group of samples: PART [groups, size]. Their sum in
// a fixed order, times the scalar G [1], is the gradient.
var (
	// ReduceShares writes it: PART, G, Y [size], size, groups.
	ReduceShares = &Kernel{Name: "k_reduce_shares", File: "shares_cpu.cl", GPU: "shares_gpu.cl", Grid: sharesGrid(2),
		Params: []Param{{"PART", In}, {"G", In}, {"Y", Out}, {"size", IntArg}, {"groups", IntArg}},
		Twin:   Twin{reduceSharesTwin[float32], reduceSharesTwin[float64]},
		Tol: Tolerance{ULP: 4, Rel: 8, Scale: func(a []Arg) float64 {
			return float64(a[4].Int) * MaxAbs(a, 0) * MaxAbs(a, 1)
		}}}
	// AdamWShares is AdamW of it: P, PART, G, M, V, size, groups, decay, b1, one_b1, b2, one_b2, step, root, eps.
	AdamWShares = &Kernel{Name: "k_adamw_shares", File: "shares_cpu.cl", GPU: "shares_gpu.cl", Grid: sharesGrid(0),
		Params: append([]Param{{"P", InOut}, {"PART", In}, {"G", In}, {"M", InOut}, {"V", InOut},
			{"size", IntArg}, {"groups", IntArg}}, adamwScalars...),
		Twin: Twin{adamwSharesTwin[float32], adamwSharesTwin[float64]}, Tol: Tolerance{ULP: 8, Rel: 64}}
)

// sharesGrid covers the elements of argument arg.
func sharesGrid(arg int) func([]Arg, Limits) Grid {
	return func(a []Arg, l Limits) Grid {
		if l.CPU {
			return Line(a[arg].N, l)
		}
		const wide, slices = 32, 8
		return Grid{Dims: 2, Global: [3]int{roundUp(a[arg].N, wide), slices}, Local: [3]int{wide, slices}}
	}
}

func reduceSharesTwin[T Real](c Call[T]) {
	part, seed, y, size, groups := c.Reals(0), c.Reals(1)[0], c.Reals(2), c.Int(3), c.Int(4)
	par.For(size, par.Grain, func(lo, hi int) { sumShares(y[lo:hi], part[lo:], seed, size, groups) })
}

func adamwSharesTwin[T Real](c Call[T]) {
	p, part, seed, m, v, size, groups := c.Reals(0), c.Reals(1), c.Reals(2)[0], c.Reals(3), c.Reals(4), c.Int(5), c.Int(6)
	rule := adamwRule(c, 7)
	par.For(size, par.Grain, func(lo, hi int) {
		g := make([]T, hi-lo)
		sumShares(g, part[lo:], seed, size, groups)
		rule(p[lo:hi], g, m[lo:hi], v[lo:hi])
	})
}

// sumShares writes seed times the sum of shares that lie size apart.
func sumShares[T Real](y, part []T, seed T, size, groups int) {
	copy(y, part)
	for k := 1; k < groups; k++ {
		for i, v := range part[k*size:][:len(y)] {
			y[i] += v
		}
	}
	for i := range y {
		y[i] *= seed
	}
}
