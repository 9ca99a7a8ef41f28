package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestMode: the least of the most frequent elements, and the index of the last of them, along axes of views.
func TestMode(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{2, 1, 2, 1, 3, 5, 5, 4, 4, 4, 7, 7, 7, 7, 7}, 3, 5)
		for axis, view := range []*tensor.Tensor{x.T(), x} {
			y, at := view.Mode(axis)
			if got, of := devtest.Float64s(t, y), devtest.Float64s(t, at); !slices.Equal(got, []float64{1, 4, 7}) || !slices.Equal(of, []float64{3, 4, 4}) {
				t.Errorf("axis %d: %v at %v", axis, got, of)
			}
		}
	})
}

// TestUniqueOfTypes: elements of every type are told apart, and the inverse puts them back.
func TestUniqueOfTypes(t *testing.T) {
	d := devtest.CPU(t)
	for _, typ := range []tensor.Type{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int64, tensor.Uint64, tensor.Float16, tensor.Float32} {
		x := tensor.NewOf(d, typ, []float64{1, 0, 1, 1, 0, 1}, 3, 2).T()
		y, inverse, counts := x.Unique()
		if y.Type() != typ || !slices.Equal(devtest.Float64s(t, counts), []float64{2, 4}) {
			t.Errorf("%v: %v, counts %v", typ, y.Type(), devtest.Float64s(t, counts))
		}
		if back := devtest.Float64s(t, y.Index(inverse)); !slices.Equal(back, devtest.Float64s(t, x)) || !slices.Equal(inverse.Shape(), x.Shape()) {
			t.Errorf("%v: the elements at %v are %v", typ, inverse.Shape(), back)
		}
	}
}

// TestSearchSortedOfTypes: a sequence and values are compared in the type that holds both, and those of views.
func TestSearchSortedOfTypes(t *testing.T) {
	d := devtest.CPU(t)
	ints, floats := devtest.New(d, []int32{9, 1, 9, 3, 9, 5}, 3, 2).Select(1, 1), devtest.New(d, []float64{2.5, 3, math.NaN(), -1})
	for right, want := range map[bool][]float64{false: {1, 1, 3, 0}, true: {1, 2, 3, 0}} {
		if got := devtest.Float64s(t, ints.SearchSorted(floats, right)); !slices.Equal(got, want) {
			t.Errorf("right %v: %v, want %v", right, got, want)
		}
	}
}

// TestDraws: classes and bits come as often as their probabilities say, permutations have each number once, and a stream
// gives the same again.
func TestDraws(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n = 20000
		weights := devtest.New(d, []float64{1, 0, 3, 4, 2, 2, 2, 2}, 2, 4)
		counts := func(x *tensor.Tensor) []float64 {
			return devtest.Float64s(t, x.Select(0, 0).Bincount(nil, 4))
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 5*math.Sqrt(n)/2 { // five standard deviations, of which no bit has more
				t.Errorf("%s: %v, want about %v", what, got, want)
			}
		}
		drawn := weights.Multinomial(n, true, tensor.NewRNG(7))
		for i, p := range []float64{1, 0, 3, 4} {
			near("with replacement", counts(drawn)[i], n*p/8)
			if p == 0 && counts(drawn)[i] != 0 {
				t.Errorf("class %d is drawn", i)
			}
		}
		if again := weights.Multinomial(n, true, tensor.NewRNG(7)); !slices.Equal(devtest.Float64s(t, again), devtest.Float64s(t, drawn)) {
			t.Error("a stream gives others the second time")
		}
		first := weights.Slice(0, 0, 1).Expand(n, 4).Multinomial(2, false, tensor.NewRNG(8)).Select(1, 0)
		got := devtest.Float64s(t, first.Bincount(nil, 4))
		for i, p := range []float64{1, 0, 3, 4} {
			near("without replacement", got[i], n*p/8)
		}
		all := devtest.Float64s(t, weights.Multinomial(4, false, tensor.NewRNG(9)))
		for row := range slices.Chunk(all, 4) {
			if row[3] != 1 && all[3] == row[3] {
				t.Errorf("a class of weight 0 is drawn before others: %v", row)
			}
			if slices.Sort(row); !slices.Equal(row, []float64{0, 1, 2, 3}) {
				t.Errorf("without replacement: %v", row)
			}
		}
		bits := tensor.FullOf(d, d.DefaultType(), 0.3, n).Bernoulli(tensor.NewRNG(1))
		near("Bernoulli", devtest.Float64s(t, bits.Sum())[0], 0.3*n)
		p := devtest.Float64s(t, tensor.NewRNG(3).Permutation(d, 1000))
		if slices.IsSorted(p) {
			t.Error("a permutation is in order")
		}
		if slices.Sort(p); p[0] != 0 || p[999] != 999 || len(slices.Compact(p)) != 1000 {
			t.Error("a permutation lacks a number")
		}
	})
}

// TestOrderMisuse: bad operands are told by name, and nothing stays behind.
func TestOrderMisuse(t *testing.T) {
	d := devtest.CPU(t)
	x, m := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3), devtest.New(d, []int32{1, -2})
	for i, c := range []struct {
		kind error
		f    func()
	}{
		{tensor.ErrValue, func() { x.Kthvalue(4, 1) }}, {tensor.ErrValue, func() { x.Kthvalue(0, 1) }}, {tensor.ErrAxis, func() { x.Mode(2) }},
		{tensor.ErrShape, func() { x.Slice(1, 1, 1).Mode(1) }}, {tensor.ErrValue, func() { x.Quantile(1.5, 0) }}, {tensor.ErrAxis, func() { x.Quantile(0.5, 2) }},
		{tensor.ErrShape, func() { x.Slice(1, 1, 1).Quantile(0.5, 1) }}, {tensor.ErrValue, func() { x.Quantile(math.NaN(), 0) }},
		{tensor.ErrIndex, func() { m.Bincount(nil, 0) }}, {tensor.ErrType, func() { x.Bincount(nil, 0) }}, {tensor.ErrShape, func() { m.Bincount(x, 0) }},
		{tensor.ErrValue, func() { m.Bincount(nil, -1) }}, {tensor.ErrValue, func() { x.Histc(0, 0, 1) }}, {tensor.ErrValue, func() { x.Histc(3, 1, 0) }},
		{tensor.ErrValue, func() { x.DivScalar(0).Histc(3, 0, 0) }}, {tensor.ErrShape, func() { x.SearchSorted(m, false) }},
		{tensor.ErrShape, func() { tensor.FullOf(d, tensor.Float32, 1).SearchSorted(m, false) }},
		{tensor.ErrValue, func() { x.Multinomial(4, false, tensor.NewRNG(1)) }}, {tensor.ErrValue, func() { x.Multinomial(1, true, nil) }},
		{tensor.ErrShape, func() { x.Select(0, 0).Select(0, 0).Multinomial(1, true, tensor.NewRNG(1)) }}, {tensor.ErrValue, func() { x.Bernoulli(nil) }},
		{tensor.ErrShape, func() { tensor.NewRNG(1).Permutation(d, -1) }}, {tensor.ErrShape, func() { x.PixelShuffle(2) }}, {tensor.ErrValue, func() { x.Unsqueeze(0).PixelShuffle(0) }},
		{tensor.ErrShape, func() { x.Unsqueeze(0).PixelShuffle(2) }}, {tensor.ErrShape, func() { x.Unsqueeze(0).PixelUnshuffle(2) }}, {tensor.ErrValue, func() { x.Diff(-1, 0) }},
		{tensor.ErrAxis, func() { x.Diff(1, 2) }}, {tensor.ErrShape, func() { x.GLU(1) }}, {tensor.ErrShape, func() { m.Trace() }}, {tensor.ErrShape, func() { m.Cdist(x, 2) }},
		{tensor.ErrValue, func() { x.Cdist(x, math.NaN()) }}, {tensor.ErrAxis, func() { x.Normalize(2, 2, 1) }}, {tensor.ErrValue, func() { x.Step(0, 0) }},
		{tensor.ErrType, func() { tensor.LinspaceOf(d, tensor.Int32, 0.5, 2, 3) }}, {tensor.ErrValue, func() { tensor.LinspaceOf(d, tensor.Int32, 0, 2, -3) }},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%d: %v, want %v", i, err, c.kind)
		}
	}
}
