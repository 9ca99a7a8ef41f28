package ops

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// Update rules over all parameters at once: the formulas stand in rules.go.
var (
	// SGD: P, G, V, n, lr, momentum, l2, nesterov, decays: whether l2 is not 0.
	SGD = selftest.Elementwise(&kernels.Kernel{Name: "k_sgd", File: "optim.cl", Grid: kernels.GridPerElement(0),
		Params: append(append([]kernels.Param{inOut("P"), in("G"), inOut("V"), intArg("n")}, sgdScalars...),
			intArg("nesterov"), intArg("decays")),
		Host: kernels.HostKernel{F32: sgdHost[float32], F64: sgdHost[float64]}, Semantics: sgdSemantics,
		Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: "sgd", Items: true}},
		Tol:     kernels.Tolerance{ULP: 8, Rel: 4}},
		func(ops []kernels.Operand) { selftest.SetNumbers(ops[4:], sgdNumbers...) })
	// AdamW: P, G, M, V, n, decay, b1, one_b1, b2, one_b2, step, root, eps.
	AdamW = selftest.Elementwise(&kernels.Kernel{Name: "k_adamw", File: "optim.cl", Grid: kernels.GridPerElement(0),
		Params: append([]kernels.Param{inOut("P"), in("G"), inOut("M"), inOut("V"), intArg("n")}, adamwScalars...),
		Host:   kernels.HostKernel{F32: adamwHost[float32], F64: adamwHost[float64]}, Semantics: adamwSemantics,
		Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: "adamw", Items: true}},
		Tol:     kernels.Tolerance{ULP: 8, Rel: 4}}, func(ops []kernels.Operand) {
		ops[3].Lo = 0 // squares
		selftest.SetNumbers(ops[5:], adamwNumbers...)
	})
)

// sgdRule returns the rule of a launch of SGD.
func sgdRule(nesterov, decays int) *rule { return sgdRules[decays][nesterov] }

func sgdHost[T kernels.Float](c kernels.HostArgs[T]) {
	p, g, v := c.Floats(0), c.Floats(1), c.Floats(2)
	update := updater(sgdRule(c.Int(7), c.Int(8)), c, 4)
	c.Parallel(len(p), 1, func(lo, hi int) { update(updated[T]{p[lo:hi], g[lo:hi], v[lo:hi]}) })
}

func adamwHost[T kernels.Float](c kernels.HostArgs[T]) {
	p, g, m, v := c.Floats(0), c.Floats(1), c.Floats(2), c.Floats(3)
	update := adamwUpdater(c, 5)
	c.Parallel(len(p), 1, func(lo, hi int) { update(updated[T]{p[lo:hi], g[lo:hi], m[lo:hi], v[lo:hi]}) })
}

// adamwUpdater is updater of AdamW, in a vector loop of its own if there are vectors.
func adamwUpdater[T kernels.Float](c kernels.HostArgs[T], at int) func(updated[T]) {
	loops := loopsOf(c)
	if loops == nil {
		return updater(adamwRule, c, at)
	}
	by := &vec.AdamW[T]{Keep: 1 - c.Float(at),
		B1: c.Float(at + 1), OneB1: c.Float(at + 2), B2: c.Float(at + 3), OneB2: c.Float(at + 4),
		Step: c.Float(at + 5), Root: c.Float(at + 6), Eps: c.Float(at + 7)}
	return func(x updated[T]) { loops.AdamW(x[0], x[1], x[2], x[3], by) }
}

// sgdSemantics: P, G, V, n, lr, momentum, l2, nesterov, decays.
func sgdSemantics(in args) operations {
	rule := sgdRule(int(in[7].Int), int(in[8].Int))
	return operations{rule.operation(int(in[3].Int), 4, view(in, 0, 0, 1), view(in, 1, 0, 1), view(in, 2, 0, 1))}
}

// adamwSemantics: P, G, M, V, n, and the scalars.
func adamwSemantics(in args) operations {
	op := adamwRule.operation(int(in[4].Int), 5, view(in, 0, 0, 1), view(in, 1, 0, 1), view(in, 2, 0, 1), view(in, 3, 0, 1))
	op.ExactRounding = true
	return operations{op}
}
