// Package lower makes kernels of row programs, which package kernels/ir defines: OpenCL C for CPUs
// and for GPUs, the vector loops of the Go device, and the description by which recordings know
// them. Sizes are arguments: a kernel is made once for a program.
//
// A program is computed in passes over a line. A pass ends where a reduction needs all elements;
// what is the same for a whole line is computed between passes. Softmax has three:
//
//	pass 0   m = max x
//	pass 1   e = exp(x − m); s = Σ e
//	between  r = 1/s
//	pass 2   y = e·r
package lower
