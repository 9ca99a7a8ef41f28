package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// between returns the inputs of output q along an axis: i, and the one behind it with weight w, the
// same one with weight 0.
func (s *InterpolateShape) between(axis, q int) (i, next int, w float64) {
	in, out := int64(s.Size[axis]), int64(s.OutSize[axis])
	at, unit := int64(q)*in, out
	switch {
	case !s.Linear:
		i = int(at / unit)
		return i, i, 0
	case s.Align:
		at, unit = int64(q)*(in-1), max(out-1, 1)
	default:
		at, unit = min(max((2*int64(q)+1)*in-out, 0), 2*(in-1)*out), 2*out
	}
	i = int(at / unit)
	if at == int64(i)*unit {
		return i, i, 0
	}
	return i, i + 1, float64(at-int64(i)*unit) / float64(unit)
}

// line is between of every output of an axis.
type line[T kernels.Float] struct {
	i, next []int
	w       []T
}

func lineOf[T kernels.Float](s *InterpolateShape, axis int) line[T] {
	n := s.OutSize[axis]
	l := line[T]{make([]int, n), make([]int, n), make([]T, n)}
	for q := range n {
		i, next, w := s.between(axis, q)
		l.i[q], l.next[q], l.w[q] = i, next, T(w)
	}
	return l
}

// interpolate sets the outputs of an axis to what lies between its inputs.
func (l *line[T]) interpolate(to, from []T) {
	next, weights := l.next[:len(to)], l.w[:len(to)]
	for c, i := range l.i[:len(to)] {
		u := from[i]
		if w := weights[c]; w != 0 {
			u = (1-w)*u + w*from[next[c]]
		}
		to[c] = u
	}
}

// interpolateGrad sets the gradient of the inputs of an axis to the sum over the outputs that read
// them, in their order.
func (l *line[T]) interpolateGrad(to, from []T) {
	c, next := 0, T(0) // next is what the input behind has from outputs before it
	for i := range to {
		sum := next
		next = 0
		for ; c < len(from) && l.i[c] == i; c++ {
			w, v := l.w[c], from[c]
			sum += (1 - w) * v
			if w != 0 {
				next += w * v
			}
		}
		to[i] = sum
	}
}

// reading returns for each of n inputs the outputs that read it, from the first to below the last.
func (l *line[T]) reading(n int) [][2]int {
	of := make([][2]int, n)
	for q := range l.i {
		for _, i := range [...]int{l.i[q], l.next[q]} {
			if of[i][1] == 0 {
				of[i][0] = q
			}
			of[i][1] = q + 1
		}
	}
	return of
}

// weight returns what output q, which is one of these, reads of input i.
func (l *line[T]) weight(q, i int) T {
	if l.i[q] == i {
		return 1 - l.w[q]
	}
	return l.w[q]
}

// mixRows sets a row to what lies between u and v. What has weight 0 is not read: it may be
// infinite.
func mixRows[T kernels.Float](to []T, w T, u, v []T) {
	u = u[:len(to)]
	if w == 0 {
		copy(to, u)
		return
	}
	v = v[:len(to)]
	for c := range to {
		to[c] = (1-w)*u[c] + w*v[c]
	}
}

// interpolateHost interpolates rows of the input along their own axis, and keeps them for the rows
// of the output that lie between them and others.
func interpolateHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, s := c.Floats(0), c.Floats(1), interpolateShapeOf(func(i int) int { return c.Int(2 + i) })
	lz, ly, lx := lineOf[T](s, 0), lineOf[T](s, 1), lineOf[T](s, 2)
	oz, oy, ox, iz, iy, ix := s.OutSize[0], s.OutSize[1], s.OutSize[2], s.Size[0], s.Size[1], s.Size[2]
	c.Parallel(len(y)/ox, 16*ox, func(lo, hi int) {
		type kept struct {
			of  int
			row []T
		}
		var rows [4]kept // row b of plane a is in 2·(a mod 2) + b mod 2
		for i := range rows {
			rows[i] = kept{-1, make([]T, ox)}
		}
		other := make([]T, ox)
		for row := lo; row < hi; row++ {
			a, b, image := row/oy%oz, row%oy, row/oy/oz
			at := func(a, b int) []T {
				k, of := &rows[a%2*2+b%2], (image*iz+a)*iy+b
				if k.of != of {
					k.of = of
					lx.interpolate(k.row, x[of*ix:][:ix])
				}
				return k.row
			}
			out := y[row*ox:][:ox]
			mixRows(out, ly.w[b], at(lz.i[a], ly.i[b]), at(lz.i[a], ly.next[b]))
			if w := lz.w[a]; w != 0 {
				mixRows(other, ly.w[b], at(lz.next[a], ly.i[b]), at(lz.next[a], ly.next[b]))
				mixRows(out, w, out, other)
			}
		}
	})
}

// interpolateGradHost sums up the rows of outputs that read a row of inputs, and then their
// columns.
func interpolateGradHost[T kernels.Float](c kernels.HostArgs[T]) {
	g, d, s := c.Floats(0), c.Floats(1), interpolateShapeOf(func(i int) int { return c.Int(2 + i) })
	lz, ly, lx := lineOf[T](s, 0), lineOf[T](s, 1), lineOf[T](s, 2)
	oz, oy, ox, iz, iy, ix := s.OutSize[0], s.OutSize[1], s.OutSize[2], s.Size[0], s.Size[1], s.Size[2]
	planes, rows := lz.reading(iz), ly.reading(iy)
	c.Parallel(len(d)/ix, 16*intmath.CeilDiv(len(g), len(d))*ix, func(lo, hi int) {
		sums := make([]T, ox)
		for row := lo; row < hi; row++ {
			z, y, image := row/iy%iz, row%iy, row/iy/iz
			terms := weightedRows[T]{to: sums}
			for a := planes[z][0]; a < planes[z][1]; a++ {
				for b := rows[y][0]; b < rows[y][1]; b++ {
					terms.add(lz.weight(a, z)*ly.weight(b, y), g[((image*oz+a)*oy+b)*ox:][:ox])
				}
			}
			lx.interpolateGrad(d[row*ix:][:ix], terms.sum())
		}
	})
}

// weightedRows sums up rows times weights: two at a time.
type weightedRows[T kernels.Float] struct {
	to     []T
	begun  bool // whether there is something in to
	single []T  // the last of an odd number
	weight T
}

func (r *weightedRows[T]) add(w T, row []T) {
	if r.single == nil {
		r.weight, r.single = w, row
		return
	}
	to, u, v, row := r.to, r.weight, r.single[:len(r.to)], row[:len(r.to)]
	if r.begun {
		for c := range to {
			to[c] += u*v[c] + w*row[c]
		}
	} else {
		for c := range to {
			to[c] = u*v[c] + w*row[c]
		}
	}
	r.begun, r.single = true, nil
}

// sum returns the sum, which may be a row that was added.
func (r *weightedRows[T]) sum() []T {
	to, u, v := r.to, r.weight, r.single
	switch {
	case v == nil && !r.begun:
		clear(to)
	case v == nil:
	case r.begun:
		for c := range to {
			to[c] += u * v[c]
		}
	case u == 1:
		return v
	default:
		for c := range to {
			to[c] = u * v[c]
		}
	}
	return to
}
