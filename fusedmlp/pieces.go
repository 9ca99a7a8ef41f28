package fusedmlp

import (
	"cmp"
	"slices"
)

// inPart returns the sums [shares, inner] of a place that holds no formula's result by itself: a
// piece, if it is a part of one that does, or the whole sum, if it holds pieces. A tensor sums many
// rows in runs that are equally long, what is left over in a launch of its own, and then these. It
// returns nil for other places.
func (f *dataFlow) inPart(p region, count, inner, shares int) *value {
	if x, start := f.within(p); x != nil {
		return &value{kind: aPiece, n: shares * inner, x: x, start: start, count: count, inner: inner, shares: shares}
	}
	pieces := f.tiling(p)
	if pieces == nil {
		return nil
	}
	first, next := pieces[0], 0
	for _, h := range pieces {
		if h.x != first.x || h.inner != inner || h.start != next {
			return nil
		}
		next += h.count * inner
	}
	if next != first.x.n {
		return nil
	}
	return &value{kind: aSum, n: shares * inner, x: first.x, count: next / inner, inner: inner, shares: shares,
		pieces: pieces}
}

// within returns the formula's result of which a place is a part now, and where that begins.
func (f *dataFlow) within(p region) (*value, int) {
	for _, w := range slices.Backward(f.writes[p.memory]) {
		if w.lo >= p.hi || p.lo >= w.hi {
			continue
		}
		if w.value == nil || w.lo > p.lo || w.hi < p.hi {
			return nil, 0
		}
		return w.value, p.lo - w.lo
	}
	return nil, 0
}

// tiling returns the pieces that fill a place now, in their order, or nil.
func (f *dataFlow) tiling(p region) []*value {
	var tiles []write
	left := p.hi - p.lo
	for _, w := range slices.Backward(f.writes[p.memory]) {
		if w.lo >= p.hi || p.lo >= w.hi {
			continue
		}
		hidden := slices.ContainsFunc(tiles, func(later write) bool { return w.lo < later.hi && later.lo < w.hi })
		if hidden || w.value == nil || w.value.kind != aPiece || w.lo < p.lo || w.hi > p.hi {
			return nil
		}
		tiles = append(tiles, w)
		if left -= w.hi - w.lo; left == 0 {
			break
		}
	}
	if left > 0 || len(tiles) == 0 {
		return nil
	}
	slices.SortFunc(tiles, func(a, b write) int { return cmp.Compare(a.lo, b.lo) })
	pieces := make([]*value, len(tiles))
	for i, w := range tiles {
		pieces[i] = w.value
	}
	return pieces
}
