package fn_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels/fn"
)

// A function has a value and a gradient for each operand, which takes the operands, the value and the gradient of it.
func Example() {
	y := fn.LeakyReLU.At([]float64{0.25}, -2)
	g := fn.LeakyReLU.Gradient(0).At([]float64{0.25}, -2, y, 1)
	fmt.Println(y, g)
	// Output: -0.5 0.25
}
