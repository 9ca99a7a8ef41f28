package selftest_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// The operands of a launch of 5 elements, all drawn but for the result and the number of them.
func Example() {
	params := []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}}
	x := kernels.NewHostBuffer(kernels.Float32, 5)
	for _, o := range selftest.OperandsLike(params, []kernels.Arg{kernels.BufferArg(x, 0, 5), kernels.BufferArg(x, 0, 5),
		kernels.IntArg(5)}) {
		fmt.Println(o.N, o.Lo, o.Hi, o.Blank, o.Number)
	}
	// Output:
	// 5 -1 1 false 0
	// 5 0 0 true 0
	// 0 0 0 false 5
}
