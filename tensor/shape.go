package tensor

import (
	"fmt"
	"math"
	"slices"
)

// MaxRank is the largest rank of a tensor. A kernel of an element-wise operation has loops over at most
// fused.MapRank axes that cannot be joined: one of more is launched for each index of the first.
const MaxRank = 16

// size returns the number of elements of a shape, or −1 if it has a negative dimension, too many
// axes or more elements than kernels can index with an int.
func size(shape []int) int {
	if len(shape) > MaxRank {
		return -1
	}
	n, zero := int64(1), false // an int of 32 bits could not tell that there are too many
	for _, d := range shape {
		switch {
		case d < 0:
			return -1
		case d == 0:
			zero = true
		case n > math.MaxInt32/int64(d):
			n = math.MaxInt32 + 1
		default:
			n *= int64(d)
		}
	}
	if zero {
		return 0
	}
	if n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// checkShape panics unless shape can be that of a tensor, and returns its size.
func checkShape(op string, shape []int) int {
	n := size(shape)
	if len(shape) > MaxRank {
		panic(&Error{Op: op, Kind: ErrShape, Shapes: [][]int{slices.Clone(shape)}, Detail: fmt.Sprintf("%d axes: a tensor has %d at most", len(shape), MaxRank)})
	}
	if n < 0 {
		panic(&Error{Op: op, Kind: ErrShape, Shapes: [][]int{slices.Clone(shape)}, Detail: fmt.Sprintf("dimensions are 0 or more, elements at most %d", math.MaxInt32)})
	}
	return n
}

// rowMajor returns the strides of a contiguous tensor.
func rowMajor(shape []int) []int {
	strides := make([]int, len(shape))
	putRowMajor(strides, shape)
	return strides
}

// putRowMajor sets strides to those of a contiguous tensor.
func putRowMajor(strides, shape []int) {
	step := 1
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = step
		step *= max(shape[d], 1)
	}
}

// contiguousLayout returns a copy of shape, which is never nil, and the strides of a contiguous
// tensor, in one piece of memory.
func contiguousLayout(shape []int) (dims, strides []int) {
	n := len(shape)
	both := make([]int, 2*n)
	dims, strides = both[:n:n], both[n:]
	copy(dims, shape)
	putRowMajor(strides, dims)
	return dims, strides
}

// Broadcast returns the shape of an operation on two shapes by NumPy's rule: aligned at the last
// axis, dimensions are equal or one of them is 1. ok is false if they do not fit.
func Broadcast(a, b []int) (shape []int, ok bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape = slices.Clone(a)
	for i, d := range b {
		at := len(a) - len(b) + i
		switch {
		case shape[at] == d || d == 1:
		case shape[at] == 1:
			shape[at] = d
		default:
			return nil, false
		}
	}
	return shape, true
}

// broadcastFault says at which axis two shapes do not broadcast.
func broadcastFault(a, b []int) string {
	for i := 1; i <= min(len(a), len(b)); i++ {
		if n, m := a[len(a)-i], b[len(b)-i]; n != m && n != 1 && m != 1 {
			return fmt.Sprintf("axis -%d is %d and %d long: shapes broadcast where an axis, counted from the end, is equal or 1", i, n, m)
		}
	}
	return ""
}

// broadcastsTo reports whether the broadcast of the shape from and to is to.
func broadcastsTo(from, to []int) bool {
	if len(from) > len(to) {
		return false
	}
	for i, d := range from {
		if d != 1 && d != to[len(to)-len(from)+i] {
			return false
		}
	}
	return true
}

// axisOf resolves an axis that may count from the end.
func axisOf(op string, t *Tensor, axis int) int {
	a := axis
	if a < 0 {
		a += t.Rank()
	}
	if axis == Keepdims {
		misuse(op, ErrAxis, "Keepdims is a word for reductions", t)
	}
	if a < 0 || a >= t.Rank() {
		misuse(op, ErrAxis, fmt.Sprintf("axis %d of a tensor of rank %d", axis, t.Rank()), t)
	}
	return a
}

// scalarAxis reports whether t is a scalar and axis the one that it has for what works along axes: 0, or −1.
func scalarAxis(t *Tensor, axis int) bool { return t.Rank() == 0 && (axis == 0 || axis == -1) }

// isSuffix reports whether shape, leading ones aside, is the end of whole.
func isSuffix(shape, whole []int) bool {
	for len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	return len(shape) <= len(whole) && slices.Equal(shape, whole[len(whole)-len(shape):])
}
