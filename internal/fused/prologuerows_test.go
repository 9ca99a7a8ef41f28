package fused

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestAxesOf: of views that write a matrix, in any order of their axes and split into any of them,
// the indices follow from an element's row and column; of others there are none.
func TestAxesOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	factors := func(n int) []int {
		var list []int
		for n > 1 {
			f := 2 + rng.IntN(n-1)
			for n%f != 0 {
				f = f%n + 1
			}
			if f == 1 {
				f = n
			}
			list, n = append(list, f), n/f
		}
		return list
	}
	flat := 0
	for range 2000 {
		rows, columns := []int{1, 2, 6, 12, 35}[rng.IntN(5)], []int{1, 3, 8, 12, 30}[rng.IntN(5)]
		every := 1 // a result has one of so many columns
		if columns%2 == 0 && rng.IntN(2) == 0 {
			every = 2
		}
		offset := rng.IntN(every)
		var dims, strides []int
		add := func(n, step int) { dims, strides = append(dims, n), append(strides, step) }
		if rng.IntN(4) == 0 {
			add(rows*columns/every, every)
			flat++
		} else {
			for step, list := every, factors(columns/every); len(list) > 0; list = list[1:] {
				add(list[0], step)
				step *= list[0]
			}
			for step, list := columns, factors(rows); len(list) > 0; list = list[1:] {
				add(list[0], step)
				step *= list[0]
			}
		}
		if rng.IntN(3) == 0 {
			add(1, rng.IntN(9))
		}
		order := rng.Perm(len(dims))
		v := kernels.View{Offset: offset - 3}
		var shape []int
		for _, d := range order {
			shape, v.Strides = append(shape, dims[d]), append(v.Strides, strides[d])
		}
		axes, first, err := axesOf(shape, v, 3, rows, columns)
		if err != nil || first != offset {
			t.Fatalf("%d×%d: dimensions %v of steps %v from %d on: first %d, %v", rows, columns, shape, v.Strides, offset, first, err)
		}
		index := make([]int, len(shape))
		for range intmath.Product(shape) {
			at := offset
			for d, i := range index {
				at += i * v.Strides[d]
			}
			for d, a := range axes {
				if got := a.at(at/columns, at%columns-first); got != index[d] {
					t.Fatalf("%d×%d: dimensions %v of steps %v from %d on: element %d has index %d along axis %d, want %d", rows, columns, shape, v.Strides, offset, at, got, d, index[d])
				}
				if a.length(rows) != shape[d] {
					t.Fatalf("%d×%d: axis %d of %v has %d indices", rows, columns, d, shape, a.length(rows))
				}
			}
			for d := len(index) - 1; d >= 0; d-- {
				if index[d]++; index[d] < shape[d] {
					break
				}
				index[d] = 0
			}
		}
		if wrong := slices.Clone(v.Strides); len(wrong) > 0 && intmath.Product(shape) > 1 {
			d := slices.IndexFunc(shape, func(n int) bool { return n > 1 })
			wrong[d] = -wrong[d]
			if _, _, err := axesOf(shape, kernels.View{Strides: wrong}, 0, rows, columns); err == nil {
				t.Fatalf("%v of steps %v goes backwards", shape, wrong)
			}
		}
	}
	if flat < 100 {
		t.Errorf("%d views across rows", flat)
	}
	for name, c := range map[string]struct {
		dims, strides []int
		off           int
	}{
		"some of the rows":        {[]int{3, 8}, []int{8, 1}, 0},
		"from another column on":  {[]int{6, 8}, []int{8, 1}, 1},
		"before it":               {[]int{6, 8}, []int{8, 1}, -8},
		"a row further":           {[]int{6, 8}, []int{8, 1}, 8},
		"elements twice":          {[]int{6, 4, 4}, []int{8, 1, 2}, 0},
		"rows of another length":  {[]int{8, 6}, []int{6, 1}, 0},
		"every second row":        {[]int{6, 8}, []int{16, 1}, 0},
		"rows twice":              {[]int{6, 6, 8}, []int{8, 8, 1}, 0},
		"repeated":                {[]int{6, 8}, []int{8, 0}, 0},
		"too far along the row":   {[]int{6, 4}, []int{8, 3}, 0},
		"flat, of a part":         {[]int{40}, []int{1}, 0},
		"flat, beside other rows": {[]int{6, 48}, []int{8, 1}, 0},
	} {
		if axes, _, err := axesOf(c.dims, kernels.View{Strides: c.strides}, c.off, 6, 8); err == nil {
			t.Errorf("%s: axes %v", name, axes)
		}
	}
}

// TestNestedRows: an operand that a launch before makes is read within the row that it is made for,
// or not at all.
func TestNestedRows(t *testing.T) {
	rows, columns := rowAxis{n: 6, per: 1}, rowAxis{n: 4, step: 1}
	flat := rowAxis{n: 24, step: 1, turn: 4}
	for name, c := range map[string]struct {
		axes    []rowAxis
		strides []int
		first   int
	}{
		"beyond the row":      {[]rowAxis{rows, columns}, []int{4, 1}, 1},
		"before the rows":     {[]rowAxis{rows, columns}, []int{5, 1}, -1},
		"backwards":           {[]rowAxis{rows, columns}, []int{4, -1}, 3},
		"the same row":        {[]rowAxis{rows, columns}, []int{0, 1}, 0},
		"rows again":          {[]rowAxis{{n: 2, per: 3}, {n: 3, per: 1}, columns}, []int{0, 4, 1}, 0},
		"flat, from column 1": {[]rowAxis{flat}, []int{1}, 1},
		"repeated":            {[]rowAxis{flat}, []int{0}, 0},
	} {
		o, g := &rowOperand{strides: c.strides}, &rowGroup{axes: c.axes}
		if of, err := (&prologueBuilder{}).nested(o, g, origin{}, c.first, 6, 0); err == nil {
			t.Errorf("%s: %v", name, of)
		}
	}
	o, g := &rowOperand{strides: []int{4, 1}}, &rowGroup{axes: []rowAxis{rows, columns}}
	if of, err := (&prologueBuilder{}).nested(o, g, origin{}, 0, 6, 0); of != nil || err != nil {
		t.Errorf("of no launch: %v, %v", of, err)
	}
}

// TestReachOfGather: a trial has the rows that its indices name, also where it makes fewer.
func TestReachOfGather(t *testing.T) {
	for _, c := range []struct{ gathers, off, want int }{{9, 0, 48}, {9, 5, 53}, {3, 0, 36}, {1, 0, 12}} {
		g := &rowGroup{gathers: c.gathers, axes: []rowAxis{{n: 2, per: 1}, {n: 12, step: 1}},
			operands: []rowOperand{{arg: 1, off: c.off, strides: []int{12, 1}}, {arg: 2, strides: []int{1, 0}}}}
		s := &prologueBuilder{all: []*computedRows{{rows: 2, columns: 12, groups: []*rowGroup{g}}}}
		if x, index := s.reach(1, 2, 200), s.reach(2, 2, 200); x != c.want || index != 2 {
			t.Errorf("%d rows from element %d on: a trial has %d elements of them, want %d, and %d indices", c.gathers, c.off, x, c.want, index)
		}
	}
}

// TestTypesOfGather: rows that another kernel describes as gathered by Int64, or of other floats, are not made as if
// they were Float32 by Int32.
func TestTypesOfGather(t *testing.T) {
	s := &prologueBuilder{makers: []Launch{{Args: make([]kernels.Arg, 3)}}}
	for _, types := range [][3]kernels.DType{{kernels.Float32, kernels.Int64, kernels.Float32},
		{kernels.BFloat16, kernels.Int32, kernels.Float32}, {kernels.Float32, kernels.Int32, kernels.BFloat16}} {
		op := &operation.Gather{Outer: 1, N: 2, Cols: 3, Rows: 4, X: kernels.View{Arg: 0, Type: types[0]},
			Index: kernels.View{Arg: 1, Type: types[1], Strides: []int{0, 1, 0}}, Y: kernels.View{Arg: 2, Type: types[2]}}
		if _, err := s.gather(&computedRows{}, op, origin{}, 0); err == nil || !strings.Contains(err.Error(), "Float32") {
			t.Errorf("%v: err = %v", types, err)
		}
	}
}
