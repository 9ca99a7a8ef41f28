package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// sumIntColumns adds up lines of ints [outer, n, inner], inner above 1, row by row, four at a time: neighbours lie in
// one line of the cache. Sums of ints do not depend on the order.
func sumIntColumns[T element](c kernels.HostArgs[T]) {
	x, y := c.Floats(0), kernels.Elements[int64](c, 1)
	outer, n, inner, parts, chunk, apart := c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7) != 0
	const wide = 1024 // columns whose sums stay in the first cache
	blocks := intmath.CeilDiv(inner, wide)
	c.Parallel(outer*parts*blocks, min(n, chunk)*min(inner, wide), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			line, first := u/blocks, u%blocks*wide
			last, part := min(inner, first+wide), line%parts
			row := func(k int) []T {
				at := (line/parts*n + k) * inner
				return x[at+first : at+last]
			}
			k, end, step := min(n, part*chunk), min(n, (part+1)*chunk), 1
			if apart {
				k, end, step = part, n, parts
			}
			sums := y[line*inner+first : line*inner+last]
			clear(sums)
			for ; k+3*step < end; k += 4 * step {
				addFour(sums, row(k), row(k+step), row(k+2*step), row(k+3*step))
			}
			for ; k < end; k += step {
				for i, v := range row(k) {
					sums[i] += int64(v)
				}
			}
		}
	})
}

// addFour adds four rows to sums.
func addFour[T element](sums []int64, a, b, c, d []T) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i, v := range a {
		sums[i] += int64(v) + int64(b[i]) + int64(c[i]) + int64(d[i])
	}
}
