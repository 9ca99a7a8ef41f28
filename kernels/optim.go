package kernels

import "math"

// Update rules over all parameters at once: the formulas stand in optim.cl.
var (
	// SGD: P, G, V, n, lr, momentum, l2, nesterov.
	SGD = &Kernel{Name: "k_sgd", File: "optim.cl", Grid: perElement(0),
		Params: []Param{{"P", InOut}, {"G", In}, {"V", InOut}, {"n", IntArg},
			{"lr", RealArg}, {"momentum", RealArg}, {"l2", RealArg}, {"nesterov", IntArg}},
		Twin: Twin{sgdTwin[float32], sgdTwin[float64]}, Tol: Tolerance{ULP: 8, Rel: 4}}
	// AdamW: P, G, M, V, n, decay, b1, one_b1, b2, one_b2, step, root, eps.
	AdamW = &Kernel{Name: "k_adamw", File: "optim.cl", Grid: perElement(0),
		Params: []Param{{"P", InOut}, {"G", In}, {"M", InOut}, {"V", InOut}, {"n", IntArg},
			{"decay", RealArg}, {"b1", RealArg}, {"one_b1", RealArg}, {"b2", RealArg}, {"one_b2", RealArg},
			{"step", RealArg}, {"root", RealArg}, {"eps", RealArg}},
		Twin: Twin{adamwTwin[float32], adamwTwin[float64]}, Tol: Tolerance{ULP: 8, Rel: 4}}
)

func sgdTwin[T Real](c Call[T]) {
	p, g, v := c.Reals(0), c.Reals(1), c.Reals(2)
	lr, momentum, l2, nesterov := c.Real(4), c.Real(5), c.Real(6), c.Int(7) != 0
	parallel(len(p), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := g[i] + l2*p[i]
			v[i] = momentum*v[i] + d
			if nesterov {
				p[i] -= lr * (d + momentum*v[i])
			} else {
				p[i] -= lr * v[i]
			}
		}
	})
}

func adamwTwin[T Real](c Call[T]) {
	p, g, m, v := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3)
	decay, b1, oneB1, b2, oneB2 := c.Real(5), c.Real(6), c.Real(7), c.Real(8), c.Real(9)
	step, root, eps := c.Real(10), c.Real(11), c.Real(12)
	parallel(len(p), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := g[i]
			m[i] = b1*m[i] + oneB1*d
			v[i] = b2*v[i] + oneB2*d*d
			p[i] = p[i]*(1-decay) - step*m[i]/(T(math.Sqrt(float64(v[i])))*root+eps)
		}
	})
}
