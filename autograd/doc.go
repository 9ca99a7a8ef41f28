// Package autograd is reverse-mode automatic differentiation over package tensor.
//
// A [Node] holds a value and how it came about. Operations run at once and are recorded;
// [Node.Backward] walks the record backwards, adds to the gradient of every parameter that the
// value depends on, and frees the intermediate values on its way:
//
//	w := autograd.Param(value, "w")
//	loss := x.MatMul(w).Sub(y).Square().Sum()
//	err := loss.Backward()
//	// w.Grad() is ∂loss/∂w
//
// [Grad] returns gradients and leaves those of parameters alone. Both record how gradients are
// computed on request, so that these can be differentiated again, as often as one likes: for
// gradient penalties, Newton's method, products with a Hessian. [Node.Hook] shows a gradient as it
// passes, and may replace it. [DetectAnomalies] says which operation first made a NaN or an
// infinity, and where the program called it.
//
// [Node.Freeze] makes a constant of a parameter, until [Node.Unfreeze].
//
// Words: a leaf is a parameter or a constant; the graph of a node is everything it was computed
// from; g is the gradient of the final value with respect to a node, of the node's shape.
//
// Gradients at points where a function has none are stated with each operation. Shape and device
// misuse panics with a *tensor.Error, as in package tensor; tensor.Try turns that into an error.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package autograd
