// Package tensor is n-dimensional arrays on a device, and eager operations on them, which are
// kernel launches: one for most, none for views of the same elements, two or more for large sums,
// for products whose sums are split and for non-contiguous operands, which are copied first. It
// computes no gradients; package autograd does.
//
//	d, err := tensor.Open("auto") // a GPU, else an OpenCL CPU, else plain Go
//	x := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
//	centred := x.Sub(x.Mean(-1, tensor.Keepdims))
//	values, err := centred.Float32s()
//
// A [Device] is either an OpenCL device or "cpu", which runs the kernels' host kernels. A [Tensor] is a
// view (shape, strides, offset) of reference-counted storage on one device. Reshaping, transposing,
// slicing and expanding share storage; the in-place methods, whose names end in InPlace, write
// through it.
//
// The elements of a tensor are of one [Type]: floats of 32 or 64 bits, integers of 32 or 8, or float16,
// which stores. Operations on several types compute in the one that [Type] says, [Tensor.To] converts.
//
// Memory is released when [Tensor.Free] is called on the last view of a storage, or at the end of a
// [Scope]. The garbage collector is only the net under that.
//
// Misuse (shapes, axes, freed tensors, tensors of two devices) panics with an *[Error]; [Try] turns
// that into an error. A failure of the machine is a sticky error of the Device: later launches are
// skipped, and every function that returns results to the host returns it.
//
// A Device and its tensors belong to one goroutine at a time.
//
// Words: rank is the number of axes; a shape lists their dimensions; an axis may be counted from
// the end (−1 is the last); row-major (C) order has the last axis vary fastest.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package tensor
