package kernels_test

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
)

// double is Y = 2·X.
var double = &kernels.Kernel{Name: "double", Text: `// @depends: common
kernel void double(IN(X), OUT(Y), int n) {
	int i = get_global_id(0);
	if (i < n) Y[Y_off + i] = 2 * X[X_off + i];
}
`,
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}},
	Grid: kernels.GridFromArg(2),
	Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
		for i, v := range c.Floats(0) {
			c.Floats(1)[i] = 2 * v
		}
	}}}

// A kernel of one's own, of which the host kernel runs without a device.
func Example() {
	x, y := []float32{-2, 0, 3}, make([]float32, 3)
	double.Run(kernels.Float32, []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(x), 0, 3),
		kernels.BufferArg(kernels.HostBufferOf(y), 0, 3), kernels.IntArg(3)})
	fmt.Println(y)
	// Output: [-4 0 6]
}

// The text that an OpenCL compiler gets: a kernel's own after the files that it depends on.
func ExampleKernel_Program() {
	k := &kernels.Kernel{Name: "k_mine", Text: "// @depends: common\nkernel void k_mine(OUT(Y)) { Y[0] = 1; }"}
	text, err := k.Program(kernels.Target{})
	fmt.Println(strings.Count(text, "#line"), strings.Contains(text, "void k_mine("), err)
	// Output: 2 true <nil>
}
