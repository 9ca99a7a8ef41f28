// Package linalg is linear algebra of batches of small matrices, with gradients: factorisations, and
// what they solve. Its functions are those of torch.linalg by their names.
//
//	l := linalg.Cholesky(a)                                  // [batch, n, n]
//	x := linalg.Solve(a, b)                                  // A·X = B
//	u, s, vh := linalg.SVD(a, linalg.SVDOptions{Reduced: true})
//	loss := x.Square().Sum().Add(s.Sum())
//
// An operand is a node of shape [..., m, n]: a matrix, or a batch of them. [autograd.Const] makes
// one of a tensor. Operands are of float32 or float64, and computed in their type; convert others
// with To.
//
// Nothing is read back to the host, so that every function can be recorded. A matrix without the
// result, which is an error in PyTorch, gives NaN for itself alone: one that is not positive definite
// in [Cholesky], one that is singular in [Solve] and [Inv], and one with NaN or an infinity in [SVD]
// and [Eigh]. The exception are factorisations of more than 512 rows or columns: the host computes
// these in float64, which a recorded step refuses.
//
// Gradients are made of these functions and of products, and have gradients themselves.
package linalg
