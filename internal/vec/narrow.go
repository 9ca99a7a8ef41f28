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
	read           Reader[T] // instead of a
	row, step      int       // of A
	stepB, columnB int
	rowC, columnC  int
	wide           []T // memory for a B that is read
}

// from makes n of a product, and reports whether tall blocks are to compute it.
func (n *narrow[T]) from(l *Loops[T], p *Product[T]) bool {
	if min(p.M, p.N) > tallest || p.K == 0 {
		return false
	}
	wide := n.wide
	readB := p.ReadB
	*n = narrow[T]{Product: p, many: p.M, few: p.N, a: p.A, read: p.ReadA, row: p.RowA, step: p.StepA,
		b: p.B, stepB: p.StepB, columnB: p.ColumnB, rowC: p.RowC, columnC: 1}
	if p.M < p.N {
		readB = p.ReadA
		*n = narrow[T]{Product: p, many: p.N, few: p.M, a: p.B, read: p.ReadB, row: p.ColumnB, step: p.StepB,
			b: p.A, stepB: p.StepA, columnB: p.RowA, rowC: 1, columnC: p.RowC}
	}
	if n.row == 1 {
		n.tall = l.tall.direct[n.few-1]
	} else if last := p.K % run; last == 0 || last >= l.transposer.steps {
		n.tall = l.tall.transposed[n.few-1]
	}
	n.wide = wide
	if n.rows == 0 || n.many < n.rows {
		return false
	}
	if readB != nil {
		n.readFew(readB)
	}
	return true
}

// readFew reads all of B, and keeps the memory for the next product.
func (n *narrow[T]) readFew(read Reader[T]) {
	if cap(n.wide) < n.few*n.K {
		n.wide = make([]T, n.few*n.K)
	}
	n.b = n.wide[:n.few*n.K]
	if n.stepB == 1 {
		read(n.b, n.K, 0, n.columnB, n.few, n.K)
		n.columnB = n.K
		return
	}
	read(n.b, n.few, 0, n.stepB, n.K, n.few)
	n.stepB = n.few
}

// tile returns where the rows of A from one on begin, for some steps from k on, how far its lines are apart,
// and how far its rows.
func (n *narrow[T]) tile(s *scratch[T], from, rows, k, steps int) (a []T, distance, row int) {
	first, distance := from*n.row+k*n.step, n.row
	if n.row == 1 {
		distance = n.step
	}
	if n.read == nil {
		return n.a[first:], distance, n.row
	}
	lines, length := steps, rows
	if n.row != 1 {
		lines, length = rows, steps
	}
	a = s.pack(lines * (length + gap))
	n.read(a, length+gap, first, distance, lines, length)
	if n.row != 1 {
		return a, length + gap, length + gap
	}
	return a, length + gap, 1
}

// readRows returns how many rows are read at a time: those of several tiles where they are neighbours, in longer lines.
func (n *narrow[T]) readRows() int {
	if n.read == nil || n.row != 1 {
		return n.rows
	}
	return max(1, readColumns/n.rows) * n.rows
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
	for some := n.readRows(); first < end; first += some {
		past, add := min(first+some, end), n.Add || len(n.Bias) > 0
		for k := 0; k < n.K; k += run {
			// The last tile, if it is not whole, is computed with rows of the one before, which are not
			// stored again.
			begin, steps := min(first, n.many-n.rows), min(run, n.K-k)
			a, distance, row := n.tile(s, begin, max(past-begin, n.rows), k, steps)
			for at := first; at < past; at += n.rows {
				from := min(at, n.many-n.rows)
				n.block(steps, &a[(from-begin)*row], distance, &n.b[k*n.stepB], n.stepB, n.columnB, &s.cut[0])
				for j := range n.few {
					sums := s.cut[j*n.rows:][at-from : n.rows]
					to := n.C[at*n.rowC+j*n.columnC:]
					for i, v := range sums {
						if add {
							v += to[i*n.rowC]
						}
						to[i*n.rowC] = v
					}
				}
			}
			add = true
		}
	}
	if n.End != nil && n.columnC == 1 {
		n.End(lo*n.rows, end)
	}
}
