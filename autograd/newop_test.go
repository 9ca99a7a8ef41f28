package autograd_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// cube is a kernel that this module does not have: Y = X³.
var cube = &kernels.Kernel{
	Name: "cube",
	Text: `// @depends: common
kernel void cube(IN(X), OUT(Y), int n) {
	int i = get_global_id(0);
	if (i < n) Y[Y_off + i] = X[X_off + i] * X[X_off + i] * X[X_off + i];
}`,
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
	Grid:   kernels.GridFromArg(2),
	Host:   kernels.HostKernel{F32: cubeHost[float32], F64: cubeHost[float64]},
	Tol:    kernels.ULP(2),
}

func cubeHost[T kernels.Float](c kernels.HostArgs[T]) {
	y := c.Floats(1)
	for i, x := range c.Floats(0) {
		y[i] = x * x * x
	}
}

// An operation of one's own: a kernel, and the gradient 3x²·g by operations on Nodes, which has
// gradients in turn.
func ExampleNewOp() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	cubed := func(x *autograd.Node) *autograd.Node {
		xv := x.ValueFor("cube")
		y := tensor.Empty(d, xv.Shape()...)
		tensor.Launch(d, cube, xv.Arg(), y.Arg(), kernels.IntArg(y.Len()))
		return autograd.NewOp("cube", y, []*autograd.Node{x}, func(g *autograd.Node, in *autograd.Grads) {
			in.AccumulateNode(0, x.Square().MulScalar(3).Mul(g))
		}, xv)
	}
	x := autograd.Param(devtest.New(d, []float32{1, 2, -3}), "x")
	y := cubed(x).Retain()
	if err := y.Sum().Backward(); err != nil {
		panic(err)
	}
	value, _ := y.Value().Float32s()
	gradient, _ := x.Grad().Float32s()
	fmt.Println(value, gradient)
	// Output: [1 8 -27] [3 12 27]
}
