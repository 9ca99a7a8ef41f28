package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/reference"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// methodOf returns the method of a function: it has the function's name, but for capitals and
// underscores.
func methodOf(t *testing.T, f *kernels.Function) func(operands []*tensor.Tensor, scalars []float64) *tensor.Tensor {
	name := strings.ReplaceAll(f.Name, "_", "")
	if f.Operands() == 2 {
		name = strings.NewReplacer("min", "minimum", "max", "maximum").Replace(name)
	}
	typ := reflect.TypeFor[*tensor.Tensor]()
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if !strings.EqualFold(m.Name, name) || m.Type.NumIn() != f.Operands()+len(f.Scalars) {
			continue
		}
		return func(operands []*tensor.Tensor, scalars []float64) *tensor.Tensor {
			var args []reflect.Value
			for _, x := range operands {
				args = append(args, reflect.ValueOf(x))
			}
			for _, s := range scalars {
				args = append(args, reflect.ValueOf(s))
			}
			return m.Func.Call(args)[0].Interface().(*tensor.Tensor)
		}
	}
	t.Fatalf("fn.Functions has %q, for which Tensor has no method of that name, with its operands and scalars: add it to internal/operations/table", f.Name)
	return nil
}

// tabled returns the functions of so many operands that a test of every function has on a device:
// all on the Go device; on others, which build a kernel for each layout, some. TestKernels has the
// formulas of all.
func tabled(d tensor.Device, operands int) (list []*kernels.Function) {
	n := 0
	for _, f := range fn.Functions {
		if f.Operands() != operands {
			continue
		}
		if n++; isGo(d) || n%5 == 2 {
			list = append(list, f)
		}
	}
	return list
}

// expected is what a function is compared with: its reference, if there is one, else the formula in
// double precision.
func expected(f *kernels.Function, scalars []float64, x ...float64) float64 {
	if want := reference.Functions[f.Name]; want != nil {
		return want(x, scalars)
	}
	return f.At(scalars, x...)
}

// views returns tensors of several shapes and layouts: contiguous, non-contiguous, repeated, empty
// and of rank 0. All elements are among values.
func views(d tensor.Device, values []float64) map[string]*tensor.Tensor {
	data := make([]float64, 60)
	for i := range data {
		data[i] = values[i%len(values)]
	}
	x := devtest.New(d, data, 3, 4, 5)
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

// TestUnaryMethods holds the method of each row against the row's reference, for views of every
// layout, with NaN, infinities and signed zeros among the elements.
func TestUnaryMethods(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, f := range tabled(d, 1) {
			method := methodOf(t, f)
			low, high := -3.0, 3.0
			if f.Domains != nil {
				low, high = f.Domains[0][0], f.Domains[0][1]
			}
			values := []float64{low, high, (low + high) / 2, math.NaN(), math.Inf(1), 0.7, 1, math.Inf(-1), 0, 2, math.Copysign(0, -1)}
			if f == fn.Sine {
				values = values[:4]
			}
			for name, x := range views(d, values) {
				in, err := x.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				want := array{x.Shape(), make([]float64, len(in))}
				for i, v := range in {
					want.data[i] = expected(f, f.Scalars, v)
				}
				y := method([]*tensor.Tensor{x}, f.Scalars)
				same(t, fmt.Sprint(f.Name, " of ", name), y, want)
				if !y.IsContiguous() {
					t.Errorf("%s of %s is not contiguous", f.Name, name)
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
	tol := 2e-6
	if eps, _ := got.Type().Epsilon(); got.Type().Half() {
		tol = max(tol, eps) // it is rounded
	}
	for i, w := range want.data {
		near := v[i] == w || math.IsNaN(v[i]) && math.IsNaN(w) || math.Abs(v[i]-w) <= tol*max(1, math.Abs(w)) && !math.IsInf(w, 0)
		if !near {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v[i], w)
		}
	}
}

// TestBinaryMethods holds the method of each row against the row's reference: between views of
// every layout, an empty one and a scalar, on either side, and with a tensor as both operands.
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
		for _, f := range tabled(d, 2) {
			method := methodOf(t, f)
			for xn, x := range views(d, values) {
				for yn, y := range views(d, values[1:]) {
					shape, ok := tensor.Broadcast(x.Shape(), y.Shape())
					if !ok {
						fails(t, func() { method([]*tensor.Tensor{x, y}, f.Scalars) }, tensor.ErrShape)
						continue
					}
					a, b, want := read(x), read(y), array{shape, []float64{}}
					each(shape, func(i []int) {
						want.data = append(want.data, expected(f, f.Scalars, a.at(i), b.at(i)))
					})
					same(t, fmt.Sprint(f.Name, " of ", xn, " and ", yn), method([]*tensor.Tensor{x, y}, f.Scalars), want)
				}
				a, want := read(x), array{x.Shape(), []float64{}}
				for _, v := range a.data {
					want.data = append(want.data, expected(f, f.Scalars, v, v))
				}
				same(t, fmt.Sprint(f.Name, " of ", xn, " with itself"), method([]*tensor.Tensor{x, x}, f.Scalars), want)
			}
		}
	})
}

// fails runs f, which must panic with an *Error of a kind.
func fails(t *testing.T, f func(), kind error) {
	t.Helper()
	if err := tensor.Try(f); !errors.Is(err, kind) {
		t.Errorf("got %v, want %v", err, kind)
	}
}
