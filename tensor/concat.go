package tensor

import (
	"fmt"
	"math"
	"slices"
)

func concat(axis int, ts ...*Tensor) *Tensor {
	const op = "Concat"
	d := checkList(op, ts)
	first := ts[0]
	a := axisOf(op, first, axis)
	shape, typ := slices.Clone(first.shape), first.typ
	for _, t := range ts[1:] {
		if t.Rank() != len(shape) {
			misuse(op, ErrShape, "", first, t)
		}
		for b, n := range t.shape {
			if b != a && n != shape[b] {
				misuse(op, ErrShape, fmt.Sprintf("dimensions other than that of axis %d are equal", axis), first, t)
			}
		}
		shape[a] += t.shape[a]
		typ = joint(op, typ, t)
	}
	y := alloc(op, d, typ, shape)
	at := 0
	for _, t := range ts {
		y.setPart(a, at, t)
		at += t.shape[a]
	}
	y.keepUnion(ts...)
	return y
}

// checkList is check of operands in a list, which must not be empty.
func checkList(op string, ts []*Tensor) Device {
	if len(ts) == 0 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "there are no tensors"})
	}
	return check(op, ts...)
}

// joint returns the type that holds elements of two tensors, the first of which is of a type.
func joint(op string, a Type, t *Tensor) Type {
	switch {
	case holds(a, t.typ):
	case a.Storage() || t.typ.Storage():
		misuse(op, ErrType, fmt.Sprintf("%v and %v: types for storage promote to nothing: convert one with To", a, t.typ), t)
	default:
		mustPromote(op, t)
	}
	return higher(a, t.typ)
}

// setPart copies src, converted to t's type, over the part of t from index from of an axis on.
func (t *Tensor) setPart(axis, from int, src *Tensor) {
	x := src.as(t.typ)
	defer x.release()
	part := t.Slice(axis, from, from+src.shape[axis])
	copyTo(part, x.Tensor)
	part.Free()
}

func stack(axis int, ts ...*Tensor) *Tensor {
	const op = "Stack"
	d := checkList(op, ts)
	first := ts[0]
	a := placeOf(op, first, axis)
	typ := first.typ
	for _, t := range ts[1:] {
		if !slices.Equal(t.shape, first.shape) {
			misuse(op, ErrShape, "the shapes are equal", first, t)
		}
		typ = joint(op, typ, t)
	}
	y := alloc(op, d, typ, slices.Insert(slices.Clone(first.shape), a, len(ts)))
	for i, t := range ts {
		wide := t.Unsqueeze(a)
		y.setPart(a, i, wide)
		wide.Free()
	}
	y.keepUnion(ts...)
	return y
}

func (t *Tensor) splitWithSizes(axis int, sizes ...int) []*Tensor {
	const op = "SplitWithSizes"
	check(op, t)
	a := axisOf(op, t, axis)
	rest := t.shape[a]
	for _, n := range sizes {
		if n < 0 || n > rest {
			rest = -1
			break
		}
		rest -= n
	}
	if rest != 0 {
		misuse(op, ErrShape, fmt.Sprintf("parts of %v of axis %d, which has %d", sizes, axis, t.shape[a]), t)
	}
	parts := make([]*Tensor, len(sizes))
	at := 0
	for i, n := range sizes {
		parts[i] = t.Slice(a, at, at+n)
		at += n
	}
	return parts
}

func (t *Tensor) split(axis, size int) []*Tensor {
	const op = "Split"
	check(op, t)
	a := axisOf(op, t, axis)
	if size < 1 {
		misuse(op, ErrValue, fmt.Sprintf("parts of %d: a size is 1 or more", size), t)
	}
	t.mustCount(op, t.shape[a]/size)
	return t.SplitWithSizes(a, partSizes(t.shape[a], size)...)
}

func (t *Tensor) chunk(axis, n int) []*Tensor {
	const op = "Chunk"
	check(op, t)
	a := axisOf(op, t, axis)
	if n < 1 {
		misuse(op, ErrValue, fmt.Sprintf("%d chunks: there is 1 or more", n), t)
	}
	if t.shape[a] == 0 {
		t.mustCount(op, n)
		return t.SplitWithSizes(a, make([]int, n)...)
	}
	t.mustCount(op, min(n, t.shape[a]))
	return t.SplitWithSizes(a, partSizes(t.shape[a], (t.shape[a]-1)/n+1)...)
}

// mustCount panics with ErrShape for parts that no list holds: an axis beside one of dimension 0
// may be that long.
func (t *Tensor) mustCount(op string, parts int) {
	if parts > math.MaxInt32 {
		misuse(op, ErrShape, fmt.Sprintf("there would be %d parts: %d at most", parts, math.MaxInt32), t)
	}
}

// partSizes returns the sizes of the parts of n elements, each of size elements but for the last.
func partSizes(n, size int) []int {
	sizes := []int{min(n, size)}
	for n -= sizes[0]; n > 0; n -= size {
		sizes = append(sizes, min(n, size))
	}
	return sizes
}

func (t *Tensor) unbind(axis int) []*Tensor {
	const op = "Unbind"
	check(op, t)
	a := axisOf(op, t, axis)
	t.mustCount(op, t.shape[a])
	parts := make([]*Tensor, t.shape[a])
	for i := range parts {
		parts[i] = t.Select(a, i)
	}
	return parts
}
