package kernels_test

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// A function has a kernel for each layout of its tensors, and the kernel a twin that runs without a device.
func Example() {
	x, y := []float32{-2, 0, 3}, make([]float32, 3)
	k := fn.LeakyReLU.Map(kernels.Float32, kernels.AccessPattern{Rank: 1})
	for _, p := range k.Params {
		fmt.Print(p.Name, " ")
	}
	fmt.Println("of", k.Name)
	k.Run(kernels.Float32, []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(x), 0, 3), kernels.BufferArg(kernels.HostBufferOf(y), 0, 3),
		kernels.IntArg(3), kernels.FloatArg(0.5)})
	fmt.Println(y)
	// Output:
	// X0 Y n s0 of k_leaky_relu
	// [-1 0 3]
}

// The text that an OpenCL compiler gets: a kernel's own after the files that it depends on.
func ExampleKernel_Program() {
	k := &kernels.Kernel{Name: "k_mine", Text: "// @depends: common\nkernel void k_mine(OUT(Y)) { Y[0] = 1; }"}
	text, err := k.Program(kernels.Target{})
	fmt.Println(strings.Count(text, "#line"), strings.Contains(text, "void k_mine("), err)
	// Output: 2 true <nil>
}

// What a launch computes, in words that programs read: here a leaky ReLU of a matrix that lies transposed.
func ExampleKernel_describe() {
	k := fn.LeakyReLU.Map(kernels.Float32, kernels.AccessPattern{Rank: 2, Steps: [kernels.MapTensors]kernels.Access{kernels.Strided}})
	x, y := kernels.NewHostBuffer(kernels.Float32, 6), kernels.NewHostBuffer(kernels.Float32, 6)
	args := []kernels.Arg{kernels.BufferArg(x, 0, 6), kernels.BufferArg(y, 0, 6), kernels.IntArg(3), kernels.IntArg(2), // 2 rows of 3
		kernels.IntArg(1), kernels.IntArg(2), kernels.IntArg(3), kernels.FloatArg(0.1)}
	for _, op := range k.Describe(args) {
		m := op.(*kernels.Map)
		fmt.Println(m.Dims, m.Operands[0].Strides)
		for _, r := range m.Results {
			fmt.Println(r.Function.Name, r.View.Strides, k.Params[r.Scalars[0].Arg].Name)
		}
	}
	// Output:
	// [2 3] [1 2]
	// leaky_relu [3 1] s0
}
