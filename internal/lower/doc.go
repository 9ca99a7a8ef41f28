// Package lower makes kernels of row programs, which package kernels/ir defines: OpenCL C for CPUs
// and for GPUs, and Go code that runs [ir.Machine]. Sizes are arguments, so a program has one kernel.
//
// A program is computed in passes over a line. A pass ends where a reduction needs all elements;
// what is the same for a whole line is computed between passes. Softmax has three:
//
//	pass 0   m = max x
//	pass 1   e = exp(x − m); s = Σ e
//	between  r = 1/s
//	pass 2   y = e·r
package lower
