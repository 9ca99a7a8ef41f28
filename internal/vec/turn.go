package vec

// turn transposes blocks of some rows, n elements of each: element (i, j) of to, i·toRow + j, becomes element (j, i) of from,
// j·fromRow + i. n is a multiple of steps, but not 0.
type turn[T Float] struct {
	rows, steps int
	block       func(n int, to *T, toRow int, from *T, fromRow int)
}

// run transposes rows of n elements. Element (i, j) of to, i·toRow + j, becomes element (j, i) of from, j·fromRow + i.
func (t *turn[T]) run(to []T, toRow int, from []T, fromRow, n, rows int) {
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
	for ; j < rows; j++ {
		for i, v := range from[j*fromRow:][:n] {
			to[i*toRow+j] = v
		}
	}
}
