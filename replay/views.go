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

// digit is a dimension of a view, read as a digit of a number with mixed bases: of the element at
// indices i the offset is the sum of step·i over all digits, where 0 ≤ i < n.
type digit struct{ step, n, dim int }

// digits returns the dimensions of a view as digits, the largest step first, so that each offset
// has one list of indices: a step is at least step·n of the digit after it. ok is false where there
// are none such: the view repeats elements, goes backwards, or may name one element by two lists.
func (v view) digits(dims []int) (list []digit, ok bool) {
	for d, n := range dims {
		switch {
		case n == 1:
		case n == 0 || v.strides[d] <= 0:
			return nil, false
		default:
			list = append(list, digit{v.strides[d], n, d})
		}
	}
	slices.SortFunc(list, func(a, b digit) int { return cmp.Compare(b.step, a.step) })
	for k := 1; k < len(list); k++ {
		if list[k-1].step < list[k].step*list[k].n {
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
	digits, ok := wrote.digits(wdims)
	if !ok || wrote.buf != read.buf {
		return c, false
	}
	c.start = make([]int, len(wdims))
	rest := read.off - wrote.off
	if rest < 0 {
		return c, false
	}
	for _, g := range digits {
		c.start[g.dim] = rest / g.step
		rest %= g.step
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
				k := slices.IndexFunc(digits, func(g digit) bool { return g.step <= step })
				if step < 0 || k < 0 || step%digits[k].step != 0 {
					return c, false
				}
				g := digits[k]
				count := step / g.step
				if fit := g.n / count; count >= g.n || (n-1)*count >= g.n {
					// It continues with the next digit.
					if k == 0 || count >= g.n || g.n%count != 0 || n%fit != 0 || digits[k-1].step != g.step*g.n {
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
	for _, g := range digits {
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
	x, ok := v.digits(vdims)
	y, also := w.digits(wdims)
	if !ok || !also {
		return false
	}
	x, y = joinDigits(x), joinDigits(y)
	if !slices.EqualFunc(x, y, func(a, b digit) bool { return a.step == b.step && a.n == b.n }) {
		return false
	}
	return !between(x, w.off-v.off)
}

// joinDigits makes one digit of two that continue each other.
func joinDigits(list []digit) []digit {
	var joined []digit
	for _, g := range list {
		if n := len(joined); n > 0 && joined[n-1].step == g.step*g.n {
			joined[n-1] = digit{step: g.step, n: joined[n-1].n * g.n}
			continue
		}
		joined = append(joined, digit{step: g.step, n: g.n})
	}
	return joined
}

// between reports whether two views with these digits, of which one begins far elements after the
// other, have an element in common: whether far is the sum of step·k for some k of each digit with
// −n < k < n.
func between(digits []digit, far int) bool {
	if len(digits) == 0 {
		return far == 0
	}
	g := digits[0]
	low := far / g.step
	if far < 0 && far%g.step != 0 {
		low--
	}
	for _, k := range []int{low, low + 1} {
		if -g.n < k && k < g.n && between(digits[1:], far-k*g.step) {
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
				if _, ok := all.digits(with); ok {
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
