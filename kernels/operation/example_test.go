package operation_test

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// The exponentials of the elements of an argument, in another.
func Example() {
	x, y := kernels.NewHostBuffer(kernels.Float32, 6), kernels.NewHostBuffer(kernels.Float32, 6)
	args := []kernels.Arg{kernels.BufferArg(x, 0, 6), kernels.BufferArg(y, 0, 6)}
	var op kernels.Op = &operation.Map{Dims: []int{6}, Operands: []kernels.View{kernels.ViewOf(args, 0, 0, 1)},
		Results: []operation.Result{{Function: fn.Exp, View: kernels.ViewOf(args, 1, 0, 1)}}}
	reads, writes := op.Views()
	fmt.Println(reads[0].Arg, writes[0].Arg, writes[0].Type)
	// Output: 0 1 float32
}
