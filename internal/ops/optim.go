package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/joined"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/trial"
)

// Update rules over all parameters at once: the formulas stand in optim.cl.
var (
	// SGD: P, G, V, n, lr, momentum, l2, nesterov.
	SGD = trial.Elementwise(&kernels.Kernel{Name: "k_sgd", File: "optim.cl", Grid: kernels.GridPerElement(0),
		Params: []kernels.Param{inOut("P"), in("G"), inOut("V"), intArg("n"),
			realArg("lr"), realArg("momentum"), realArg("l2"), intArg("nesterov")},
		Twin: kernels.Twin{F32: sgdTwin[float32], F64: sgdTwin[float64]}, Describe: describeSGD, Forms: joined.Forms{Together: &joined.Together{Function: "sgd", Items: true}}, Tol: kernels.Tolerance{ULP: 8, Rel: 4}},
		func(ops []kernels.Operand) { trial.SetNumbers(ops[4:], 0.01, 0.9, 0.1) })
	// AdamW: P, G, M, V, n, decay, b1, one_b1, b2, one_b2, step, root, eps.
	AdamW = trial.Elementwise(&kernels.Kernel{Name: "k_adamw", File: "optim.cl", Grid: kernels.GridPerElement(0),
		Params: append([]kernels.Param{inOut("P"), in("G"), inOut("M"), inOut("V"), intArg("n")}, adamwScalars...),
		Twin:   kernels.Twin{F32: adamwTwin[float32], F64: adamwTwin[float64]}, Describe: describeAdamW, Forms: joined.Forms{Together: &joined.Together{Function: "adamw_all", Items: true}}, Tol: kernels.Tolerance{ULP: 8, Rel: 4}}, func(ops []kernels.Operand) {
		ops[3].Lo = 0 // squares
		trial.SetNumbers(ops[5:], adamwNumbers...)
	})
)

func sgdTwin[T kernels.Real](c kernels.Call[T]) {
	p, g, v := c.Reals(0), c.Reals(1), c.Reals(2)
	lr, momentum, l2, nesterov := c.Real(4), c.Real(5), c.Real(6), c.Int(7) != 0
	c.Parallel(len(p), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := g[i] + l2*p[i]
			if momentum == 0 {
				v[i] = 0 // infinite, it would be no number times 0
			}
			v[i] = momentum*v[i] + d
			if nesterov {
				p[i] -= lr * (d + momentum*v[i])
			} else {
				p[i] -= lr * v[i]
			}
		}
	})
}

// adamwNumbers are the scalars of a trial: those of a launch may make a step as large as the
// parameter, where rounding shows.
var adamwNumbers = []float64{1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8}

var adamwScalars = []kernels.Param{realArg("decay"), realArg("b1"), realArg("one_b1"), realArg("b2"), realArg("one_b2"),
	realArg("step"), realArg("root"), realArg("eps")}

func adamwTwin[T kernels.Real](c kernels.Call[T]) {
	p, g, m, v := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3)
	rule := adamwRule(c, 5)
	c.Parallel(len(p), 1, func(lo, hi int) { rule(p[lo:hi], g[lo:hi], m[lo:hi], v[lo:hi]) })
}

// adamwRule returns the update with the scalars from argument at on.
func adamwRule[T kernels.Real](c kernels.Call[T], at int) func(p, g, m, v []T) {
	decay, b1, oneB1, b2, oneB2 := c.Real(at), c.Real(at+1), c.Real(at+2), c.Real(at+3), c.Real(at+4)
	step, root, eps := c.Real(at+5), c.Real(at+6), c.Real(at+7)
	if loops := loopsOf(c); loops != nil {
		by := &vec.AdamW[T]{Keep: 1 - decay, B1: b1, OneB1: oneB1, B2: b2, OneB2: oneB2, Step: step, Root: root, Eps: eps}
		return func(p, g, m, v []T) { loops.AdamW(p, g, m, v, by) }
	}
	return func(p, g, m, v []T) {
		for i, d := range g {
			m[i] = b1*m[i] + oneB1*d
			v[i] = b2*v[i] + oneB2*d*d
			p[i] = p[i]*(1-decay) - step*m[i]/(T(math.Sqrt(float64(v[i])))*root+eps)
		}
	}
}
