package kernels_test

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
)

// A row of the table of functions has its kernel, and its kernel a twin that runs without a device.
func Example() {
	x, y := []float32{-2, 0, 3}, make([]float32, 3)
	k := kernels.LeakyReLU.Forward()
	for _, p := range k.Params {
		fmt.Print(p.Name, " ")
	}
	fmt.Println("of", k.Name)
	k.Run(kernels.Float32, []kernels.Arg{kernels.Vec(kernels.MemOf(x), 0, 3), kernels.Vec(kernels.MemOf(y), 0, 3),
		kernels.I(3), kernels.R(0.5), kernels.R(0)})
	fmt.Println(y)
	// Output:
	// X Y n a b of k_leaky_relu
	// [-1 0 3]
}

// The text that an OpenCL compiler gets: a kernel's own after the files that it depends on.
func ExampleKernel_Program() {
	k := &kernels.Kernel{Name: "k_mine", Text: "// @depends: common\nkernel void k_mine(OUT(Y)) { Y[0] = 1; }"}
	text, err := k.Program(kernels.Limits{})
	fmt.Println(strings.Count(text, "#line"), strings.Contains(text, "void k_mine("), err)
	// Output: 2 true <nil>
}
