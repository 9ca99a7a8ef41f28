package tensor

import (
	"math"
	"math/bits"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// intRange is what is known of the elements of a storage of integers: at a version they were in [low,
// high]. Memory that was exposed to launches of others is written without a word.
type intRange struct {
	low, high      int64
	version        uint64
	known, exposed bool
	of             *Tensor // in a step that is recorded: what is older and has these elements; or nil
}

// boundValues says that the elements of a tensor that nobody else has seen are in [low, high].
func (t *Tensor) boundValues(low, high int64) {
	t.st.ints = intRange{low: low, high: high, version: t.st.version, known: true}
}

// keepRange says that out, which nobody else has seen, has the elements of t, if their range is known.
func (t *Tensor) keepRange(op string, out *Tensor) {
	if k := t.st.ints; k.known && !k.exposed && k.version == t.st.version {
		out.boundValues(k.low, k.high)
		if recordings.Load() > 0 {
			out.st.ints.of = t.Device().core().inputOf(op, t)
		}
	}
}

// noteRange remembers the range of t's elements, if they are all of the storage's: a view that
// repeats some may have as many.
func noteRange[T integer](t *Tensor, v []T) {
	if len(v) > 0 && len(v) == t.st.buf.Len() && t.IsContiguous() {
		t.st.ints = intRange{low: inInt64(slices.Min(v)), high: inInt64(slices.Max(v)), version: t.st.version,
			known: true, exposed: t.st.ints.exposed}
	}
}

// keepUnion says that out, which nobody else has seen, has elements of all ts and no others.
func (out *Tensor) keepUnion(ts ...*Tensor) {
	if !indexType(out.typ) {
		return
	}
	all := ts[0].derivable()
	for _, t := range ts[1:] {
		all = all.union(t.derivable())
	}
	out.bound(all)
}

// keepMapped says that out, which nobody else has seen, is f of the operands: indices that a step
// computes need no look at their elements where their range follows from those of the operands.
func (out *Tensor) keepMapped(f *kernels.Function, scalars []float64, operands []*Tensor) {
	if !indexType(out.typ) {
		return
	}
	rule, ok := spanRules[f]
	if !ok {
		return
	}
	var of [kernels.MapOperands]span
	for i, t := range operands {
		if f.Uses(i) {
			of[i] = t.derivable()
		}
	}
	var s [2]int64
	for i, v := range scalars {
		s[i] = int64(v)
	}
	if r, ok := rule(of, s); ok {
		out.bound(r)
	}
}

// indexType reports whether a range is kept of elements of a type: of integers that int64 holds.
func indexType(typ Type) bool { return typ.Integer() && typ != Bool && typ != Uint64 }

// bound is boundValues of a span, unless it says no more than the type.
func (t *Tensor) bound(s span) {
	if whole := spanOf(t.typ); s.low >= whole.low && s.high <= whole.high && s != whole {
		t.boundValues(s.low, s.high)
	}
}

// derivable returns a span that holds t's elements, in every replay of a step that is recorded: an
// input of that may hold any number of its type then.
func (t *Tensor) derivable() span {
	k := t.st.ints
	if !k.known || k.exposed || k.version != t.st.version || k.of != nil {
		return spanOf(t.typ)
	}
	if recordings.Load() > 0 {
		if l := t.Device().core().listener(t.Device(), "a call"); l != nil && l.Input(t.st.buf) {
			return spanOf(t.typ)
		}
	}
	return span{k.low, k.high}
}

// span is the integers in [low, high].
type span struct{ low, high int64 }

// spanOf returns all numbers of a type; of one that int64 does not hold, all of int64.
func spanOf(typ Type) span {
	if !typ.Integer() || typ.Size() == 8 {
		return span{math.MinInt64, math.MaxInt64}
	}
	least, end := integerRange(typ)
	return span{int64(least), int64(end) - 1}
}

func (s span) union(o span) span { return span{min(s.low, o.low), max(s.high, o.high)} }

// spanRules say in which span a function of integers in given spans lies; false where its result may
// wrap around.
var spanRules = map[*kernels.Function]func(of [kernels.MapOperands]span, scalars [2]int64) (span, bool){
	fn.Add: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return of[0].add(of[1]) },
	fn.Sub: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return of[0].sub(of[1]) },
	fn.Mul: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return of[0].mul(of[1]) },
	fn.Neg: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return span{}.sub(of[0]) },
	fn.Min: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return of[0].least(of[1]), true },
	fn.Max: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return of[0].greatest(of[1]), true },
	fn.ClampTensor: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) {
		return of[0].greatest(of[1]).least(of[2]), true
	},
	fn.Where: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) { return of[0].union(of[1]), true },
	fn.MaskedFill: func(of [kernels.MapOperands]span, s [2]int64) (span, bool) {
		return of[0].union(point(s[0])), true
	},
	fn.AddScalar:  func(of [kernels.MapOperands]span, s [2]int64) (span, bool) { return of[0].add(point(s[0])) },
	fn.SubScalar:  func(of [kernels.MapOperands]span, s [2]int64) (span, bool) { return of[0].sub(point(s[0])) },
	fn.RSubScalar: func(of [kernels.MapOperands]span, s [2]int64) (span, bool) { return point(s[0]).sub(of[0]) },
	fn.MulScalar:  func(of [kernels.MapOperands]span, s [2]int64) (span, bool) { return of[0].mul(point(s[0])) },
	fn.MinScalar: func(of [kernels.MapOperands]span, s [2]int64) (span, bool) {
		return of[0].least(point(s[0])), true
	},
	fn.MaxScalar: func(of [kernels.MapOperands]span, s [2]int64) (span, bool) {
		return of[0].greatest(point(s[0])), true
	},
	fn.Clamp: func(of [kernels.MapOperands]span, s [2]int64) (span, bool) {
		return of[0].greatest(point(s[0])).least(point(s[1])), true
	},
	fn.Remainder: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) {
		return span{0, max(of[1].high-1, 0)}, of[1].low >= 0
	},
	fn.FloorDivide: func(of [kernels.MapOperands]span, _ [2]int64) (span, bool) {
		x, by := of[0], of[1]
		if by.low < 1 {
			return span{}, false
		}
		all := []int64{floorDiv(x.low, by.low), floorDiv(x.low, by.high), floorDiv(x.high, by.low), floorDiv(x.high, by.high)}
		return span{slices.Min(all), slices.Max(all)}, true
	},
}

func point(v int64) span { return span{v, v} }

func (s span) least(o span) span    { return span{min(s.low, o.low), min(s.high, o.high)} }
func (s span) greatest(o span) span { return span{max(s.low, o.low), max(s.high, o.high)} }

func (s span) add(o span) (span, bool) {
	low, high := s.low+o.low, s.high+o.high
	fits := (low < s.low) == (o.low < 0) && (high < s.high) == (o.high < 0)
	return span{low, high}, fits
}

func (s span) sub(o span) (span, bool) {
	if o.low == math.MinInt64 {
		return span{}, false
	}
	return s.add(span{-o.high, -o.low})
}

func (s span) mul(o span) (span, bool) {
	var all []int64
	for _, a := range []int64{s.low, s.high} {
		for _, b := range []int64{o.low, o.high} {
			high, low := bits.Mul64(magnitude(a), magnitude(b))
			if high != 0 || low > math.MaxInt64 {
				return span{}, false
			}
			all = append(all, a*b)
		}
	}
	return span{slices.Min(all), slices.Max(all)}, true
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// floorDiv is ⌊a/b⌋ for b above 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
