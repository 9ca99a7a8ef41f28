// Package ops is the kernels of the library's own operations beyond the element-wise functions:
// their specifications, as package kernels has them, their host kernels in Go, and what chooses among them
// by shape and device.
package ops
