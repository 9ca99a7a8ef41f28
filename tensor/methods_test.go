package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// unaryMethods are the methods for the rows of kernels.Unaries, called with a and b.
var unaryMethods = map[*kernels.Unary]func(x *tensor.Tensor, a, b float64) *tensor.Tensor{
	kernels.Neg:        func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Neg() },
	kernels.Abs:        func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Abs() },
	kernels.Sign:       func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Sign() },
	kernels.Sqrt:       func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Sqrt() },
	kernels.Exp:        func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Exp() },
	kernels.Log:        func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Log() },
	kernels.Square:     func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Square() },
	kernels.ReLU:       func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.ReLU() },
	kernels.LeakyReLU:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.LeakyReLU(a) },
	kernels.Sine:       func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.Sine(a) },
	kernels.Tanh:       func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Tanh() },
	kernels.Sigmoid:    func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Sigmoid() },
	kernels.Softplus:   func(x *tensor.Tensor, _, _ float64) *tensor.Tensor { return x.Softplus() },
	kernels.Pow:        func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.Pow(a) },
	kernels.Clamp:      func(x *tensor.Tensor, a, b float64) *tensor.Tensor { return x.Clamp(a, b) },
	kernels.AddScalar:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.AddScalar(a) },
	kernels.SubScalar:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.SubScalar(a) },
	kernels.MulScalar:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.MulScalar(a) },
	kernels.DivScalar:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.DivScalar(a) },
	kernels.MaxScalar:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.MaxScalar(a) },
	kernels.MinScalar:  func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.MinScalar(a) },
	kernels.RSubScalar: func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.RSubScalar(a) },
	kernels.RDivScalar: func(x *tensor.Tensor, a, _ float64) *tensor.Tensor { return x.RDivScalar(a) },
}

// binaryMethods are the methods for the rows of kernels.Binaries.
var binaryMethods = map[*kernels.Binary]func(x, y *tensor.Tensor) *tensor.Tensor{
	kernels.Add: (*tensor.Tensor).Add, kernels.Sub: (*tensor.Tensor).Sub, kernels.Mul: (*tensor.Tensor).Mul,
	kernels.Div: (*tensor.Tensor).Div, kernels.Min: (*tensor.Tensor).Minimum, kernels.Max: (*tensor.Tensor).Maximum,
}

// views returns tensors of several shapes and layouts: without gaps, with them, repeated, empty and of rank 0. All
// elements are among values.
func views(d tensor.Device, values []float64) map[string]*tensor.Tensor {
	data := make([]float64, 60)
	for i := range data {
		data[i] = values[i%len(values)]
	}
	x := tensor.New(d, data, 3, 4, 5)
	return map[string]*tensor.Tensor{
		"whole":      x,
		"transposed": x.Transpose(2, 0, 1),
		"gaps":       x.Slice(2, 1, 3),
		"run":        x.Slice(0, 1, 2),
		"repeated":   x.Slice(1, 2, 3).Expand(3, 4, 5),
		"empty":      x.Slice(1, 4, 4),
		"rank 0":     x.Slice(0, 1, 2).Slice(1, 1, 2).Slice(2, 3, 4).Reshape([]int{}...),
	}
}

// TestUnaryMethods holds the method of each row against the row's reference, for views of every layout, with NaN,
// infinities and signed zeros among the elements.
func TestUnaryMethods(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, f := range kernels.Unaries {
			method := unaryMethods[f]
			if method == nil {
				t.Errorf("kernels.Unaries has %q, for which Tensor has no method, or unaryMethods no row", f.Name)
				continue
			}
			low, high := f.Domain[0], f.Domain[1]
			values := []float64{low, high, (low + high) / 2, math.NaN(), math.Inf(1), 0.7, 1, math.Inf(-1), 0, 2, math.Copysign(0, -1)}
			if f == kernels.Sine {
				values = values[:4]
			}
			for name, x := range views(d, values) {
				in, err := x.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				want := array{x.Shape(), make([]float64, len(in))}
				for i, v := range in {
					want.data[i] = f.Fwd(v, f.A, f.B)
				}
				y := method(x, f.A, f.B)
				same(t, fmt.Sprint(f.Name, " of ", name), y, want)
				if !y.Contiguous() {
					t.Errorf("%s of %s has gaps", f.Name, name)
				}
			}
		}
	})
}

// same is expect for elements that may be infinite.
func same(t *testing.T, what string, got *tensor.Tensor, want array) {
	t.Helper()
	v, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Shape(), want.shape) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.shape)
	}
	for i, w := range want.data {
		near := v[i] == w || math.IsNaN(v[i]) && math.IsNaN(w) || math.Abs(v[i]-w) <= 2e-6*max(1, math.Abs(w)) && !math.IsInf(w, 0)
		if !near {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v[i], w)
		}
	}
}

// TestBinaryMethods holds the method of each row against the row's reference: between views of every layout, an
// empty one and a scalar, on either side, and with a tensor as both operands.
func TestBinaryMethods(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		read := func(x *tensor.Tensor) array {
			v, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return array{x.Shape(), v}
		}
		values := []float64{1, 2, math.NaN(), -3, 0.5, math.Inf(1), 2, -1, 7}
		for _, f := range kernels.Binaries {
			method := binaryMethods[f]
			if method == nil {
				t.Errorf("kernels.Binaries has %q, for which Tensor has no method, or binaryMethods no row", f.Name)
				continue
			}
			for xn, x := range views(d, values) {
				for yn, y := range views(d, values[1:]) {
					shape, ok := tensor.Broadcast(x.Shape(), y.Shape())
					if !ok {
						fails(t, func() { method(x, y) }, tensor.ErrShape)
						continue
					}
					a, b, want := read(x), read(y), array{shape, []float64{}}
					each(shape, func(i []int) { want.data = append(want.data, f.Fwd(a.at(i), b.at(i))) })
					same(t, fmt.Sprint(f.Name, " of ", xn, " and ", yn), method(x, y), want)
				}
				a, want := read(x), array{x.Shape(), []float64{}}
				for _, v := range a.data {
					want.data = append(want.data, f.Fwd(v, v))
				}
				same(t, fmt.Sprint(f.Name, " of ", xn, " with itself"), method(x, x), want)
			}
		}
	})
}

// fails runs f, which must panic with an *Error of a kind.
func fails(t *testing.T, f func(), kind error) {
	t.Helper()
	if err := tensor.Maybe(f); !errors.Is(err, kind) {
		t.Errorf("got %v, want %v", err, kind)
	}
}
