package refexec

import (
	"cmp"
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels/operation"
)

// ordered is cmp.Compare with a NaN behind all others.
func ordered(a, b float64) int {
	if a != a || b != b {
		return -cmp.Compare(a, b) // which has it before them
	}
	return cmp.Compare(a, b)
}

func (m *machine[T]) sort(op *operation.Sort) {
	each([]int{op.Rows, (op.Len + op.Block - 1) / op.Block}, func(at []int) {
		r, b := at[0], at[1]
		first, end := b*op.Block, min(op.Len, (b+1)*op.Block)
		x, places := make([]float64, end-first), make([]int, end-first)
		for k := range x {
			x[k], places[k] = m.load(op.X, r, first+k), k
		}
		slices.SortStableFunc(places, func(i, j int) int {
			if op.Descending {
				i, j = j, i
			}
			return ordered(x[i], x[j])
		})
		if op.Median {
			nan := slices.IndexFunc(places, func(i int) bool { return math.IsNaN(x[i]) })
			if nan < 0 {
				nan = (len(x) - 1) / 2
			}
			places = places[nan : nan+1]
		}
		for k, i := range places[:min(op.Keep, len(places))] {
			place := float64(first + i)
			if op.Index.Strides != nil {
				place = m.load(op.Index, r, first+i)
			}
			m.store(op.Y, x[i], r, b, k)
			m.store(op.Order, place, r, b, k)
		}
	})
}

func (c *checker) sort(op *operation.Sort) {
	c.positive(op.Rows, op.Len, op.Block-1, op.Keep)
	c.view("X", op.X, 2)
	c.optional("Index", op.Index, 2)
	c.view("Y", op.Y, 3, op.X.Type)
	if c.view("Order", op.Order, 3); !op.Order.Type.Integer() {
		c.fail("Order is of type %v", op.Order.Type)
	}
}
