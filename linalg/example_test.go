package linalg_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/linalg"
	"github.com/clgrad/clgrad/tensor"
)

// A system of equations, and the gradient of its solution.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	a := autograd.Param(tensor.New(d, []float32{2, 1, 1, 3}, 2, 2), "a")
	b := autograd.Const(tensor.New(d, []float32{3, 5}))
	x := linalg.Solve(a, b)
	fmt.Println(x.Value().Float32s())
	if err := x.Sum().Backward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Grad().Float32s())
	// Output:
	// [0.8 1.4] <nil>
	// [-0.32000002 -0.56 -0.16000001 -0.28] <nil>
}
