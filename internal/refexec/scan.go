package refexec

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

var scanFunctions = []*kernels.Function{fn.Add, fn.Mul, fn.LogAddExp, fn.Max, fn.Min}

func (m *machine[T]) scan(op *operation.Scan) {
	each([]int{op.Outer, (op.Len + op.Chunk - 1) / op.Chunk, op.Inner}, func(at []int) {
		o, s, i := at[0], at[1], at[2]
		first, end := s*op.Chunk, min(op.Len, (s+1)*op.Chunk)
		state, place := sum{total: [...]float64{0, 1, math.Inf(-1), 0, 0}[slices.Index(scanFunctions, op.Function)]}, 0
		if op.Init.Strides != nil {
			state.total = m.load(op.Init, at...)
		}
		whole := int64(state.total) // of integers, of which a float64 may not hold all bits
		for n := range end - first {
			k := first + n
			if op.Reverse {
				k = end - 1 - n
			}
			before, v := state.value(), m.load(op.X, o, k, i)
			if op.Decay.Strides != nil && n > 0 {
				decay := m.load(op.Decay, o, k, i)
				state = sum{state.total * decay, state.rest * decay}
			}
			switch {
			case op.Function == fn.Add && op.X.Type.Integer():
				whole += int64(v)
				state.total = lowBits(whole, op.X.Type)
			case op.Function == fn.Mul && op.X.Type.Integer():
				whole *= int64(v)
				state.total = lowBits(whole, op.X.Type)
			case op.Function == fn.Add:
				state.add(v)
			case op.Function == fn.Mul:
				state.total *= v
			case op.Function == fn.LogAddExp:
				state.total = logAddExp(before, v)
			case n == 0 || v != v || op.Function == fn.Max && v >= before || op.Function == fn.Min && v <= before:
				state.total, place = v, k
			}
			y := state.value()
			if op.Exclusive {
				y = before
			}
			if !op.Y.Type.Integer() {
				y = float64(T(y))
			}
			m.store(op.Y, y, o, k, i)
			if op.Index.Strides != nil {
				m.store(op.Index, float64(place), o, k, i)
			}
		}
	})
}

func logAddExp(a, b float64) float64 {
	if a == b { // which may be infinite
		return a + math.Ln2
	}
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

func (c *checker) scan(op *operation.Scan) {
	c.positive(op.Outer, op.Len, op.Inner, op.Chunk-1)
	if !slices.Contains(scanFunctions, op.Function) {
		c.fail("its function is not Add, Mul, LogAddExp, Max or Min")
	}
	c.view("X", op.X, 3)
	c.view("Y", op.Y, 3)
	c.optional("Decay", op.Decay, 3)
	c.optional("Init", op.Init, 3)
	c.optional("Index", op.Index, 3)
}

// optional is view of one that may be without strides, and so not there.
func (c *checker) optional(name string, v kernels.View, rank int, types ...kernels.DType) {
	if v.Strides != nil {
		c.view(name, v, rank, types...)
	}
}
