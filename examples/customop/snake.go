package main

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/tensor"
)

// source is the operation's OpenCL C: one entry point for the values, one for the gradient.
const source = `// @depends: common
kernel void snake(IN(X), OUT(Y), int n, REAL a) {
	int i = get_global_id(0);
	if (i < n) {
		REAL x = X[X_off + i], s = sin(a * x);
		Y[Y_off + i] = x + s * s / a;
	}
}

kernel void snake_grad(IN(X), IN(G), OUT(D), int n, REAL a) {
	int i = get_global_id(0);
	if (i < n) D[D_off + i] = (1 + sin(2 * a * X[X_off + i])) * G[G_off + i];
}
`

// formula is what the kernel snake says of itself, for what rewrites recorded launches. A kernel
// that says nothing runs and is recorded as well, but is never joined with others.
var formula = &kernels.Function{Name: "snake", Scalars: []float64{1.5},
	Value: expr.Input(0).Add(expr.Param(0).Mul(expr.Input(0)).Sin().Square().Div(expr.Param(0)))}

// The kernels, each with its host kernel, which runs on the device cpu and judges the OpenCL one in
// check mode and in tests.
var (
	snake = &kernels.Kernel{Name: "snake", File: "snake.cl", Text: source,
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out},
			{Name: "n", Mode: kernels.IntParam}, {Name: "a", Mode: kernels.FloatParam}},
		Grid:  kernels.GridFromArg(2),
		Host:  kernels.HostKernel{F32: snakeHost[float32], F64: snakeHost[float64]},
		Tol:   kernels.Tolerance{ULP: 4, Rel: 16},
		Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -3, 3).Out(n).Int(n).Float(1.5) }),
		Semantics: func(args []kernels.Arg) []kernels.Op {
			return []kernels.Op{&operation.Map{
				Dims:     []int{int(args[2].Int)},
				Operands: []kernels.View{kernels.ViewOf(args, 0, 0, 1)},
				Results: []operation.Result{{Function: formula, Scalars: []operation.Scalar{operation.ArgScalar(3)},
					View: kernels.ViewOf(args, 1, 0, 1)}},
			}}
		}}
	snakeGrad = &kernels.Kernel{Name: "snake_grad", File: "snake.cl", Text: source,
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "G", Mode: kernels.In}, {Name: "D", Mode: kernels.Out},
			{Name: "n", Mode: kernels.IntParam}, {Name: "a", Mode: kernels.FloatParam}},
		Grid:  kernels.GridFromArg(3),
		Host:  kernels.HostKernel{F32: snakeGradHost[float32], F64: snakeGradHost[float64]},
		Tol:   kernels.Tolerance{ULP: 4, Rel: 16},
		Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -3, 3).In(n, -2, 2).Out(n).Int(n).Float(1.5) })}
)

func snakeHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, a := c.Floats(0), c.Floats(1), c.Float(3)
	for i, v := range x {
		s := math.Sin(float64(a * v))
		y[i] = T(float64(v) + s*s/float64(a))
	}
}

func snakeGradHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, g, d, a := c.Floats(0), c.Floats(1), c.Floats(2), c.Float(4)
	for i, v := range x {
		d[i] = T((1 + math.Sin(float64(2*a*v))) * float64(g[i]))
	}
}

// Snake returns x + sin²(a·x)/a, which grows like x and repeats like a sine. Gradient: (1 +
// sin(2a·x))·g. Source: Ziyin, Hartwig, Ueda, "Neural Networks Fail to Learn Periodic Functions and
// How to Fix It", NeurIPS 2020.
func Snake(x *autograd.Node, a float64) *autograd.Node {
	const op = "Snake"
	v := x.ValueFor(op)
	y := tensor.EmptyLike(v)
	operand := v.Contiguous()
	defer operand.Free()
	tensor.Launch(v.Device(), snake, operand.Arg(), y.Arg(), kernels.IntArg(v.Len()), kernels.FloatArg(a))
	return autograd.NewOp(op, y, []*autograd.Node{x}, func(g *autograd.Node, in *autograd.Grads) {
		if in.Derive(g, func(x []*autograd.Node) *autograd.Node { // a gradient that has one follows from the definition
			return x[0].Add(x[0].Sine(a).Square().DivScalar(a))
		}) {
			return
		}
		operand, up := v.Contiguous(), g.Value().Contiguous()
		defer operand.Free()
		defer up.Free()
		in.AccumulateInto(0, func(d *tensor.Tensor) {
			tensor.Launch(d.Device(), snakeGrad, operand.Arg(), up.Arg(), d.Arg(), kernels.IntArg(v.Len()), kernels.FloatArg(a))
		})
	}, v)
}
