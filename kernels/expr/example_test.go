package expr_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/expr"
)

// A formula, its derivative, and the OpenCL C of that.
func Example() {
	x := expr.Input(0)
	f := expr.Where(x.Gt(expr.Const(0)), x.Square(), x)
	d := f.Derivative(0, expr.Const(1))
	for _, v := range []float64{3, -3} {
		at := func(int) float64 { return v }
		fmt.Println(expr.Compile(f).At(at, nil), expr.Compile(d).At(at, nil))
	}
	fmt.Print(expr.Compile(f).Function("f", expr.Types{Vector: "float4", Scalar: "float", Width: 4}, []int{0}, nil))
	// Output:
	// 9 6
	// -3 1
	// static float4 f(float4 x0) {
	//     const float4 v2 = x0 * x0;
	//     const float4 v3 = (float4)NUM(0x0p+00) < x0 ? v2 : x0;
	//     return v3;
	// }
}
