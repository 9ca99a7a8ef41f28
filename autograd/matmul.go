package autograd

// MatMul returns the matrix product of x [m, k] and w [k, n]. It panics with tensor.ErrShape. Gradients: g·wᵀ, xᵀ·g.
func (x *Node) MatMul(w *Node) *Node {
	xv, wv := x.use("MatMul"), w.use("MatMul")
	y := xv.MatMul(wv)
	return Apply("MatMul", y, []*Node{x, w}, func(g *Node, in *Grads) {
		in.product(g, x, w)
	}, xv, wv)
}
