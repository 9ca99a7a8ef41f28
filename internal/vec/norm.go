package vec

// normLoops are steps of norms that read and write a row once: see [Loops.SubSum], [Loops.SubSquares] and
// [Loops.ScaledFMA].
type normLoops[T Float] struct {
	subSum, subSquares func(n int, to, x *T, by T) T
	scaledFMA          func(n int, to, x *T, by T, w, b *T)
}

// SubSum sets to to x − by, and returns the sum of that: the bits of MapBy and Sum. to may be x.
func (l *Loops[T]) SubSum(to, x []T, by T) T {
	if l.norms.subSum == nil {
		l.MapBy(Sub, to, x, by)
		return l.Sum(to)
	}
	return pairwise(l.norms.subSum, to, x[:len(to)], by)
}

// SubSquares sets to to x − by, and returns the sum of the squares of that: the bits of MapBy and Dot. to may be x.
func (l *Loops[T]) SubSquares(to, x []T, by T) T {
	if l.norms.subSquares == nil {
		l.MapBy(Sub, to, x, by)
		return l.Dot(to, to)
	}
	return pairwise(l.norms.subSquares, to, x[:len(to)], by)
}

// pairwise adds up what f returns of blocks, as Sum does.
func pairwise[T Float](f func(n int, to, x *T, by T) T, to, x []T, by T) T {
	switch n := len(to); {
	case n == 0:
		return 0
	case n > sumBlock:
		half := sumHalf(n)
		return pairwise(f, to[:half], x[:half], by) + pairwise(f, to[half:], x[half:], by)
	}
	return f(len(to), &to[0], &x[0], by)
}

// ScaledFMA sets to to (x·by)·w + b: the bits of MapBy(Mul) and Map(FMA). to may be x.
func (l *Loops[T]) ScaledFMA(to, x []T, by T, w, b []T) {
	n := len(to)
	switch {
	case n == 0:
	case l.norms.scaledFMA == nil:
		l.MapBy(Mul, to, x, by)
		l.Map(FMA, to, to, w, b, to)
	default:
		l.norms.scaledFMA(n, &to[0], &x[:n][0], by, &w[:n][0], &b[:n][0])
	}
}
