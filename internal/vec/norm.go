package vec

// normLoops are steps of norms, and of their gradients, that read and write a row once: see [Loops.SubSum] and those
// below.
type normLoops[T Float] struct {
	subSum, subSquares func(n int, to, x *T, by T) T
	scaledFMA          func(n int, to, x *T, by T, w, b *T)
	gradSums           func(n int, h, up, dw, db, x, g, w *T, mean, rstd T)
	grad               func(n int, to, up, h *T, mean, by, rstd T)
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

// NormGradSums sets h to (x − mean)·rstd and up to g·w, and adds g·h to dw and g to db.
func (l *Loops[T]) NormGradSums(h, up, dw, db, x, g, w []T, mean, rstd T) {
	n := len(h)
	switch {
	case n == 0:
	case l.norms.gradSums == nil:
		l.MapBy(Sub, h, x, mean)
		l.MapBy(Mul, h, h, rstd)
		l.Map(Mul, up, g, w, up, up)
		l.Map(FMA, dw, g, h, dw, dw)
		l.Map(Add, db, db, g, db, db)
	default:
		l.norms.gradSums(n, &h[0], &up[:n][0], &dw[:n][0], &db[:n][0], &x[:n][0], &g[:n][0], &w[:n][0], mean, rstd)
	}
}

// NormGrad sets to to ((up − mean) − h·by)·rstd, each step rounded. h is overwritten.
func (l *Loops[T]) NormGrad(to, up, h []T, mean, by, rstd T) {
	n := len(to)
	switch {
	case n == 0:
	case l.norms.grad == nil:
		l.MapBy(Mul, h, h, by)
		l.MapBy(Sub, to, up, mean)
		l.Map(Sub, to, to, h, to, to)
		l.MapBy(Mul, to, to, rstd)
	default:
		l.norms.grad(n, &to[0], &up[:n][0], &h[:n][0], mean, by, rstd)
	}
}
