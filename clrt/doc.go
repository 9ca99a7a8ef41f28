// Package clrt runs OpenCL: platforms and devices, a command queue, a program cache, a buffer pool,
// launches and their profile. It knows what a kernel's source text and arguments are, and nothing
// of what a kernel computes.
//
//	devices, err := clrt.List()
//	gpu, err := clrt.Select(devices, "nvidia")
//	d, err := clrt.Open(gpu, clrt.Options{})
//
// With the build tag opencl and a C compiler it drives the OpenCL library that it finds when the
// program runs (libOpenCL.so.1, or the path in CLGRAD_OPENCL_LIB); neither an OpenCL SDK nor a link
// against the library is needed. Without the tag, [List] and [Open] return [ErrNotBuilt].
//
// Every function returns its errors as *[Error]; none panics on a failure of the machine.
//
// Stability: [Error], its statuses, [Info] and [List] stay within a minor version. The rest may
// change at any time.
package clrt
