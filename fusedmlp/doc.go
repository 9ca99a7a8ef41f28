// Package fusedmlp trains perceptrons in fused steps: one kernel does the forward pass, the loss
// and the backward pass.
//
// It is for small networks of dense layers, as they are trained on coordinates, tables and
// encodings. Layer by layer, a step of such a network is tens of launches, each of which takes
// longer to start than to compute; fused, it is two: the kernel leaves the gradient in partial
// sums, one for each group of samples, and AdamW adds these up where it reads them.
//
// A program does not call the package. It links it, which package nn does for every program that
// imports that:
//
//	import _ "github.com/clgrad/clgrad/fusedmlp"
//
// Then [replay.Record] looks for perceptrons among the launches of a recorded step. Its Report says
// how many it fused and why it did not fuse others. Without the package those steps run layer by
// layer.
//
// What a fused step may have:
//
//	layers        2 to 8, each x·w, with a bias or without
//	width         1 to 128 outputs of a layer, 1 to 256 inputs
//	activations   any formula of the layer's result, and of what earlier layers read: residual and dense connections
//	loss          any formula of an output and its target, summed or averaged; cross-entropy with labels
//	optimizer     AdamW in the same launch that adds up the gradient; any other, with a launch more
//	types         float32 and float64; on the matrix units of GPUs, float32 in the device's precision
//	device        the Go device, OpenCL CPUs, GPUs with 48 KiB of local memory
//
// Parameters must lie in memory as one optimizer lays them out, each with a gradient. A gradient is
// summed in another order than layer by layer: results differ by roundings, and are the same from
// run to run.
//
// There are two families of kernels. Networks with hidden layers of one width, a multiple of 16,
// with a leaky ReLU, and an output layer without bias have kernels in .cl files (mlp_*.cl); for all
// others OpenCL C is generated. CLGRAD_KERNEL_PATH replaces a kernel's file as it does those of
// package kernels, if the files that it depends on are in the folder, too.
//
// [replay.Record]: https://pkg.go.dev/github.com/clgrad/clgrad/replay#Record
package fusedmlp
