package kernels_test

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
)

// A function has a kernel for each layout of its tensors, and the kernel a twin that runs without a device.
func Example() {
	x, y := []float32{-2, 0, 3}, make([]float32, 3)
	k := kernels.LeakyReLU.Map(kernels.Float32, kernels.Layout{Rank: 1})
	for _, p := range k.Params {
		fmt.Print(p.Name, " ")
	}
	fmt.Println("of", k.Name)
	k.Run(kernels.Float32, []kernels.Arg{kernels.Vec(kernels.MemOf(x), 0, 3), kernels.Vec(kernels.MemOf(y), 0, 3),
		kernels.I(3), kernels.R(0.5)})
	fmt.Println(y)
	// Output:
	// X0 Y n s0 of k_leaky_relu
	// [-1 0 3]
}

// The text that an OpenCL compiler gets: a kernel's own after the files that it depends on.
func ExampleKernel_Program() {
	k := &kernels.Kernel{Name: "k_mine", Text: "// @depends: common\nkernel void k_mine(OUT(Y)) { Y[0] = 1; }"}
	text, err := k.Program(kernels.Limits{})
	fmt.Println(strings.Count(text, "#line"), strings.Contains(text, "void k_mine("), err)
	// Output: 2 true <nil>
}
