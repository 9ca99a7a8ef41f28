// Package kernels says what a kernel is: its OpenCL source, the specification of its entry point,
// and a host kernel in Go that runs the same computation without OpenCL.
//
// A [Kernel] names an entry point, in a text of its own or in one of the files of package cl, its
// parameters, the work-items it is launched over and how far a device may differ from the host kernel. An
// element-wise function is a formula, a [Function]: its kernels, host kernels and gradients are made from that.
// Several that a launch computes together are [FusedElementwise]: those may read indices, random words and
// operands by index. The package knows nothing of tensors or of how OpenCL runs.
//
// A kernel of one's own, run on the host:
//
//	double := &kernels.Kernel{Name: "double", Text: `// @depends: common
//	kernel void double(IN(X), OUT(Y), int n) {
//		int i = get_global_id(0);
//		if (i < n) Y[Y_off + i] = 2 * X[X_off + i];
//	}
//	`,
//		Params: []kernels.Param{{"X", kernels.In}, {"Y", kernels.Out}, {"n", kernels.IntParam}},
//		Grid:   kernels.GridFromArg(2),
//		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
//			for i, v := range c.Floats(0) {
//				c.Floats(1)[i] = 2 * v
//			}
//		}}}
//	x, y := []float32{-2, 0, 3}, make([]float32, 3)
//	double.Run(kernels.Float32, []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(x), 0, 3),
//		kernels.BufferArg(kernels.HostBufferOf(y), 0, 3), kernels.IntArg(3)})
//
// A kernel may say what its launches compute, with [Kernel].Semantics: as Ops, which are in
// package operation. What rewrites recorded launches into fewer reads nothing else.
// Kernels of any package describe themselves that way, and one that does not is opaque: it runs and is
// recorded as it is. Package kerneltest holds descriptions to the host kernels.
//
// Words: an entry point is a kernel function; a variant is the source it is built from on one kind
// of device; a host kernel is its equivalent in Go; float is the floating-point type of a device, float32
// or float64.
//
// Stability: what a package needs that brings its own operations, from [Kernel] and [Function] to
// [HostBuffer], stays within a minor version. [Op] promises nothing: others may be added.
package kernels
