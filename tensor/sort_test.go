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

// place is an element and where it was.
type place struct {
	v float64
	i int
}

// inOrder sorts by the definition: a NaN is greater than all others, and equal elements keep their
// order.
func inOrder(line []float64, descending bool) []place {
	all := make([]place, len(line))
	for i, v := range line {
		all[i] = place{v, i}
	}
	before := func(a, b float64) bool { return a < b || a == a && b != b }
	slices.SortStableFunc(all, func(a, b place) int {
		if descending {
			a, b = b, a
		}
		switch {
		case before(a.v, b.v):
			return -1
		case before(b.v, a.v):
			return 1
		}
		return 0
	})
	return all
}

// checkSorted holds k elements of each line of x along an axis, and their indices, to the
// definition, bit by bit.
func checkSorted(t *testing.T, what string, x *tensor.Tensor, axis, k int, descending bool, values, indices *tensor.Tensor) {
	t.Helper()
	shape := x.Shape()
	if len(shape) == 0 {
		shape = []int{1}
	}
	outShape := slices.Clone(x.Shape())
	if len(outShape) > 0 {
		outShape[axis] = k
	}
	if !slices.Equal(values.Shape(), outShape) || !slices.Equal(indices.Shape(), outShape) || values.Type() != x.Type() || indices.Type() != tensor.Int64 {
		t.Fatalf("%s: %v and %v", what, values, indices)
	}
	v, got, at := devtest.Float64s(t, x), devtest.Float64s(t, values), devtest.Float64s(t, indices)
	n, inner := shape[axis], size(shape[axis+1:])
	for o := range size(shape[:axis]) {
		for i := range inner {
			line := make([]float64, n)
			for j := range line {
				line[j] = v[(o*n+j)*inner+i]
			}
			for j, want := range inOrder(line, descending)[:k] {
				if p := (o*k+j)*inner + i; !sameNumbers(got[p:p+1], []float64{want.v}) || at[p] != float64(want.i) {
					t.Fatalf("%s: line %d, %d: element %d is %v of index %v, want %v of %d", what, o, i, j, got[p], at[p], want.v, want.i)
				}
			}
		}
	}
}

// TestSort holds Sort, TopK and KeepTopK, along every axis of tensors of every layout and type,
// with ties, NaN, infinities and zeros of both signs, to their definition.
func TestSort(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		data := some(rand.New(rand.NewPCG(3, 10)), 4*70*2*3)
		for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.NaN(), math.MaxFloat32, -math.MaxFloat32, 0} {
			data[200+6*i] = v // in one column
			data[840+i] = v   // and neighbours
		}
		x := devtest.New(d, data, 4, 70, 2, 3)
		for name, x := range map[string]*tensor.Tensor{
			"whole": x, "transposed": x.Transpose(3, 0, 2, 1), "gaps": x.Slice(1, 3, 30).Step(3, 2), "repeated": x.Slice(2, 0, 1).Expand(4, 70, 2, 3),
			"empty": x.Slice(1, 2, 2), "ints": x.MulScalar(4).To(tensor.Int32), "bytes": x.MulScalar(4).Abs().To(tensor.Uint8),
			"float16": x.To(tensor.Float16), "bfloat16": x.To(tensor.BFloat16).Transpose(3, 0, 2, 1),
			"float16 scalar": tensor.Scalar(d, 3).To(tensor.Float16), "scalar": tensor.Scalar(d, 3),
		} {
			for axis := range max(x.Rank(), 1) {
				n := 1
				if x.Rank() > 0 {
					n = x.Shape()[axis]
				}
				for _, descending := range []bool{false, true} {
					what := fmt.Sprintf("%s, axis %d, descending %v", name, axis, descending)
					values, indices := x.Sort(axis, tensor.SortOptions{Descending: descending})
					checkSorted(t, "Sort of "+what, x, axis, n, descending, values, indices)
					checkSorted(t, "ArgSort of "+what, x, axis, n, descending, values, x.ArgSort(axis-max(x.Rank(), 1), tensor.SortOptions{Descending: descending}))
					for _, k := range []int{0, min(1, n), n / 2} {
						values, indices := x.TopK(k, axis, tensor.TopKOptions{Smallest: !descending})
						if x.Rank() > 0 {
							checkSorted(t, fmt.Sprintf("TopK %d of %s", k, what), x, axis, k, descending, values, indices)
						}
					}
				}
				if x.Rank() == 0 || name == "ints" || name == "bytes" {
					continue
				}
				k := min(3, n)
				want := alongEach(x.Shape(), devtest.Float64s(t, x), axis, func(line []float64) []float64 {
					out := make([]float64, len(line))
					for _, p := range inOrder(line, true)[:k] {
						out[p.i] = p.v
					}
					return out
				})
				same(t, "KeepTopK of "+name, x.KeepTopK(k, axis), array{x.Shape(), want})
			}
		}
		same(t, "KeepTopK of a scalar", tensor.Scalar(d, 3).KeepTopK(1, 0), array{[]int{}, []float64{3}})
		same(t, "KeepTopK of no element", tensor.Scalar(d, 3).KeepTopK(0, 0), array{[]int{}, []float64{0}})
		for _, f := range []func(){
			func() { x.Sort(4) }, func() { x.ArgSort(-5) }, func() { x.TopK(1, 4) }, func() { x.KeepTopK(1, 9) }, func() { tensor.Scalar(d, 1).Sort(1) },
			func() { x.Median(0, 0) },
		} {
			fails(t, f, tensor.ErrAxis)
		}
		for _, f := range []func(){
			func() { x.TopK(71, 1) }, func() { x.TopK(-1, 1) }, func() { x.KeepTopK(5, 0) }, func() { x.Sort(0, tensor.SortOptions{}, tensor.SortOptions{}) },
		} {
			fails(t, f, tensor.ErrValue)
		}
	})
}

// TestLongSorts: lines that are sorted in blocks and passes, with and without ties, on the kernels
// of CPUs and of GPUs.
func TestLongSorts(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(4, 10))
		for _, shape := range [][]int{{1, 40003}, {3, 5000}, {2, 2048}, {1, 4097}} {
			data := make([]float64, size(shape))
			for i := range data {
				if data[i] = r.NormFloat64() * math.Exp(9*r.NormFloat64()); i%3 == 0 {
					data[i] = float64(r.IntN(40))
				}
			}
			data[17], data[2019], data[4000] = math.NaN(), math.Inf(-1), math.NaN()
			x := devtest.New(d, data, shape...)
			for _, typ := range []tensor.Type{x.Type(), tensor.Float16, tensor.BFloat16} {
				x := x.To(typ)
				for _, descending := range []bool{false, true} {
					values, indices := x.Sort(1, tensor.SortOptions{Descending: descending})
					checkSorted(t, fmt.Sprintf("Sort of %v %v", shape, typ), x, 1, shape[1], descending, values, indices)
					for _, k := range []int{5, 64, 300, 1500} {
						values, indices := x.TopK(k, 1, tensor.TopKOptions{Smallest: !descending})
						checkSorted(t, fmt.Sprintf("TopK %d of %v %v", k, shape, typ), x, 1, k, descending, values, indices)
					}
				}
			}
			ints := x.Clamp(-1e6, 1e6).To(tensor.Int32)
			values, indices := ints.Sort(-1)
			checkSorted(t, fmt.Sprintf("Sort of ints %v", shape), ints, 1, shape[1], false, values, indices)
		}
	})
}

// TestMedian holds Median, of lines that are sorted and of those of which an element is selected,
// to the definition: with ties, infinities, zeros of both signs, and a NaN in some lines, of floats
// and ints, in views.
func TestMedian(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, shape := range [][]int{{5, 1}, {7, 64}, {6, 65}, {9, 301}, {3, 5000}, {1, 40003}} {
			data := some(rand.New(rand.NewPCG(5, uint64(shape[1]))), size(shape))
			n := shape[1]
			for i, v := range []float64{math.Inf(1), 0, math.Copysign(0, -1), math.Inf(-1), math.MaxFloat32} {
				data[i*7%n] = v
			}
			if shape[0] > 2 {
				data[n+n/3], data[n+n-1], data[2*n-1] = math.NaN(), math.NaN(), math.NaN() // in the second line
				for i := range data[2*n : 3*n] {
					data[2*n+i] = math.Copysign(0, float64(i%2)-0.5) // which are all equal
				}
			}
			x := devtest.New(d, data, shape...)
			ints := x.Slice(0, min(2, shape[0]-1), shape[0]).Clamp(-1e6, 1e6).MulScalar(3).To(tensor.Int32)
			for what, x := range map[string]*tensor.Tensor{"whole": x, "transposed": x.T().Copy().T(), "ints": ints,
				"float16": x.To(tensor.Float16), "bfloat16": x.To(tensor.BFloat16)} {
				values, indices := x.Median(1)
				v, got, at := devtest.Float64s(t, x), devtest.Float64s(t, values), devtest.Float64s(t, indices)
				for row := range got {
					line := v[row*n : (row+1)*n]
					want := inOrder(line, false)[(n-1)/2]
					if nan := slices.IndexFunc(line, func(v float64) bool { return v != v }); nan >= 0 {
						want = place{line[nan], nan}
					}
					if !sameNumbers(got[row:row+1], []float64{want.v}) || at[row] != float64(want.i) {
						t.Fatalf("%s of %v, line %d: %v of index %v, want %v of %d", what, shape, row, got[row], at[row], want.v, want.i)
					}
				}
			}
		}
	})
}
