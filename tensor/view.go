package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// view returns a tensor over t's storage.
func (t *Tensor) view(shape, strides []int, off int) *Tensor {
	t.st.retain()
	v := &Tensor{st: t.st, shape: shape, strides: strides, off: off, typ: t.typ}
	return v.register()
}

// View returns another handle on the same elements: freeing one leaves the other.
func (t *Tensor) View() *Tensor {
	check("View", t)
	return t.view(t.shape, t.strides, t.off)
}

func (t *Tensor) reshape(shape ...int) *Tensor {
	check("Reshape", t)
	dims, strides := contiguousLayout(shape)
	known, infer := 1, -1
	for i, d := range dims {
		if d == -1 && infer < 0 {
			infer = i
			continue
		}
		known *= d
	}
	if infer >= 0 && known > 0 && t.Len()%known == 0 {
		dims[infer] = t.Len() / known
		putRowMajor(strides, dims)
	}
	if size(dims) != t.Len() {
		detail := fmt.Sprintf("%d elements cannot take that shape", t.Len())
		if slices.Contains(dims, -1) && infer >= 0 && known < 0 {
			detail = "one dimension may be -1, which is inferred from the others"
		}
		if len(dims) > MaxRank {
			detail = fmt.Sprintf("%d axes: a tensor has %d at most", len(dims), MaxRank)
		}
		panic(&Error{Op: "Reshape", Kind: ErrShape, Shapes: [][]int{t.shape, dims}, Detail: detail})
	}
	if t.IsContiguous() || t.putStrides(dims, strides) {
		return t.view(dims, strides, t.off)
	}
	return t.Copy().reshaped(dims)
}

// putStrides sets strides to those with which t's elements are those of another shape of their
// number, in their order. ok is false if axes with a gap between them would have to be one.
func (t *Tensor) putStrides(shape, strides []int) (ok bool) {
	end := len(shape) // the axes from here on have their strides
	for a := t.Rank() - 1; a >= 0; {
		n, stride := t.shape[a], t.strides[a] // of a run of contiguous axes
		for a--; a >= 0 && (t.shape[a] == 1 || n == 1 || t.strides[a] == stride*n); a-- {
			if n == 1 {
				stride = t.strides[a]
			}
			n *= t.shape[a]
		}
		for end > 0 && (n > 1 || shape[end-1] == 1) {
			end--
			if n%shape[end] != 0 {
				return false
			}
			strides[end] = stride
			stride *= shape[end]
			n /= shape[end]
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// reshaped changes the shape of a contiguous tensor that nobody else has seen.
func (t *Tensor) reshaped(shape []int) *Tensor {
	t.shape, t.strides = shape, rowMajor(shape)
	return t
}

func (t *Tensor) transpose(axes ...int) *Tensor {
	check("Transpose", t)
	if len(axes) == 0 {
		axes = sequence(0, t.Rank())
		slices.Reverse(axes)
	}
	layout := make([]int, 2*t.Rank())
	shape, strides := layout[:t.Rank():t.Rank()], layout[t.Rank():]
	var seen [MaxRank]bool
	for i, axis := range axes {
		a := axisOf("Transpose", t, axis)
		if len(axes) != t.Rank() || seen[a] {
			misuse("Transpose", ErrAxis, fmt.Sprintf("%v is no permutation of the %d axes", axes, t.Rank()), t)
		}
		seen[a] = true
		shape[i], strides[i] = t.shape[a], t.strides[a]
	}
	return t.view(shape, strides, t.off)
}

func (t *Tensor) t() *Tensor {
	check("T", t)
	if t.Rank() != 2 {
		misuse("T", ErrShape, "only a matrix has a transpose; use Transpose with axes", t)
	}
	layout := []int{t.shape[1], t.shape[0], t.strides[1], t.strides[0]}
	return t.view(layout[:2:2], layout[2:], t.off)
}

func (t *Tensor) expand(shape ...int) *Tensor {
	check("Expand", t)
	checkShape("Expand", shape)
	if !broadcastsTo(t.shape, shape) {
		panic(&Error{Op: "Expand", Kind: ErrShape, Shapes: [][]int{t.shape, slices.Clone(shape)}, Detail: "the first does not broadcast to the second"})
	}
	dims, strides := contiguousLayout(shape)
	for axis := range dims {
		strides[axis] = t.strideAt(axis, len(dims))
	}
	return t.view(dims, strides, t.off)
}

func (t *Tensor) copy() *Tensor {
	d := check("Copy", t)
	out := alloc("Copy", d, t.typ, t.shape)
	copyTo(out, t)
	t.keepRange("Copy", out)
	return out
}

// copyTo writes src, any view, to dst, any view of the same shape that repeats no element, converted to
// its type.
func copyTo(dst, src *Tensor) {
	if src.typ != dst.typ {
		src.convertTo(dst, CastOptions{})
		return
	}
	launchMap(fn.Identity.Alone(), dst.typ, []*Tensor{src, dst}, nil, CastOptions{})
}

// extent returns the distance from a tensor's first element to past its last.
func (t *Tensor) extent() int {
	if t.Len() == 0 {
		return 0
	}
	n := 1
	for d, s := range t.shape {
		n += (s - 1) * t.strides[d]
	}
	return n
}

// bufferArg is the kernel argument for a non-contiguous view: all elements from its first to its
// last.
func (t *Tensor) bufferArg() kernels.Arg { return kernels.BufferArg(t.st.buf, t.off, t.extent()) }

// contiguousOperand is a contiguous tensor for a launch: the tensor itself, or a copy of a
// non-contiguous view.
type contiguousOperand struct {
	*Tensor
	temporary bool
}

// contiguous returns t as an operand. Call release after the launch.
func (t *Tensor) contiguous() contiguousOperand {
	if t.IsContiguous() {
		return contiguousOperand{t, false}
	}
	return contiguousOperand{t.Copy(), true}
}

// release frees the copy, if one was made. The queue is in order: the launch that reads it runs
// first.
func (o contiguousOperand) release() {
	if o.temporary {
		o.Free()
	}
}

// Contiguous returns a view of t if its elements are contiguous, in row-major order, and a copy
// otherwise: what [Tensor.Arg] takes. The caller frees it after the launch.
func (t *Tensor) Contiguous() *Tensor {
	check("Contiguous", t)
	if t.IsContiguous() {
		return t.view(t.shape, t.strides, t.off)
	}
	return t.Copy()
}
