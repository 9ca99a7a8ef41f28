package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// reductions are the reductions by axes, with their references over the elements of one line.
var reductions = map[string]struct {
	f    func(x *tensor.Tensor, axes ...int) *tensor.Tensor
	want func(line []float64) float64
}{
	"Sum":  {(*tensor.Tensor).Sum, sumOf},
	"Mean": {(*tensor.Tensor).Mean, func(line []float64) float64 { return sumOf(line) / float64(len(line)) }},
	"Max":  {(*tensor.Tensor).Max, slices.Max[[]float64]},
	"Min":  {(*tensor.Tensor).Min, slices.Min[[]float64]},
}

func sumOf(line []float64) float64 {
	var s float64
	for _, v := range line {
		s += v
	}
	return s
}

// TestKeepdims holds every reduction over every set of axes, counted from the front and from the
// end, against its reference: with the axes dropped and, wherever Keepdims stands among them, kept.
// The operand is contiguous, transposed, non-contiguous, or empty.
func TestKeepdims(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := on(d, random(rand.New(rand.NewPCG(3, 8)), 4, 3, 2, 5))
		for name, x := range map[string]*tensor.Tensor{
			"whole": x, "transposed": x.Transpose(3, 1, 0, 2), "gaps": x.Slice(3, 1, 3), "repeated": x.Slice(2, 0, 1).Expand(4, 3, 2, 5),
			"empty": x.Slice(1, 2, 2), "rank 0": tensor.Scalar(d, 3), "rank 1": x.Slice(0, 1, 2).Slice(1, 1, 2).Slice(2, 0, 1).Reshape(5),
		} {
			v, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for op, r := range reductions {
				for mask := range 1 << x.Rank() {
					checkReduction(t, fmt.Sprintf("%s of %s, axes %b", op, name, mask), x, v, mask, r.f, r.want)
				}
			}
		}
	})
}

// checkReduction reduces x, with the elements v, over the axes in mask; over all if there are none.
func checkReduction(t *testing.T, what string, x *tensor.Tensor, v []float64, mask int, f func(*tensor.Tensor, ...int) *tensor.Tensor,
	reference func([]float64) float64) {
	t.Helper()
	in := func(axis int) bool { return mask == 0 || mask>>axis&1 == 1 }
	var axes, negative []int
	dropped, kept := []int{}, []int{}
	for a, n := range x.Shape() {
		if mask != 0 && in(a) {
			axes, negative = append(axes, a), append(negative, a-x.Rank())
		}
		if in(a) {
			kept = append(kept, 1)
		} else {
			dropped, kept = append(dropped, n), append(kept, n)
		}
	}
	lines := make([][]float64, size(kept))
	at := 0
	each(x.Shape(), func(index []int) {
		pos := 0
		for a, i := range index {
			if !in(a) {
				pos = pos*x.Shape()[a] + i
			}
		}
		lines[pos] = append(lines[pos], v[at])
		at++
	})
	want := make([]float64, len(lines))
	for i, line := range lines {
		if len(line) == 0 && slices.Contains([]string{"Max", "Min", "Arg", "Med"}, what[:3]) {
			fails(t, func() { f(x, axes...) }, tensor.ErrShape)
			return
		}
		want[i] = reference(line)
	}
	slices.Reverse(negative)
	same(t, what, f(x, axes...), array{dropped, want})
	same(t, what+" from the end", f(x, negative...), array{dropped, want})
	same(t, what+" kept", f(x, append(slices.Clone(axes), tensor.Keepdims)...), array{kept, want})
	same(t, what+" kept, from the end", f(x, append([]int{tensor.Keepdims}, negative...)...), array{kept, want})
}

// TestReductionOfNaN: a NaN is the result of each, wherever it stands, and of infinities of both
// signs Sum is NaN.
func TestReductionOfNaN(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		for at := range 3 {
			data := []float64{1, math.Inf(1), math.Inf(-1)}
			data[at] = math.NaN()
			for op, r := range reductions {
				if v, err := r.f(devtest.New(d, data), -1, tensor.Keepdims).Item(); err != nil || !math.IsNaN(v) {
					t.Errorf("%s of %v is %v (err %v)", op, data, v, err)
				}
			}
		}
		x := devtest.New(d, []float64{math.Inf(-1), 2, math.Inf(1)})
		for op, want := range map[string]float64{"Sum": math.NaN(), "Max": math.Inf(1), "Min": math.Inf(-1)} {
			if v, err := reductions[op].f(x).Item(); err != nil || v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
				t.Errorf("%s is %v, want %v (err %v)", op, v, want, err)
			}
		}
	})
}

// TestAxesRefused: an axis that is not there or is named twice, under either of its numbers, and
// Keepdims where nothing is reduced.
func TestAxesRefused(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 2, 3)
	for _, axes := range [][]int{{2}, {-3}, {0, 0}, {1, -1}, {0, tensor.Keepdims, -2}, {math.MaxInt}, {math.MinInt + 1}} {
		for op, r := range reductions {
			if tensor.Try(func() { r.f(x, axes...) }) == nil {
				t.Errorf("%s over axes %v was not refused", op, axes)
			}
			fails(t, func() { r.f(x, axes...) }, tensor.ErrAxis)
		}
	}
	fails(t, func() { tensor.Scalar(d, 1).Sum(1) }, tensor.ErrAxis)
	fails(t, func() { x.Transpose(0, tensor.Keepdims) }, tensor.ErrAxis)
	fails(t, func() { x.Slice(tensor.Keepdims, 0, 1) }, tensor.ErrAxis)
	if got := x.Sum(1, tensor.Keepdims, tensor.Keepdims).Shape(); fmt.Sprint(got) != "[2 1]" {
		t.Errorf("Keepdims twice: shape %v", got)
	}
}
