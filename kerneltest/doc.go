// Package kerneltest runs kernels on a device beside their host kernels: for the tests of a package
// that brings kernels, and for a person who wants to know whether a device can be trusted.
//
// A kernel says in [kernels.Kernel.Cases] with which operands it is tested:
//
//	k.Cases = kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -1, 1).Special().Out(n).Int(n) })
//
// A test of its package calls [All] on each device and for each type of floats:
//
//	d, err := tensor.Open("auto", tensor.Options{SkipSelfTest: true})
//	err = kerneltest.All(d, false, k)
//
// That holds results to the host kernel within the kernel's tolerance, and finds writes outside the
// outputs. It holds what a kernel says of itself, with [kernels.Kernel.Semantics], to the host kernel as
// well. Under Oclgrind, it finds races and reads outside buffers, too.
package kerneltest
