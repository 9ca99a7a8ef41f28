package kerneltest_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

func halfHost[T kernels.Float](c kernels.HostArgs[T]) {
	y := c.Floats(1)
	for i, x := range c.Floats(0) {
		y[i] = x / 2
	}
}

// A kernel with its cases, run here on cpu. There the host kernel is its own judge: this tests the operands, and that
// nothing else is written.
func Example() {
	half := &kernels.Kernel{
		Name: "half_of",
		Text: `// @depends: common
kernel void half_of(IN(X), OUT(Y), int n) {
	int i = get_global_id(0);
	if (i < n) Y[Y_off + i] = X[X_off + i] / 2;
}`,
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid:   kernels.GridFromArg(2),
		Host:   kernels.HostKernel{F32: halfHost[float32], F64: halfHost[float64]},
		Tol:    kernels.ULP(1),
		Cases:  kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Special().Out(n).Int(n) }),
	}
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	fmt.Println(kerneltest.All(d, false, half))
	// Output: <nil>
}

// What the kernel says of itself is tested, too: here with the mistake of a factor.
func Example_description() {
	third := &kernels.Function{Name: "third", Value: expr.Input(0).Div(expr.Const(3))}
	half := &kernels.Kernel{
		Name:   "half_of",
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
		Grid:   kernels.GridFromArg(2),
		Host:   kernels.HostKernel{F32: halfHost[float32], F64: halfHost[float64]},
		Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) {
			o.Floats(n, func(i int) float64 { return 6 + float64(i) }).Out(n).Int(n)
		}),
		Semantics: func(args []kernels.Arg) []kernels.Op {
			return []kernels.Op{&operation.Map{
				Dims:     []int{int(args[2].Int)},
				Operands: []kernels.View{kernels.ViewOf(args, 0, 0, 1)},
				Results:  []operation.Result{{Function: third, View: kernels.ViewOf(args, 1, 0, 1)}},
			}}
		},
	}
	d, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	fmt.Println(kerneltest.All(d, false, half))
	// Output: half_of n=1: its description: Y[0] = 2, the kernel computes 3
}
