package compose

// Diag is the matrix with a vector on a diagonal, or the diagonal of a matrix. pad adds zeros to the last axis of x, or
// cuts them off where their number is negative.
func Diag[T Array[T]](x T, offset int, pad func(x T, before, after int) T) T {
	const most = 46340 // whose square is below 2³¹
	if x.Rank() == 2 {
		return pad(x.Diagonal(offset, 0, 1), 0, 0) // a copy
	}
	if x.Rank() != 1 {
		misuse(Shape, "it is of a vector or a matrix")
	}
	n := x.Shape()[0]
	if offset < -most || offset > most || n > most-max(offset, -offset) {
		misuse(Shape, "the matrix of %d elements %d beside its diagonal is too large", n, offset)
	}
	m := n + max(offset, -offset)
	first := max(offset, -offset*m) // of m·m places; element i is m + 1 behind the one before
	rows := pad(x.Unsqueeze(1), 0, m).Reshape(n * (m + 1))
	return pad(rows, first, m*m-n*(m+1)-first).Reshape(m, m)
}
