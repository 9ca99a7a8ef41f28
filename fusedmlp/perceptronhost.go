package fusedmlp

import (
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// stepScratch is what a share of a step keeps from launch to launch.
type stepScratch[T kernels.Float] struct {
	loops                       *vec.Loops[T] // or nil
	samples                     int           // that there is room for
	x, z                        [][]T         // what each layer reads, but for the first, and its sums, or k
	d, e                        []T           // gradients
	g                           [][]T         // those of what layers read, by their place
	ones, losses                []T
	kept, values, slopes, joins []*evaluator[T]
	factors                     []*evaluator[T]
	error, slope                *evaluator[T]
}

// stepHost runs a step, the shares in parallel.
func stepHost[T kernels.Float](s *fusedStep) func(kernels.HostArgs[T]) {
	of := func(fn *formula) *evaluator[T] {
		if fn == nil {
			return nil
		}
		return newEvaluator[T](fn)
	}
	scratches := sync.Pool{New: func() any {
		m := &stepScratch[T]{error: of(s.error), slope: of(s.slope)}
		for i := range s.Layers {
			m.kept, m.values = append(m.kept, of(s.kept[i])), append(m.values, of(s.values[i]))
			m.slopes, m.joins = append(m.slopes, of(s.slopes[i])), append(m.joins, of(s.joins[i]))
			m.factors = append(m.factors, of(s.factors[i]))
		}
		return m
	}}
	first, last := s.Layers[0].Inputs, s.Layers[len(s.Layers)-1].Outputs
	return func(c kernels.HostArgs[T]) {
		x, w, part, loss, dx, n := c.Floats(0), c.Floats(2), c.Floats(3), c.Floats(4), c.Floats(5), c.Int(6)
		groups, blocks, loops := len(loss), intmath.CeilDiv(n, s.block), loopsOf(c)
		var all targets[T]
		if s.Labels == nil {
			all.floats = c.Floats(1)
		} else {
			all.labels = c.Ints(1)
			if s.weighted() {
				all.weights = c.Floats(stepWeights)
			}
			up, counted := s.labelsCounted(all.labels, func(k int) float64 { return float64(all.weights[k]) })
			all.up, all.counted = T(up), T(counted)
		}
		parallel.For(groups, 1, func(lo, hi int) {
			m := scratches.Get().(*stepScratch[T])
			defer scratches.Put(m)
			m.loops = loops
			m.vectors(c)
			for g := lo; g < hi; g++ {
				from, to := blocks*g/groups*s.block, min(n, blocks*(g+1)/groups*s.block)
				var down []T
				if s.down {
					down = dx[from*first : to*first]
				}
				loss[g] = m.pass(s, x[from*first:to*first], all.part(from, to, last), w, part[g*s.Size():], down, to-from)
			}
		})
	}
}

// vectors says whether the formulas may use them.
func (m *stepScratch[T]) vectors(c kernels.HostArgs[T]) {
	for _, list := range [][]*evaluator[T]{m.kept, m.values, m.factors, m.slopes, m.joins, {m.error, m.slope}} {
		for _, b := range list {
			if b != nil {
				b.eval.Vectors(c.Vectors())
			}
		}
	}
}

// product sets c [m, n] to a [m, k] times b [k, n], of given distances of rows and columns, plus a
// bias if there is one.
func (m *stepScratch[T]) product(rows, cols, k int, a []T, rowA, stepA int, b []T, stepB, columnB int, c []T, bias []T) {
	if m.loops != nil && rows > 0 && k > 0 {
		m.loops.Product(vec.Product[T]{M: rows, N: cols, K: k, A: a, RowA: rowA, StepA: stepA, B: b, StepB: stepB, ColumnB: columnB, C: c, RowC: cols, Bias: bias}, nil)
		return
	}
	for i := range rows {
		row := c[i*cols : (i+1)*cols]
		if bias == nil {
			clear(row)
		} else {
			copy(row, bias)
		}
		for p := range k {
			v := a[i*rowA+p*stepA]
			for j := range row {
				row[j] += v * b[p*stepB+j*columnB]
			}
		}
	}
}

// columns sets sums to those of the columns of d, which has n rows.
func (m *stepScratch[T]) columns(sums, d []T, n int) {
	if m.loops != nil && n > 0 {
		m.product(1, len(sums), n, m.ones, n, 1, d, len(sums), 1, sums, nil)
		return
	}
	columnSums(sums, d, n)
}

// grow makes room for n samples.
func (m *stepScratch[T]) grow(s *fusedStep, n int) {
	if m.samples >= n && m.x != nil {
		return
	}
	m.samples = n
	widest := 0
	m.x, m.z = nil, nil
	for _, l := range s.Layers {
		m.x, m.z = append(m.x, make([]T, n*l.Outputs)), append(m.z, make([]T, n*l.Outputs))
		widest = max(widest, l.Inputs, l.Outputs)
	}
	m.g = nil
	for _, width := range s.room {
		m.g = append(m.g, make([]T, n*width))
	}
	m.d, m.e, m.ones, m.losses = make([]T, n*widest), make([]T, n*widest), make([]T, n), make([]T, n*s.Layers[len(s.Layers)-1].Outputs)
	for i := range m.ones {
		m.ones[i] = 1
	}
}

// pass trains on n samples: it writes their gradient to part, that of x to dx unless that is nil,
// and returns their loss.
func (m *stepScratch[T]) pass(s *fusedStep, x []T, t targets[T], w, part, dx []T, n int) T {
	m.grow(s, n)
	last := len(s.Layers) - 1
	in := x
	for i, l := range s.Layers {
		var bias []T
		if l.Bias >= 0 {
			bias = w[l.Bias : l.Bias+l.Outputs]
		}
		z := m.z[i][:n*l.Outputs]
		m.product(n, l.Outputs, l.Inputs, in, l.Inputs, 1, w[l.Weights:], l.Outputs, 1, z, bias)
		if m.values[i] != nil {
			if m.kept[i] != nil {
				m.kept[i].run(z, z)
			}
			operands := [][]T{z, x}
			for j := range i {
				operands = append(operands, m.x[j][:n*s.Layers[j].Outputs])
			}
			in = m.x[i][:n*l.Outputs]
			m.values[i].run(in, operands...)
			if m.factors[i] != nil {
				m.factors[i].run(z, z, in)
			}
		}
	}
	outputs, z := n*s.Layers[last].Outputs, m.z
	if m.values[last] != nil {
		z = m.x
	}
	d, e := m.d, m.e
	loss := m.loss(s, z[last][:outputs], d[:outputs], t)
	if place := s.place[last+1]; place >= 0 {
		copy(m.g[place], d[:outputs])
	}
	for i := last; i >= 0; i-- {
		l := s.Layers[i]
		below := x
		if i > 0 {
			below = m.x[i-1][:n*l.Inputs]
		}
		m.product(l.Inputs, l.Outputs, n, below, 1, l.Inputs, d, l.Outputs, 1, part[l.Weights:l.Weights+l.Inputs*l.Outputs], nil)
		if l.Bias >= 0 {
			m.columns(part[l.Bias:l.Bias+l.Outputs], d, n)
		}
		to := e[:n*l.Inputs]
		if i == 0 {
			to = dx
		}
		if to != nil {
			m.product(n, l.Inputs, l.Outputs, d, l.Outputs, 1, w[l.Weights:], 1, l.Outputs, to, nil)
			m.join(s, i, to)
		}
		if i > 0 {
			if m.slopes[i-1] != nil {
				m.slopes[i-1].run(to, m.z[i-1][:n*l.Inputs], below, to)
			}
			d, e = e, d
		}
	}
	return loss
}

// join adds to the gradient of what layer i reads, or whatever its formula says, what others left
// for it, and leaves it to those below.
func (m *stepScratch[T]) join(s *fusedStep, i int, to []T) {
	if m.joins[i] != nil {
		operands := make([][]T, len(s.Layers)+1)
		operands[0] = to
		for _, j := range joins(&s.Layers[i]) {
			operands[j] = m.g[s.place[j]][:len(to)]
		}
		m.joins[i].run(to, operands...)
	}
	if place := s.place[i]; place >= 0 {
		copy(m.g[place], to)
	}
}

// loss returns the loss of outputs, and sets d to their gradient.
func (m *stepScratch[T]) loss(s *fusedStep, z, d []T, t targets[T]) T {
	if s.Labels != nil {
		loss := labelLoss(m.loops, s.Labels, z, d, t.labels, t.weights, t.up)
		if s.Labels.Mean {
			loss /= t.counted
		}
		return loss
	}
	losses := m.losses[:len(z)]
	clear(losses)
	if !s.error.value.IsZero() {
		m.error.run(losses, z, t.floats)
	}
	m.slope.run(d, z, t.floats)
	return pairwise(losses)
}

// targets are what outputs are compared with: floats, or labels with the gradient of the loss of
// each, and how many count, by the weights of classes, if they have any.
type targets[T kernels.Float] struct {
	floats      []T
	weights     []T
	labels      []int32
	up, counted T
}

// part is the targets of some samples, of so many outputs.
func (t targets[T]) part(from, to, outputs int) targets[T] {
	if t.labels != nil {
		t.labels = t.labels[from:to]
	} else {
		t.floats = t.floats[from*outputs : to*outputs]
	}
	return t
}
