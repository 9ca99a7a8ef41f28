package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
)

func (t *Tensor) tile(counts ...int) *Tensor {
	const op = "Tile"
	check(op, t)
	rank := max(t.Rank(), len(counts))
	shape := append(slices.Repeat([]int{1}, rank-t.Rank()), t.shape...) // never nil, as in alloc
	full := slices.Clone(shape)
	for i, n := range counts {
		if n < 0 {
			misuse(op, ErrValue, fmt.Sprintf("a count of %d: it is 0 or more", n), t)
		}
		a := rank - len(counts) + i
		full[a] = t.times(op, full[a], n)
	}
	checkShape(op, full)
	// Before an axis that is repeated goes one of so many parts, along which the tensor is
	// broadcast.
	var narrow, wide []int
	for a, n := range shape {
		if full[a] != n {
			narrow, wide = append(narrow, 1), append(wide, counts[a-rank+len(counts)])
		}
		narrow, wide = append(narrow, n), append(wide, n)
	}
	if len(wide) <= MaxRank {
		return t.spread(narrow, wide).reshaped(full)
	}
	y := t.Copy().reshaped(shape) // there is no room for all of them at once
	for i, n := range counts {
		if a := rank - len(counts) + i; n != 1 {
			outer, inner := intmath.Product(y.shape[:a]), intmath.Product(y.shape[a:])
			next := slices.Clone(y.shape)
			next[a] *= n
			whole := y.spread([]int{outer, 1, inner}, []int{outer, n, inner}).reshaped(next)
			y.Free()
			y = whole
		}
	}
	return y
}

// times returns how many elements an axis of n has count times over. It panics with ErrShape where
// no int holds that.
func (t *Tensor) times(op string, n, count int) int {
	if count > 0 && n > math.MaxInt/count {
		misuse(op, ErrShape, fmt.Sprintf("an axis of %d elements, %d times over, has too many", n, count), t)
	}
	return n * count
}

// spread returns a contiguous tensor of t's elements under the shape narrow, broadcast to wide.
func (t *Tensor) spread(narrow, wide []int) *Tensor {
	x := t.Reshape(narrow...)
	defer x.Free()
	y := x.Expand(wide...)
	defer y.Free()
	return y.Copy()
}

func (t *Tensor) repeatInterleave(count, axis int) *Tensor {
	const op = "RepeatInterleave"
	check(op, t)
	a := axisOf(op, t, axis)
	if count < 0 {
		misuse(op, ErrValue, fmt.Sprintf("a count of %d: it is 0 or more", count), t)
	}
	full := slices.Clone(t.shape)
	full[a] = t.times(op, full[a], count)
	checkShape(op, full)
	rows, inner := intmath.Product(t.shape[:a+1]), intmath.Product(t.shape[a+1:])
	return t.spread([]int{rows, 1, inner}, []int{rows, count, inner}).reshaped(full)
}

func (t *Tensor) roll(shift, axis int) *Tensor {
	const op = "Roll"
	d := check(op, t)
	a := axisOf(op, t, axis)
	y := alloc(op, d, t.typ, t.shape)
	if y.Len() == 0 {
		return y
	}
	n := t.shape[a]
	shift = (shift%n + n) % n
	for _, part := range [][3]int{{0, n - shift, shift}, {n - shift, n, 0}} {
		if part[0] == part[1] {
			continue
		}
		x := t.Slice(a, part[0], part[1])
		y.setPart(a, part[2], x)
		x.Free()
	}
	return y
}
