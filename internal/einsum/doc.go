// Package einsum reads sums of products in Einstein's notation, as torch.einsum takes them, and
// computes them of whatever has axes, sums and products: of tensors and of nodes of a graph alike.
package einsum
