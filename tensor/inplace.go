package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// writable panics unless t can be the destination of an in-place operation, and counts the write.
func writable(op string, t *Tensor, others ...*Tensor) Device {
	d := check(op, t)
	for _, o := range others { // one by one: a joined list would be an allocation per launch
		check(op, t, o)
	}
	if !t.IsContiguous() {
		misuse(op, ErrShape, "the destination is not contiguous: write to a contiguous tensor, and pass that to SetInPlace", t)
	}
	t.st.version++
	return d
}

// mustNotRepeat panics if several indices of t name one element.
func (t *Tensor) mustNotRepeat(op string) {
	if t.repeats() {
		misuse(op, ErrValue, "the destination repeats elements: several values would go to one place", t)
	}
}

// repeats reports whether several indices of t may name one element: whether a step along an axis
// stays within what the axes of smaller steps reach. So it is of every view that Expand and Unfold
// make with elements in common, and of none that only Slice, Step, Select, Transpose, Diagonal and
// Reshape made.
func (t *Tensor) repeats() bool {
	if t.Len() == 0 {
		return false
	}
	var taken [MaxRank]bool
	for reach := 0; ; {
		least := -1
		for a, n := range t.shape {
			if n > 1 && !taken[a] && (least < 0 || t.strides[a] < t.strides[least]) {
				least = a
			}
		}
		if least < 0 {
			return false
		}
		if t.strides[least] <= reach {
			return true
		}
		taken[least] = true
		reach += (t.shape[least] - 1) * t.strides[least]
	}
}

// overlaps reports whether two tensors may share elements.
func overlaps(a, b *Tensor) bool {
	return a.st == b.st && a.Len() > 0 && b.Len() > 0 && a.off < b.off+b.extent() && b.off < a.off+a.extent()
}

// share reports whether two tensors, neither of which repeats elements, share some; of other
// strides, whether they may.
func share(a, b *Tensor) bool {
	if !overlaps(a, b) || !slices.Equal(a.shape, b.shape) || !slices.Equal(a.strides, b.strides) {
		return overlaps(a, b)
	}
	return reaches(b.off-a.off, a.shape, a.strides, 0)
}

// reaches reports whether two elements of a view lie d apart, with the axes whose bits are set in
// done left out.
func reaches(d int, shape, strides []int, done uint) bool {
	widest, rest := -1, 0
	for a, s := range strides {
		if done>>a&1 == 0 && shape[a] > 1 {
			rest += (shape[a] - 1) * s
			if widest < 0 || s > strides[widest] {
				widest = a
			}
		}
	}
	if widest < 0 || max(d, -d) > rest {
		return d == 0
	}
	n, s := shape[widest], strides[widest]
	rest -= (n - 1) * s
	for k := max(1-n, (d-rest)/s-1); k < n && k*s <= d+rest; k++ {
		if reaches(d-k*s, shape, strides, done|1<<widest) {
			return true
		}
	}
	return false
}

// copyIfOverlaps returns src as an operand of a kernel that writes dst element by element: a copy
// if writing one element of dst could change another of src.
func copyIfOverlaps(dst, src *Tensor) contiguousOperand {
	sameElements := src.off == dst.off && slices.Equal(src.shape, dst.shape) && src.IsContiguous() && dst.IsContiguous()
	if overlaps(dst, src) && !sameElements {
		return contiguousOperand{src.Copy(), true}
	}
	return contiguousOperand{src, false}
}

// disjoint panics if an operand of op shares elements with its destination, which is written while
// they are still read.
func disjoint(op string, dst *Tensor, operands ...*Tensor) {
	for _, t := range operands {
		if overlaps(dst, t) {
			misuse(op, ErrValue, "the destination shares elements with an operand: copy that first", dst, t)
		}
	}
}

func (t *Tensor) fill(v float64) {
	d := t.Device()
	launch(d, ops.Fill.Of(t.typ), t.arg(), kernels.IntArg(t.Len()), numberOf(t.typ, v))
}

func (t *Tensor) zero() {
	d := t.Device()
	launch(d, ops.Zero.Of(t.typ), t.arg(), kernels.IntArg(t.Len()))
}

// through changes t, a non-contiguous view, by way of a contiguous copy.
func (t *Tensor) through(op string, change func(c *Tensor)) {
	check(op, t)
	t.mustNotRepeat(op)
	c := t.Copy()
	defer c.Free()
	change(c)
	t.SetInPlace(c)
}

// throughWide is through of a copy in the type that t is computed in.
func (t *Tensor) throughWide(change func(c *Tensor)) {
	c := t.wide()
	defer c.Free()
	change(c)
	t.SetInPlace(c)
}

// wide returns a copy of t, contiguous and of the type that t is computed in.
func (t *Tensor) wide() *Tensor {
	if typ := t.typ.Computed(); typ != t.typ {
		return t.To(typ)
	}
	return t.Copy()
}

// FillInPlace sets every element to v. It panics with ErrType if v is no number of an integer type,
// and with ErrValue if t repeats elements.
func (t *Tensor) FillInPlace(v float64) {
	const op = "FillInPlace"
	check(op, t)
	mustFit(op, t.typ, v)
	if !t.IsContiguous() {
		t.through(op, func(c *Tensor) { c.fill(v) })
		return
	}
	t.st.version++
	t.fill(v)
}

// ZeroInPlace sets every element to 0. It panics with ErrValue if t repeats elements.
func (t *Tensor) ZeroInPlace() {
	const op = "ZeroInPlace"
	if check(op, t); !t.IsContiguous() {
		t.through(op, (*Tensor).zero)
		return
	}
	t.st.version++
	t.zero()
}

// SetInPlace copies src, of t's shape, over t's elements: through any view but one that repeats
// elements, as Expand makes. src may share elements with t. It is of t's type, or both are of
// floats: then numbers are rounded to t's, once. It panics with ErrShape for another shape,
// with ErrType for another type, and with ErrValue if t repeats elements.
func (t *Tensor) SetInPlace(src *Tensor) {
	const op = "SetInPlace"
	check(op, t, src)
	if !slices.Equal(t.shape, src.shape) {
		misuse(op, ErrShape, "", t, src)
	}
	mustHold(op, t, src.typ)
	t.mustNotRepeat(op)
	t.st.version++
	same := contiguousOperand{src, false}
	if higher(t.typ, src.typ) == Float64 {
		same = src.as(t.typ)
	}
	defer same.release()
	from := copyIfOverlaps(t, same.Tensor)
	defer from.release()
	copyTo(t, from.Tensor)
}

// mustHold panics with ErrType unless elements of a type can be written to t: those of its own, and
// those of one type of floats to another.
func mustHold(op string, t *Tensor, from Type) {
	if t.typ != from && !(t.typ.Float() && from.Float()) {
		misuse(op, ErrType, fmt.Sprintf("%v into %v: convert with To(tensor.%v)", from, t.typ, nameOf(t.typ)), t)
	}
}

// Upload copies data, as many elements as t has, over t's elements in row-major order. It is of the
// type of t, or both are of floats: then numbers are rounded to t's. It returns when data may be
// changed. It panics with ErrShape for another number, with ErrType for another type, and with
// ErrValue if t repeats elements.
func Upload[T Element](t *Tensor, data []T) {
	const op = "Upload"
	check(op, t)
	from, host := hostMemory(data)
	mustHold(op, t, from)
	host = rounded(t.typ, host)
	if len(data) != t.Len() {
		misuse(op, ErrShape, "data has another number of elements", t)
	}
	if !t.IsContiguous() {
		t.through(op, func(c *Tensor) { c.upload(host) })
		return
	}
	writable(op, t)
	t.upload(host)
}
