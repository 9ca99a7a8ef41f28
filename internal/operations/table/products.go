//go:build ignore

package table

// MatMul returns the matrix product
//
//	c[…, i, j] = Σ_k x[…, i, k]·w[…, k, j]
//
// of x […, m, k] and w […, k, n]: of two matrices, or of batches of them, whose leading axes
// broadcast by NumPy's rule. An x of one axis is a row, a w of one axis a column, and the product
// has no axis for it: of two, it is their Dot. Transposed views of the last two axes, and axes that
// are repeated, are read in place. A batch is one launch, or, where its axes cannot be joined to
// three, several. One of integers is converted to floats. It panics with ErrShape, also for a
// scalar, and with ErrType if both are of integers. Error: at most max(8192, m·n/(m+n)) products
// are added one after the other; longer sums are of slices, which are added as [Tensor.Sum] does.
//
// Gradients: g·wᵀ and xᵀ·g, summed over the axes along which an operand was repeated, which is part
// of the product.
//
//op:torch torch.matmul
//op:autocast low
func (x T) MatMul(w T) T

// Dot returns the scalar Σ_i x[i]·w[i] of two tensors of one axis and one length. Of no elements it
// is 0. One of integers is converted to floats. It panics with ErrShape, and with ErrType if both
// are of integers.
//
// Gradients: w·g, x·g.
//
//op:torch torch.dot
func (x T) Dot(w T) T

// Outer returns the products x[i]·w[j] of two tensors of one axis, of shape [length of x, length of
// w]. It panics with ErrShape for other ranks.
//
// Gradients: g·w, gᵀ·x.
//
//op:torch torch.outer
func (x T) Outer(w T) T

// TensorDot returns the products of x and w summed over some axes of x, and as many of w, in pairs:
//
//	y[i…, j…] = Σ_k… x[i…, k…]·w[k…, j…]
//
// The result has the other axes of x, then those of w. Without axes it is the outer product. Of
// integers it is of integers. It panics with ErrAxis for an axis that is not there, or named twice,
// and with ErrShape unless those of a pair are of one length.
//
// Gradients are those of the transposes and of the product that it is made of.
//
//op:torch torch.tensordot
func (x T) TensorDot(w T, axes, of []int) T

// Einsum returns a sum of products in Einstein's notation: an equation such as "bik,bkj->bij" has a
// letter for each axis of each operand, and for those of the result; over all others it is summed.
// A letter that occurs twice in an operand is its diagonal, "..." stands for axes without a letter,
// which broadcast by NumPy's rule, and without "->" the result has the axes of "...", then the
// letters that occur once, in the order of the alphabet, capitals first. Axes of 1 are repeated
// where another operand wants more. Blanks do not count. The products are taken in the order of the
// fewest multiplications (of more than eight operands, of the smallest results), as matrix products
// where there is something to sum. Of integers it is of integers. The result may share elements
// with an operand. It panics with ErrShape unless the equation is one of operands of these shapes,
// or where it or every order of the products has more axes than a tensor, and with ErrValue if
// there are none.
//
// Gradients are those of the transposes, sums and products that it is made of.
//
//op:torch torch.einsum
//op:calls contract
//op:autocast low
func Einsum(equation string, operands ...T) T

// Trace returns the sum of the diagonal of a matrix. It panics with ErrShape for another rank.
//
// Gradient: g on the diagonal, else 0.
//
//op:torch torch.trace
//op:composed
func (x T) Trace() T

// Kron returns the Kronecker product: for each element of x, in its place, y times that. Missing axes of
// one are of 1. It panics with ErrShape if the result would be too large.
//
// Gradients are those of the product that it is made of.
//
//op:torch torch.kron
//op:composed
func (x T) Kron(y T) T

// Cdist returns the distances, by the p-norm, of the rows of x [..., n, d] from those of y [..., m, d]:
// [..., n, m]. Leading axes broadcast. The differences, of n·m·d elements, are made on the way. It panics
// with ErrShape, and with ErrValue for a p that is NaN.
//
// Gradients are those of the norm of differences, 0 for a distance of 0; for p = Inf, coordinates of
// equal distance share it.
//
//op:torch torch.cdist
//op:composed wide
//op:autocast float32
func (x T) Cdist(y T, p float64) T

//op:listed autograd.Bilinear torch.nn.functional.bilinear
//op:listed Linear torch.nn.functional.linear
//op:listed SquaredError torch.nn.functional.mse_loss(reduction="sum")
//op:listed OuterAccInPlace torch.Tensor.addmm_
