package fused_test

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// What a launch computes, in words that programs read: here a leaky ReLU of a matrix that lies transposed.
func Example() {
	k := fused.Map(fn.LeakyReLU.Alone(), kernels.Float32,
		fused.AccessPattern{Rank: 2, Steps: [fused.MapTensors]fused.Access{fused.Strided}})
	x, y := kernels.NewHostBuffer(kernels.Float32, 6), kernels.NewHostBuffer(kernels.Float32, 6)
	args := []kernels.Arg{kernels.BufferArg(x, 0, 6), kernels.BufferArg(y, 0, 6),
		kernels.IntArg(3), kernels.IntArg(2), // 2 rows of 3
		kernels.IntArg(1), kernels.IntArg(2), kernels.IntArg(3), kernels.FloatArg(0.1)}
	for _, op := range k.Semantics(args) {
		m := op.(*operation.Map)
		fmt.Println(m.Dims, m.Operands[0].Strides)
		for _, r := range m.Results {
			fmt.Println(r.Function.Name, r.View.Strides, k.Params[r.Scalars[0].Arg].Name)
		}
	}
	// Output:
	// [2 3] [1 2]
	// leaky_relu [3 1] s0
}
