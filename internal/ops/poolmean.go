package ops

import (
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// meanPool is means of windows on the Go device. Rows of the input are added up first, then
// neighbours in the sum: of a window of k×k, k rows are added with vectors, and k elements one by
// one.
type meanPool[T kernels.Float] struct {
	*PoolShape
	loops   *vec.Loops[T] // nil: plain loops, of the same bits
	padding bool
	divisor int
	row     []T // a sum of rows of the input
	shares  []T // a row of gradients over their divisors
}

func newMeanPool[T kernels.Float](c kernels.HostArgs[T]) *meanPool[T] {
	return &meanPool[T]{PoolShape: poolOf(c, 2), loops: loopsOf(c), padding: c.Int(2+poolCount) != 0, divisor: c.Int(3 + poolCount)}
}

// worker returns a copy for one goroutine, with room for rows of both sides.
func (m *meanPool[T]) worker() *meanPool[T] {
	own := *m
	own.row, own.shares = make([]T, m.Size[2]), make([]T, m.OutSize[2])
	return &own
}

// add sets to to the sum of x and y.
func (m *meanPool[T]) add(to, x, y []T) {
	if m.loops != nil {
		m.loops.Map(vec.Add, to, x, y, x, x)
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		to[i] = v + y[i]
	}
}

// divide sets to to x over a number.
func (m *meanPool[T]) divide(to, x []T, by T) {
	if m.loops != nil {
		m.loops.MapBy(vec.Div, to, x, by)
		return
	}
	for i, v := range x[:len(to)] {
		to[i] = v / by
	}
}

// sumRows returns the sum of the rows [y, x] of the windows of output q along the first two axes,
// from column lo to below hi.
func (m *meanPool[T]) sumRows(plane []T, q [3]int, lo, hi int) []T {
	z0, z1, dz := m.inside(0, q[0])
	y0, y1, dy := m.inside(1, q[1])
	var sum []T
	for z := z0; z < z1; z += dz {
		for y := y0; y < y1; y += dy {
			row := plane[(z*m.Size[1]+y)*m.Size[2]:][lo:hi]
			if sum == nil {
				sum = row
				continue
			}
			m.add(m.row[:hi-lo], sum, row)
			sum = m.row[:hi-lo]
		}
	}
	if sum == nil { // windows of nothing but padding
		sum = m.row[:hi-lo]
		clear(sum)
	}
	return sum
}

// means sets y to the outputs from place q on, of one row.
func (m *meanPool[T]) means(y, plane []T, q [3]int) {
	n, first := len(y), q[2]
	lo, hi := m.columns(first, n)
	sum := m.sumRows(plane, q, lo, hi)
	from, to := m.whole(first, n)
	for i := range n {
		q[2] = first + i
		if q[2] >= from && q[2] < to {
			continue
		}
		var total T
		at, end, step := m.inside(2, q[2])
		for ; at < end; at += step {
			total += sum[at-lo]
		}
		y[i] = total / T(m.PoolShape.divisor(q, m.padding, m.divisor))
	}
	if from == to {
		return
	}
	q[2] = from
	inner := y[from-first : to-first]
	m.sumNeighbours(inner, sum[from*m.Stride[2]-m.Pad[2]-lo:])
	m.divide(inner, inner, T(m.PoolShape.divisor(q, m.padding, m.divisor)))
}

// sumNeighbours sets to to the sums of windows of x, of which the first begins with its first
// element.
func (m *meanPool[T]) sumNeighbours(to, x []T) {
	k, s := m.Kernel[2], m.Stride[2]
	if s == 1 {
		copy(to, x)
		for j := 1; j < k; j++ {
			m.add(to, to, x[j:])
		}
		return
	}
	switch k {
	case 2:
		for i := range to {
			w := x[i*s:][:2]
			to[i] = w[0] + w[1]
		}
	case 3:
		for i := range to {
			w := x[i*s:][:3]
			to[i] = w[0] + w[1] + w[2]
		}
	default:
		for i := range to {
			var sum T
			for _, v := range x[i*s:][:k] {
				sum += v
			}
			to[i] = sum
		}
	}
}

// spread adds the gradients g of a row of outputs from place q on to those of the inputs, a plane.
func (m *meanPool[T]) spread(plane, g []T, q [3]int) {
	n := len(g)
	lo, hi := m.columns(0, n)
	row, shares := m.row[:hi-lo], m.shares[:n]
	clear(row)
	from, to := m.whole(0, n)
	if from < to {
		q[2] = from
		m.divide(shares[from:to], g[from:to], T(m.PoolShape.divisor(q, m.padding, m.divisor)))
		m.addNeighbours(row[from*m.Stride[2]-m.Pad[2]-lo:], shares[from:to])
	}
	for i, v := range g {
		if i >= from && i < to {
			continue
		}
		q[2] = i
		v /= T(m.PoolShape.divisor(q, m.padding, m.divisor))
		at, end, step := m.inside(2, i)
		for ; at < end; at += step {
			row[at-lo] += v
		}
	}
	z0, z1, dz := m.inside(0, q[0])
	y0, y1, dy := m.inside(1, q[1])
	for z := z0; z < z1; z += dz {
		for y := y0; y < y1; y += dy {
			d := plane[(z*m.Size[1]+y)*m.Size[2]:][lo:hi]
			m.add(d, d, row)
		}
	}
}

// addNeighbours adds shares to the elements of their windows, of which the first begins with the
// first element of row.
func (m *meanPool[T]) addNeighbours(row, shares []T) {
	k, s := m.Kernel[2], m.Stride[2]
	if s == 1 {
		for j := range k {
			d := row[j:][:len(shares)]
			m.add(d, d, shares)
		}
		return
	}
	for i, v := range shares {
		w := row[i*s:][:k]
		for j := range w {
			w[j] += v
		}
	}
}

func avgPoolHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, m := c.Floats(0), c.Floats(1), newMeanPool(c)
	c.Parallel(len(y), volume(m.Kernel), func(lo, hi int) {
		own := m.worker()
		m.rows(lo, hi, func(outer, o, n int, q [3]int) {
			own.means(y[o:o+n], x[outer*volume(m.Size):][:volume(m.Size)], q)
		})
	})
}

// avgPoolGradHost goes over the outputs of whole planes, as maxPoolGradHost does.
func avgPoolGradHost[T kernels.Float](c kernels.HostArgs[T]) {
	g, d, m := c.Floats(0), c.Floats(1), newMeanPool(c)
	size, out := volume(m.Size), volume(m.OutSize)
	c.Parallel(m.Outer, size+2*out*volume(m.Kernel), func(lo, hi int) {
		own := m.worker()
		clear(d[lo*size : hi*size])
		m.rows(lo*out, hi*out, func(outer, o, n int, q [3]int) {
			own.spread(d[outer*size:][:size], g[o:o+n], q)
		})
	})
}
