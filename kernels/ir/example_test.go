package ir_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

func Example() {
	b := ir.NewRows("softmax")
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	e := x.Sub(b.MaxNumber(x, ir.N)).Exp()
	b.Result("Y", e.Mul(expr.Const(1).Div(b.Sum(e, ir.N))))
	softmax := b.Program()

	rows, _ := softmax.Rows()
	m := ir.NewMachine[float64, float64](rows, nil)
	m.Inputs[0], m.Results[0] = []float64{0, 0, 1, 1}, make([]float64, 4)
	m.Run(4, 1, 0, 1) // one line of four
	fmt.Printf("%.3f\n", m.Results[0])
	fmt.Print(softmax.Gradient("X"))
	// Output:
	// [0.134 0.134 0.366 0.366]
	// softmax_dx [outer n inner]
	// %0 = input X [outer n inner]
	// %1 = max number over n of %0 [outer inner]
	// %2 = sum over n of exp((%0 - %1)) [outer inner]
	// %3 = input GY [outer n inner]
	// %4 = sum over n of -((exp((%0 - %1)) * ((1 / %2) / %2)) * %3) [outer inner]
	// DX [outer n inner] = (((exp((%0 - %1)) * (1 / %2)) * %3) + (exp((%0 - %1)) * %4))
}
