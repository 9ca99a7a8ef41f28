package vec

import "unsafe"

// Transpose transposes rows of n elements of any type. Element (i, j) of to, i·toRow + j, becomes
// element (j, i) of from, j·fromRow + i. s may be nil: then it does so in a plain loop.
func Transpose[E any](s *Set, to []E, toRow int, from []E, fromRow, n, rows int) {
	if n <= 0 || rows <= 0 {
		return
	}
	switch size := unsafe.Sizeof(to[0]); {
	case s != nil && size == 2:
		s.halves.transposer.run(as[uint16](to), toRow, as[uint16](from), fromRow, n, rows)
	case s != nil && size == 4:
		s.single.transposer.run(as[float32](to), toRow, as[float32](from), fromRow, n, rows)
	case s != nil && size == 8:
		s.double.transposer.run(as[float64](to), toRow, as[float64](from), fromRow, n, rows)
	default:
		transpose(to, toRow, from, fromRow, n, rows)
	}
}

// as returns the memory of x as elements of another type of their size.
func as[T, E any](x []E) []T { return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x)) }

// transpose is Transpose in a plain loop.
func transpose[E any](to []E, toRow int, from []E, fromRow, n, rows int) {
	for j := range rows {
		for i, v := range from[j*fromRow:][:n] {
			to[i*toRow+j] = v
		}
	}
}

// transposer transposes blocks of some rows, n elements of each: element (i, j) of to, i·toRow + j,
// becomes element (j, i) of from, j·fromRow + i. n is a multiple of steps, but not 0.
type transposer[T any] struct {
	rows, steps int
	block       func(n int, to *T, toRow int, from *T, fromRow int)
}

// run transposes rows of n elements. Element (i, j) of to, i·toRow + j, becomes element (j, i) of
// from, j·fromRow + i.
func (t *transposer[T]) run(to []T, toRow int, from []T, fromRow, n, rows int) {
	j := 0
	if t.rows > 0 && n >= t.steps {
		whole := n / t.steps * t.steps
		for ; j+t.rows <= rows; j += t.rows {
			_, _ = from[(j+t.rows-1)*fromRow+n-1], to[(n-1)*toRow+j+t.rows-1] // assembly knows no bounds
			t.block(whole, &to[j], toRow, &from[j*fromRow], fromRow)
			for i := whole; i < n; i++ {
				for x := j; x < j+t.rows; x++ {
					to[i*toRow+x] = from[x*fromRow+i]
				}
			}
		}
	}
	if j < rows {
		transpose(to[j:], toRow, from[j*fromRow:], fromRow, n, rows-j)
	}
}
