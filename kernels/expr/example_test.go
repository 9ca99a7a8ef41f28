package expr_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/expr"
)

// A formula, its derivative, and the OpenCL C of that.
func Example() {
	x := expr.X(0)
	f := expr.Where(x.Gt(expr.C(0)), x.Square(), x)
	d := f.Derivative(0, expr.C(1))
	for _, v := range []float64{3, -3} {
		at := func(int) float64 { return v }
		fmt.Println(expr.Compile(f).At(at, nil), expr.Compile(d).At(at, nil))
	}
	statements, result := expr.Compile(f).OpenCL("float4", "", 4, false, func(int) string { return "x" }, nil)
	for _, s := range statements {
		fmt.Println(s)
	}
	fmt.Println("return " + result + ";")
	// Output:
	// 9 6
	// -3 1
	// const float4 v2 = x * x;
	// const float4 v3 = (float4)NUM(0x0p+00) < x ? v2 : x;
	// return v3;
}
