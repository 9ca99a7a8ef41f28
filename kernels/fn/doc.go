// Package fn has the element-wise functions: formulas with their gradients, of which package
// kernels makes kernels. A layer computes one in the launch of its product, and [tensor.Map]
// applies any [kernels.Function]:
//
//	h := x.Linear(w, b, fn.GELU)
//
// The operations of packages tensor and autograd document them: Tensor.GELU is that of [GELU].
// Values at kinks and ties are stated there.
//
// Stability: names and values stay within a minor version; functions are added.
//
// [tensor.Map]: https://pkg.go.dev/github.com/clgrad/clgrad/tensor#Map
package fn
