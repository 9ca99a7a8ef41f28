package vec

import "unsafe"

// deviationLoops add up how much rows differ from one: see [Loops.Deviations].
type deviationLoops[T Float] struct {
	sums, squares func(n int, sums, squares, from, x *T, stride int) // of four rows
}

// Deviations adds to sums how much rows of x, which begin stride elements apart, differ from one, of one row after the
// other: sums += x − from. Where squares is not nil, it adds the squares of that to it, with one rounding each.
func (l *Loops[T]) Deviations(sums, squares, from, x []T, rows, stride int) {
	n, loop := len(sums), l.deviations.sums
	if squares != nil {
		loop = l.deviations.squares
	}
	if n == 0 || rows == 0 {
		return
	}
	_ = x[(rows-1)*stride:][:n] // assembly knows no bounds
	for ; loop != nil && rows >= 4; rows -= 4 {
		var square *T
		if squares != nil {
			square = &squares[:n][0]
		}
		loop(n, &sums[0], square, &from[:n][0], &x[0], stride*int(unsafe.Sizeof(x[0])))
		if rows == 4 {
			return
		}
		x = x[4*stride:]
	}
	l.deviationsByMaps(sums, squares, from, x, rows, stride)
}

// deviationsByMaps is Deviations where there is no loop for it, or no four rows are left.
func (l *Loops[T]) deviationsByMaps(sums, squares, from, x []T, rows, stride int) {
	room := l.Scratch(len(sums))
	defer l.Return(room)
	d := room.V[:len(sums)]
	for k := range rows {
		l.Map(Sub, d, x[k*stride:][:len(d)], from, d, d)
		l.Map(Add, sums, sums, d, sums, sums)
		if squares != nil {
			l.Map(FMA, squares, d, d, squares, squares)
		}
	}
}
