package compose

import "slices"

// Trace is the sum of the diagonal of a matrix.
func Trace[T Array[T]](x T) T {
	if x.Rank() != 2 {
		misuse(Shape, "only a matrix has a trace")
	}
	return x.Diagonal(0, 0, 1).Sum()
}

// Kron is the Kronecker product: y times each element of x in its place. Missing axes of one are of 1.
func Kron[T Array[T]](x, y T) T {
	a, b := x.Shape(), y.Shape()
	rank := max(len(a), len(b))
	a = append(slices.Repeat([]int{1}, rank-len(a)), a...)
	b = append(slices.Repeat([]int{1}, rank-len(b)), b...)
	wide, fine, whole := []int{}, []int{}, []int{}
	for i := range rank {
		wide, fine, whole = append(wide, a[i], 1), append(fine, 1, b[i]), append(whole, a[i]*b[i])
	}
	return x.Reshape(wide...).Mul(y.Reshape(fine...)).Reshape(whole...)
}

// Cdist is the distances, by the p-norm, of the rows of x [..., n, d] from those of y [..., m, d]: [..., n, m].
func Cdist[T Array[T]](x, y T, p float64) T {
	a, b := x.Shape(), y.Shape()
	if len(a) < 2 || len(b) < 2 || a[len(a)-1] != b[len(b)-1] {
		misuse(Shape, "points are the rows of matrices with one number of columns")
	}
	return x.Unsqueeze(-2).Sub(y.Unsqueeze(-3)).Norm(p, -1)
}

// Normalize is x over its p-norm along an axis, and over eps where that is larger.
func Normalize[T Array[T]](x T, p float64, axis int, eps float64) T {
	a := axisOf(axis, x.Rank())
	return x.Div(x.Norm(p, a).Unsqueeze(a).MaxScalar(eps))
}
