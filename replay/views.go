package replay

import (
	"cmp"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// view is elements of memory for the indices below some dimensions: as kernels.View, counted from
// the buffer's first.
type view struct {
	buf     kernels.Buffer
	off     int
	strides []int
}

// span returns the elements [lo, hi) that a view lies within.
func (v view) span(dims []int) span {
	s := span{v.off, v.off + 1}
	for d, n := range dims {
		if n == 0 {
			return span{v.off, v.off}
		}
		if by := (n - 1) * v.strides[d]; by < 0 {
			s.lo += by
		} else {
			s.hi += by
		}
	}
	return s
}

// same reports whether two views of the same dimensions name the same elements at each index.
func (v view) same(w view, dims []int) bool {
	if v.buf != w.buf || v.off != w.off {
		return false
	}
	for d, n := range dims {
		if n > 1 && v.strides[d] != w.strides[d] {
			return false
		}
	}
	return true
}

// dimStride is the stride and size of dimension dim of a view. The element at indices i has the offset
// Σ stride·i, where 0 ≤ i < n: a number in a mixed radix.
type dimStride struct{ stride, n, dim int }

// dimStrides returns the dimensions of a view, the largest stride first, so that each offset has one
// list of indices: a stride is at least stride·n of the dimension after it. ok is false where that is
// impossible: the view repeats elements, goes backwards, or may name one element by two lists.
func (v view) dimStrides(dims []int) (list []dimStride, ok bool) {
	for d, n := range dims {
		switch {
		case n == 1:
		case n == 0 || v.strides[d] <= 0:
			return nil, false
		default:
			list = append(list, dimStride{v.strides[d], n, d})
		}
	}
	slices.SortFunc(list, func(a, b dimStride) int { return cmp.Compare(b.stride, a.stride) })
	for k := 1; k < len(list); k++ {
		if list[k-1].stride < list[k].stride*list[k].n {
			return nil, false
		}
	}
	return list, true
}

// part is a factor of one of the reader's dimensions, which may continue in several of the
// writer's: index i below n stands for index i·by of the reader's dimension dim, and adds
// i·counts[d] to the writer's index along its dimension d.
type part struct {
	dim, n int
	by     int
	counts []int // nil where refine made it
}

// composed says where a reader finds what a writer wrote: the reader's dimensions in parts, and the
// writer's index at the reader's first.
type composed struct {
	parts []part
	start []int // by the writer's dimensions
}

// compose returns, for a view that is read, the indices of the view that was written for the same
// elements. ok is false where they are no sums of the reader's indices, or an element is read that
// was not written.
func compose(wrote view, wdims []int, read view, rdims []int) (c composed, ok bool) {
	strides, ok := wrote.dimStrides(wdims)
	if !ok || wrote.buf != read.buf {
		return c, false
	}
	c.start = make([]int, len(wdims))
	rest := read.off - wrote.off
	if rest < 0 {
		return c, false
	}
	for _, g := range strides {
		c.start[g.dim] = rest / g.stride
		rest %= g.stride
	}
	if rest != 0 {
		return c, false
	}
	last := slices.Clone(c.start) // the greatest index of each
	for d, n := range rdims {
		if n == 0 {
			return c, false
		}
		var inner []part
		step, by := read.strides[d], 1
		for n > 1 {
			p := part{dim: d, n: n, by: by, counts: make([]int, len(wdims))}
			if step != 0 {
				k := slices.IndexFunc(strides, func(g dimStride) bool { return g.stride <= step })
				if step < 0 || k < 0 || step%strides[k].stride != 0 {
					return c, false
				}
				g := strides[k]
				count := step / g.stride
				if fit := g.n / count; count >= g.n || (n-1)*count >= g.n {
					// It continues with the next dimension.
					if k == 0 || count >= g.n || g.n%count != 0 || n%fit != 0 || strides[k-1].stride != g.stride*g.n {
						return c, false
					}
					p.n = fit
				}
				p.counts[g.dim] = count
				last[g.dim] += (p.n - 1) * count
			}
			inner = append(inner, p)
			n /= p.n
			by *= p.n
			step *= p.n
		}
		slices.Reverse(inner)
		c.parts = append(c.parts, inner...)
	}
	for _, g := range strides {
		if last[g.dim] >= g.n {
			return c, false
		}
	}
	return c, true
}

// dims are those of the parts.
func (c composed) dims() []int {
	dims := make([]int, len(c.parts))
	for i, p := range c.parts {
		dims[i] = p.n
	}
	return dims
}

// ofReader returns a view of the reader's by parts.
func (c composed) ofReader(v view) view {
	strides := make([]int, len(c.parts))
	for i, p := range c.parts {
		strides[i] = v.strides[p.dim] * p.by
	}
	return view{v.buf, v.off, strides}
}

// ofWriter returns a view of the writer's by parts.
func (c composed) ofWriter(v view) view {
	strides := make([]int, len(c.parts))
	off := v.off
	for d, n := range c.start {
		off += n * v.strides[d]
	}
	for i, p := range c.parts {
		for d, n := range p.counts {
			strides[i] += n * v.strides[d]
		}
	}
	return view{v.buf, off, strides}
}

// straight reports whether every index of the reader is the same one of the writer: dimension by
// dimension, but for those of one element.
func (c composed) straight(wdims, rdims []int) bool {
	w, r := slices.DeleteFunc(slices.Clone(wdims), one), slices.DeleteFunc(slices.Clone(rdims), one)
	if !slices.Equal(w, r) || len(c.parts) != len(r) {
		return false
	}
	d := 0
	for _, p := range c.parts {
		for wdims[d] == 1 {
			d++
		}
		if p.by != 1 || c.start[d] != 0 || p.counts[d] != 1 {
			return false
		}
		d++
	}
	return true
}

func one(n int) bool { return n == 1 }

// refine returns two index spaces of as many elements, counted in row-major order, in common
// dimensions: each as parts of its own. ok is false where there are none.
func refine(a, b []int) (pa, pb []part, ok bool) {
	a, b = slices.Clone(a), slices.Clone(b)
	if intmath.Product(a) != intmath.Product(b) {
		return nil, nil, false
	}
	i, j, byA, byB := len(a)-1, len(b)-1, 1, 1
	for {
		for i >= 0 && a[i] == 1 {
			i, byA = i-1, 1
		}
		for j >= 0 && b[j] == 1 {
			j, byB = j-1, 1
		}
		if i < 0 || j < 0 {
			break
		}
		n := min(a[i], b[j])
		if a[i]%n != 0 || b[j]%n != 0 {
			return nil, nil, false
		}
		pa, pb = append(pa, part{dim: i, n: n, by: byA}), append(pb, part{dim: j, n: n, by: byB})
		a[i], b[j] = a[i]/n, b[j]/n
		byA, byB = byA*n, byB*n
	}
	slices.Reverse(pa)
	slices.Reverse(pb)
	return pa, pb, true
}

// disjoint reports whether two views, of dimensions of their own, surely have no element in common.
func disjoint(v view, vdims []int, w view, wdims []int) bool {
	if v.buf != w.buf {
		return true
	}
	a, b := v.span(vdims), w.span(wdims)
	if a.hi <= b.lo || b.hi <= a.lo {
		return true
	}
	x, ok := v.dimStrides(vdims)
	y, also := w.dimStrides(wdims)
	if !ok || !also {
		return false
	}
	x, y = mergeDimStrides(x), mergeDimStrides(y)
	if !slices.EqualFunc(x, y, func(a, b dimStride) bool { return a.stride == b.stride && a.n == b.n }) {
		return false
	}
	return !between(x, w.off-v.off)
}

// mergeDimStrides merges dimensions that continue each other: strides 6 and 2 of sizes 4 and 3 are
// stride 2 of size 12.
func mergeDimStrides(list []dimStride) []dimStride {
	var merged []dimStride
	for _, g := range list {
		if n := len(merged); n > 0 && merged[n-1].stride == g.stride*g.n {
			merged[n-1] = dimStride{stride: g.stride, n: merged[n-1].n * g.n}
			continue
		}
		merged = append(merged, dimStride{stride: g.stride, n: g.n})
	}
	return merged
}

// between reports whether two views with these strides, one of which begins far elements after the
// other, have an element in common: whether far is the sum of stride·k for some k of each dimension with
// −n < k < n.
func between(dims []dimStride, far int) bool {
	if len(dims) == 0 {
		return far == 0
	}
	g := dims[0]
	low := far / g.stride
	if far < 0 && far%g.stride != 0 {
		low--
	}
	for _, k := range []int{low, low + 1} {
		if -g.n < k && k < g.n && between(dims[1:], far-k*g.stride) {
			return true
		}
	}
	return false
}

// whole returns the spans of elements that views of the same dimensions name without gaps, together
// where one fills the gaps of another.
func whole(views []view, dims []int) []span {
	var spans []span
	n := intmath.Product(dims)
	for i, v := range views {
		if s := v.span(dims); s.hi-s.lo == n {
			spans = append(spans, s)
			continue
		}
		// v and those that follow it at equal distances are one view with a dimension more.
		for j, w := range views {
			step := w.off - v.off
			if i == j || step <= 0 || !sameSteps(v, w, dims) {
				continue
			}
			count := 1
			for slices.ContainsFunc(views, func(u view) bool {
				return u.off == v.off+count*step && sameSteps(u, v, dims)
			}) {
				count++
			}
			all := view{v.buf, v.off, append(slices.Clone(v.strides), step)}
			with := append(slices.Clone(dims), count)
			if s := all.span(with); s.hi-s.lo == n*count {
				if _, ok := all.dimStrides(with); ok {
					spans = append(spans, s)
				}
			}
		}
	}
	return spans
}

func sameSteps(v, w view, dims []int) bool {
	w.off = v.off
	return v.same(w, dims)
}
