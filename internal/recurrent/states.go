package recurrent

import (
	"math"

	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// run is a launch on the Go device.
type run[T kernels.Float] struct {
	*Cell
	x, w, b, h, s       []T     // b is nil if the state has no bias
	ends                []int32 // nil: all rows have all times
	time, batch, hidden int
	back                int
}

func states[T kernels.Float](c *Cell) func(kernels.HostArgs[T]) {
	return func(call kernels.HostArgs[T]) {
		r := &run[T]{Cell: c, x: call.Floats(0), w: call.Floats(1), h: call.Floats(3), s: call.Floats(4),
			time: call.Int(argTime), batch: call.Int(argBatch), hidden: call.Int(argHidden), back: call.Int(argBack)}
		if call.Int(argBiased) != 0 {
			r.b = call.Floats(2)[:r.gates()*r.hidden]
		}
		if c.onnx {
			r.ends = call.Ints(argEnds)
		}
		var loops *vec.Loops[T]
		if call.Vectors() {
			if set, _ := vec.Chosen(); set != nil && vec.On[T](set).Has(vec.Sigmoid) && vec.On[T](set).Has(vec.Tanh) {
				loops = vec.On[T](set)
			}
		}
		var each func(n, min int, f func(lo, hi int)) // that shares a product out
		if r.batch == 1 {
			each = parallel.For
		}
		call.Parallel(r.batch, r.time*r.hidden*r.gates()*r.hidden, func(lo, hi int) {
			for i := range r.time {
				if loops != nil {
					r.vectors(loops, i, lo, hi, each)
				} else {
					r.plain(i, lo, hi)
				}
			}
		})
		clear(r.s)
	}
}

// at returns the time of step i.
func (r *run[T]) at(i int) int {
	if r.back != 0 {
		return r.time - 1 - i
	}
	return i
}

// step returns where the input of step i is, and the states before and after it.
func (r *run[T]) step(i int) (x []T, before, after int) {
	i = r.at(i)
	size := r.batch * r.gates() * r.hidden
	return r.x[i*size:][:size], (i + r.back) * r.batch * r.hidden, (i + 1 - r.back) * r.batch * r.hidden
}

// cells is the states of an LSTM's cells.
func (r *run[T]) cells() []T { return r.h[(r.time+1)*r.batch*r.hidden:] }

// kept reports whether a row keeps its state from place before to after in step i.
func (r *run[T]) kept(i, row, before, after int) bool {
	if r.ends == nil || r.at(i) < int(r.ends[row]) {
		return false
	}
	m := r.hidden
	copy(r.h[after+row*m:][:m], r.h[before+row*m:][:m])
	if r.kind == lstm {
		copy(r.cells()[after+row*m:][:m], r.cells()[before+row*m:][:m])
	}
	return true
}

// vectors computes step i of rows [lo, hi).
func (r *run[T]) vectors(l *vec.Loops[T], i, lo, hi int, each func(n, min int, f func(lo, hi int))) {
	n, m := r.gates()*r.hidden, r.hidden
	x, before, after := r.step(i)
	p := vec.Product[T]{M: hi - lo, N: n, K: m, A: r.h[before+lo*m:], RowA: m, StepA: 1, B: r.w, StepB: n, ColumnB: 1,
		C: r.s[lo*n : hi*n], RowC: n, Bias: r.b}
	if r.onnx {
		p.StepB, p.ColumnB = 1, m
	}
	if r.kind != gru {
		copy(p.C, x[lo*n:hi*n])
		p.Add = true
	}
	l.Product(p, each)
	of := func(f vec.Function, to, x, y []T) { l.Map(f, to, x, y, x, x) } // f of one operand takes no y
	for row := lo; row < hi; row++ {
		if r.kept(i, row, before, after) {
			continue
		}
		s, h, next := r.s[row*n:][:n], r.h[before+row*m:][:m], r.h[after+row*m:][:m]
		gate := func(of []T, i int) []T { return of[r.order[i]*m:][:m] }
		switch r.kind {
		case plain:
			of(vec.Tanh, next, s, s)
		case gru:
			x := x[row*n:][:n]
			reset, stays, fresh := gate(s, 0), gate(s, 1), gate(s, 2)
			of(vec.Add, reset, reset, gate(x, 0))
			of(vec.Sigmoid, reset, reset, reset)
			of(vec.Add, stays, stays, gate(x, 1))
			of(vec.Sigmoid, stays, stays, stays)
			of(vec.Mul, fresh, fresh, reset)
			of(vec.Add, fresh, fresh, gate(x, 2))
			of(vec.Tanh, fresh, fresh, fresh)
			of(vec.Sub, next, h, fresh)
			of(vec.Mul, next, next, stays)
			of(vec.Add, next, next, fresh)
		case lstm:
			cell, now := r.cells()[before+row*m:][:m], r.cells()[after+row*m:][:m]
			input, forget, fresh, out := gate(s, 0), gate(s, 1), gate(s, 2), gate(s, 3)
			of(vec.Sigmoid, input, input, input)
			of(vec.Sigmoid, forget, forget, forget)
			of(vec.Tanh, fresh, fresh, fresh)
			of(vec.Sigmoid, out, out, out)
			of(vec.Mul, input, input, fresh)
			of(vec.Mul, now, forget, cell)
			of(vec.Add, now, now, input)
			of(vec.Tanh, next, now, now)
			of(vec.Mul, next, next, out)
		}
	}
}

// plain is vectors in plain loops, with sums in double precision.
func (r *run[T]) plain(i, lo, hi int) {
	n, m := r.gates()*r.hidden, r.hidden
	x, before, after := r.step(i)
	for row := lo; row < hi; row++ {
		if r.kept(i, row, before, after) {
			continue
		}
		h, s, x := r.h[before+row*m:][:m], r.s[row*n:][:n], x[row*n:][:n]
		for j := range s {
			sum := 0.0
			if r.b != nil {
				sum = float64(r.b[j])
			}
			if r.kind != gru {
				sum += float64(x[j])
			}
			at, step := j, n
			if r.onnx {
				at, step = j*m, 1
			}
			for _, v := range h {
				sum += float64(v) * float64(r.w[at])
				at += step
			}
			s[j] = T(sum)
		}
		next := r.h[after+row*m:][:m]
		gate := func(of []T, i, j int) float64 { return float64(of[r.order[i]*m+j]) }
		for j := range next {
			switch r.kind {
			case plain:
				next[j] = T(math.Tanh(float64(s[j])))
			case gru:
				reset, stays := sigmoid(gate(x, 0, j)+gate(s, 0, j)), sigmoid(gate(x, 1, j)+gate(s, 1, j))
				fresh := math.Tanh(gate(x, 2, j) + reset*gate(s, 2, j))
				next[j] = T(fresh + stays*(float64(h[j])-fresh))
			case lstm:
				cell := sigmoid(gate(s, 1, j))*float64(r.cells()[before+row*m+j]) + sigmoid(gate(s, 0, j))*math.Tanh(gate(s, 2, j))
				r.cells()[after+row*m+j] = T(cell)
				next[j] = T(sigmoid(gate(s, 3, j)) * math.Tanh(cell))
			}
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
