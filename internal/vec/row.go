package vec

// rows are loops over all elements of a row: reductions, each with 32 sums beside each other that
// are joined by halves, and functions of a row and a number.
type rows[T Float] struct {
	sum, dot, maxNumber, product, max, min func(n int, x, y *T) T
	by                                     [functions]scaled[T]
}

// scaled sets n elements from to on to a function of those from x on and a number.
type scaled[T Float] func(n int, to, x *T, by T)

// sumBlock is how many elements a loop adds up in its vectors, whose lanes are running sums; the
// sums of blocks are added in pairs.
const sumBlock = 2048

// sumHalf returns about half of n elements, in whole blocks.
func sumHalf(n int) int { return (n/2 + sumBlock - 1) / sumBlock * sumBlock }

// Sum returns the sum of x, pairwise.
func (l *Loops[T]) Sum(x []T) T {
	switch n := len(x); {
	case n == 0:
		return 0
	case n > sumBlock:
		half := sumHalf(n)
		return l.Sum(x[:half]) + l.Sum(x[half:])
	}
	return l.rowLoops.sum(len(x), &x[0], &x[0])
}

// Dot returns the sum of x times y, which is at least as long, pairwise.
func (l *Loops[T]) Dot(x, y []T) T {
	if len(x) == 0 {
		return 0
	}
	_ = y[len(x)-1] // assembly knows no bounds
	if n := len(x); n > sumBlock {
		half := sumHalf(n)
		return l.Dot(x[:half], y[:half]) + l.Dot(x[half:], y[half:])
	}
	return l.rowLoops.dot(len(x), &x[0], &y[0])
}

// Max returns the largest element of x, which has one, that is a number; −∞ if none is.
func (l *Loops[T]) Max(x []T) T { return l.rowLoops.maxNumber(len(x), &x[0], &x[0]) }

// Reduce returns what f, which is Add, Mul, Max or Min, makes of the elements of x, of which there
// is one at least: sums and products pairwise.
func (l *Loops[T]) Reduce(f Function, x []T) T {
	switch f {
	case Add:
		return l.Sum(x)
	case Max:
		return l.rowLoops.max(len(x), &x[0], &x[0])
	case Min:
		return l.rowLoops.min(len(x), &x[0], &x[0])
	}
	if n := len(x); n > sumBlock {
		half := sumHalf(n)
		return l.Reduce(f, x[:half]) * l.Reduce(f, x[half:])
	}
	return l.rowLoops.product(len(x), &x[0], &x[0])
}

// MapBy sets the elements of to to f of those of x, which is at least as long, and of a number. f
// is Add, Sub, Mul or Div.
func (l *Loops[T]) MapBy(f Function, to, x []T, by T) {
	if len(to) == 0 {
		return
	}
	_ = x[len(to)-1]
	l.rowLoops.by[f](len(to), &to[0], &x[0], by)
}

// Scratch is memory for a row, which is kept from use to use.
type Scratch[T Float] struct{ V []T }

// Scratch returns room for n elements, until it is handed to Return.
func (l *Loops[T]) Scratch(n int) *Scratch[T] {
	r, _ := l.scratchPool.Get().(*Scratch[T])
	if r == nil {
		r = new(Scratch[T])
	}
	if cap(r.V) < n {
		r.V = make([]T, n)
	}
	r.V = r.V[:n]
	return r
}

// Return takes back what Scratch gave.
func (l *Loops[T]) Return(r *Scratch[T]) { l.scratchPool.Put(r) }

// Rows of a matrix are cols elements; one begins stride elements after the one before. A stride of
// 0 is one row again and again.

// SumRows sets to to the sums of as many rows of x.
func (l *Loops[T]) SumRows(to, x []T, cols, stride int) {
	if cols == 0 || cols > sumBlock {
		for r := range to {
			to[r] = l.Sum(x[r*stride:][:cols])
		}
		return
	}
	f := l.rowLoops.sum
	for r := range to {
		row := x[r*stride:][:cols]
		to[r] = f(cols, &row[0], &row[0])
	}
}

// DotRows sets to to the sums of products of rows of x and y.
func (l *Loops[T]) DotRows(to, x, y []T, cols, xStride, yStride int) {
	if cols == 0 || cols > sumBlock {
		for r := range to {
			to[r] = l.Dot(x[r*xStride:][:cols], y[r*yStride:][:cols])
		}
		return
	}
	f := l.rowLoops.dot
	for r := range to {
		a, b := x[r*xStride:][:cols], y[r*yStride:][:cols]
		to[r] = f(cols, &a[0], &b[0])
	}
}

// MaxRows sets to to the [Loops.Max] of rows of x, which have an element.
func (l *Loops[T]) MaxRows(to, x []T, cols, stride int) {
	f := l.rowLoops.maxNumber
	for r := range to {
		row := x[r*stride:][:cols]
		to[r] = f(cols, &row[0], &row[0])
	}
}

// MapByRows is [Loops.MapBy] of as many rows as by has numbers, one for each.
func (l *Loops[T]) MapByRows(f Function, to, x, by []T, cols, toStride, xStride int) {
	if cols == 0 {
		return
	}
	loop := l.rowLoops.by[f]
	for r, v := range by {
		a, b := to[r*toStride:][:cols], x[r*xStride:][:cols]
		loop(cols, &a[0], &b[0], v)
	}
}
