package lower

import (
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// host kernel returns the Go code of a row program: the vector loops of the processor or, where there are
// none or the call is the reference, plain loops in double precision.
func host[T kernels.Float](l *plan, rows *ir.Rows) func(c kernels.HostArgs[T]) {
	fast := machines[T, T](rows, l, func() *vec.Loops[T] {
		set, _ := vec.Chosen()
		return vec.On[T](set)
	})
	plain := machines[float64, T](rows, l, func() *vec.Loops[float64] { return nil })
	at, counts := LayoutOf(l.p), l.counts()
	sizes := at.Sizes
	return func(c kernels.HostArgs[T]) {
		n := c.Int(sizes + 1)
		if at.Chunk >= 0 {
			n = min(n, c.Int(at.Chunk))
		}
		if set, _ := vec.Chosen(); c.Vectors() && set != nil && (n <= MostExact || !counts) {
			fast(c, c.Int(sizes), c.Int(sizes+1), c.Int(sizes+2))
		} else {
			plain(c, c.Int(sizes), c.Int(sizes+1), c.Int(sizes+2))
		}
	}
}

// counts reports whether a number of elements, an index or an int is a number that is computed with.
func (l *plan) counts() (counts bool) {
	var formulas []*expr.Expr
	for _, v := range l.p.Values {
		counts = counts || v.Int || v.Kind == ir.Length || v.Kind == ir.Pick || v.Kind == ir.OneHot
		if v.Kind.Made() {
			formulas = append(formulas, v.Of)
		}
	}
	for _, r := range l.p.Results {
		counts = counts || r.Int
		formulas = append(formulas, r.Value)
	}
	expr.Each(func(e *expr.Expr) {
		kind, _ := e.Leaf()
		counts = counts || kind == expr.OfIndex
	}, formulas...)
	return counts
}

// MostExact: up to it every int is a number of single precision. Longer lines are computed in double
// precision where their length is a number.
const MostExact = 1 << 24

// stepCost is what a step costs for an element, in additions, on the average.
const stepCost = 3

// machines returns a function that runs launches on pooled machines that compute in T; each goroutine
// takes one.
func machines[T, E kernels.Float](rows *ir.Rows, l *plan,
	loops func() *vec.Loops[T]) func(c kernels.HostArgs[E], outer, n, inner int) {
	var pool sync.Pool
	layout := LayoutOf(l.p)
	take := func(c kernels.HostArgs[E]) *ir.Machine[T, E] {
		m, _ := pool.Get().(*ir.Machine[T, E])
		if m == nil {
			m = ir.NewMachine[T, E](rows, loops())
		}
		for i, v := range l.p.Values {
			switch at := layout.Values[i]; {
			case v.Kind == ir.Input && v.Int:
				m.Ints[i] = c.Ints(at)
			case v.Kind == ir.Input:
				m.Inputs[i] = c.Floats(at)
			case v.Kind == ir.Number && v.Int:
				m.Numbers[i] = float64(c.Int(at))
			case v.Kind == ir.Number:
				m.Numbers[i] = float64(c.Float(at))
			}
		}
		for k, r := range l.p.Results {
			if r.Int {
				m.IntResults[k] = c.Ints(layout.Results + k)
			} else {
				m.Results[k] = c.Floats(layout.Results + k)
			}
		}
		if layout.Sets >= 0 {
			m.Sets, m.Span = c.Int(layout.Sets), c.Int(layout.Sets+1)
		}
		return m
	}
	// cut runs lines in parts.
	cut := func(c kernels.HostArgs[E], outer, n, inner, chunk, parts int) {
		c.Parallel(outer*parts, stepCost*rows.Steps()*chunk*inner, func(lo, hi int) {
			m := take(c)
			defer pool.Put(m)
			inputs, results, ints := slices.Clone(m.Inputs), slices.Clone(m.Results), slices.Clone(m.IntResults)
			for part := lo; part < hi; part++ {
				begin := part % parts * chunk
				for i, v := range l.p.Values {
					switch {
					case v.Kind != ir.Input || v.Int:
					case v.Along == ir.Element:
						m.Inputs[i] = inputs[i][(part/parts*n+begin)*inner:]
					case v.Along == ir.Line:
						m.Inputs[i] = inputs[i][part/parts*inner:]
					case v.Along == ir.Column:
						m.Inputs[i] = inputs[i][begin:]
					}
				}
				for k, r := range l.p.Results {
					at := part * inner
					if r.Along == ir.Element {
						at = (part/parts*n + begin) * inner
					}
					if r.Int {
						m.IntResults[k] = ints[k][at:]
					} else {
						m.Results[k] = results[k][at:]
					}
				}
				count := min(chunk, n-begin)
				units, _ := m.Units(1, count, inner)
				m.Run(count, inner, 0, units)
			}
		})
	}
	// runs runs lines that are summed.
	runs := func(c kernels.HostArgs[E], outer, n, run int) {
		c.Parallel(Parts(outer, run), stepCost*rows.Steps()*run*n, func(lo, hi int) {
			m := take(c)
			defer pool.Put(m)
			results := slices.Clone(m.Results)
			for i := lo; i < hi; i++ {
				for k, r := range l.p.Results {
					if r.Summed {
						m.Results[k] = results[k][i*n:]
					}
				}
				m.Run(n, 1, i*run, min(outer, (i+1)*run))
			}
		})
	}
	return func(c kernels.HostArgs[E], outer, n, inner int) {
		if layout.Run >= 0 {
			runs(c, outer, n, c.Int(layout.Run))
			return
		}
		if layout.Chunk >= 0 {
			if chunk := c.Int(layout.Chunk); chunk < n {
				cut(c, outer, n, inner, chunk, Parts(n, chunk))
				return
			}
		}
		m := take(c)
		units, elements := m.Units(outer, n, inner)
		c.Parallel(units, stepCost*rows.Steps()*elements, func(lo, hi int) {
			m := m
			if lo > 0 {
				m = take(c)
				defer pool.Put(m)
			}
			m.Run(n, inner, lo, hi)
		})
		pool.Put(m) // what it names stays until the next launch, or until the pool is cleared
	}
}
