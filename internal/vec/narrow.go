package vec

// tallest is the most columns that there are tall blocks of.
const tallest = 4

// tall computes a block of C of so many rows, whose vectors go down them: k steps of the sum.
// Element (k, j) of B is k·stepB + j·columnB, element (i, j) of C is i + j·rows.
type tall[T Float] struct {
	rows  int
	block func(k int, a *T, distance int, b *T, stepB, columnB int, c *T)
}

// talls are the tall blocks, by the number of columns. Element (i, k) of A is i + k·distance for
// direct, i·distance + k for turned blocks, which take some steps of the sum at least.
type talls[T Float] struct{ direct, transposed [tallest]tall[T] }

// narrow is a product with few columns or few rows, in which case it is computed as its transpose:
// many rows of few columns. Element (i, j) of C is i·rowC + j·columnC.
type narrow[T Float] struct {
	*Product[T]
	tall[T]
	many, few      int
	a, b           []T
	row, step      int // of A
	stepB, columnB int
	rowC, columnC  int
}

// from makes n of a product, and reports whether tall blocks are to compute it.
func (n *narrow[T]) from(l *Loops[T], p *Product[T]) bool {
	if min(p.M, p.N) > tallest || p.K == 0 {
		return false
	}
	*n = narrow[T]{Product: p, many: p.M, few: p.N, a: p.A, row: p.RowA, step: p.StepA, b: p.B, stepB: p.StepB, columnB: p.ColumnB, rowC: p.RowC, columnC: 1}
	if p.M < p.N {
		*n = narrow[T]{Product: p, many: p.N, few: p.M, a: p.B, row: p.ColumnB, step: p.StepB, b: p.A, stepB: p.StepA, columnB: p.RowA, rowC: 1, columnC: p.RowC}
	}
	if n.row == 1 {
		n.tall = l.tall.direct[n.few-1]
	} else if last := p.K % run; last == 0 || last >= l.transposer.steps {
		n.tall = l.tall.transposed[n.few-1]
	}
	return n.rows > 0 && n.many >= n.rows
}

// narrowProduct computes it, shared out by each.
func (t *task[T]) narrowProduct(each func(n, min int, f func(lo, hi int))) {
	n := &t.narrow
	tiles := (n.many + n.rows - 1) / n.rows
	if each == nil {
		t.tiles(0, tiles)
	} else {
		each(tiles, max(1, minTaskWork/(n.rows*n.few*n.K)), t.tiles)
	}
	if n.End != nil && n.columnC != 1 {
		n.End(0, n.M)
	}
}

// tiles computes some tiles of C.
func (l *Loops[T]) tiles(n *narrow[T], lo, hi int) {
	first, end := lo*n.rows, min(hi*n.rows, n.many)
	if n.columnC == 1 {
		n.begin(first, end, 0, n.N)
	} else {
		n.begin(0, n.M, first, end)
	}
	s := l.scratch()
	defer l.pool.Put(s)
	for ; first < end; first += n.rows {
		// The last tile, if it is not whole, is computed with rows of the one before, which are not
		// stored again.
		from := min(first, n.many-n.rows)
		add := n.Add || len(n.Bias) > 0
		for k := 0; k < n.K; k += run {
			n.block(min(run, n.K-k), &n.a[from*n.row+k*n.step], max(n.row, n.step), &n.b[k*n.stepB], n.stepB, n.columnB, &s.cut[0])
			for j := range n.few {
				sums := s.cut[j*n.rows:][first-from : n.rows]
				to := n.C[first*n.rowC+j*n.columnC:]
				for i, v := range sums {
					if add {
						v += to[i*n.rowC]
					}
					to[i*n.rowC] = v
				}
			}
			add = true
		}
	}
	if n.End != nil && n.columnC == 1 {
		n.End(lo*n.rows, end)
	}
}
