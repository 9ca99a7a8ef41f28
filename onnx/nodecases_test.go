package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// nodeCase is a node with its inputs and what they give. Inputs and outputs are as testValue takes them, nil for one
// that is left out. An output may be rounded numbers.
type nodeCase struct {
	op    string
	opset int
	attrs attrs
	in    []any
	want  []any
	fails string // part of the error, in place of outputs
}

// checkNodes runs nodes with inputs that the device alone has and with integers that the host knows too, each three
// times: the second run is recorded if that is possible, and the third replays.
func checkNodes(t *testing.T, cases []nodeCase) {
	d := cpu(t)
	for i, c := range cases {
		t.Run(fmt.Sprintf("%d_%s-%d", i, c.op, c.opset), func(t *testing.T) {
			for _, known := range []bool{false, true} {
				c.check(t, d, known)
			}
		})
	}
}

func (c nodeCase) check(t *testing.T, d tensor.Device, known bool) {
	t.Helper()
	present := make([]bool, len(c.in))
	var values []*Value
	for i, in := range c.in {
		if in != nil {
			present[i] = true
			values = append(values, testCaseValue(d, in))
		}
	}
	s, err := nodeModel(c.op, "", c.opset, c.attrs, present, max(len(c.want), 1)).Load(d)
	if err == nil {
		defer s.Close()
		s.replays.byValue = known
		for range 3 {
			var out []*Value
			if out, err = s.Run(values...); err != nil || c.fails != "" {
				break
			}
			for i, w := range c.want {
				if r, ok := w.(fiveDigits); ok {
					wantTensor(t, out[i], tensor.Float32, r.shape, r.numbers, 1e-4)
					continue
				}
				sameValue(t, out[i], testCaseValue(d, w))
			}
		}
	}
	switch {
	case c.fails == "" && err != nil:
		t.Errorf("known %v: %v", known, err)
	case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
		t.Errorf("known %v: error %v, want %q", known, err, c.fails)
	case err != nil && strings.Contains(err.Error(), "runtime error"):
		t.Errorf("known %v: %v", known, err)
	}
}

// testTensor is a tensor of a shape.
type testTensor func(d tensor.Device) *tensor.Tensor

// of returns a tensor of numbers with a shape, a scalar without one.
func of[T tensor.Element](data []T, shape ...int) testTensor {
	return func(d tensor.Device) *tensor.Tensor { return tensor.New(d, data, append([]int{}, shape...)...) }
}

// as returns a tensor of a type that has no literals.
func as(typ tensor.Type, data []float64, shape ...int) testTensor {
	return func(d tensor.Device) *tensor.Tensor { return tensor.NewOf(d, typ, data, append([]int{}, shape...)...) }
}

func testCaseValue(d tensor.Device, in any) *Value {
	switch x := in.(type) {
	case testTensor:
		return FromTensor(x(d))
	case []int16:
		return FromTensor(tensor.New(d, x))
	case []uint16:
		return FromTensor(tensor.New(d, x))
	case []uint32:
		return FromTensor(tensor.New(d, x))
	case []uint64:
		return FromTensor(tensor.New(d, x))
	}
	return testValue(d, in)
}

// sameValue compares values: integers and strings exactly, floats within 1e-6 relative to those above 1.
func sameValue(t *testing.T, got, want *Value) {
	t.Helper()
	if got.kind != want.kind || !slices.Equal(got.Shape(), want.Shape()) || !slices.Equal(got.strings, want.strings) {
		t.Errorf("%v %q, want %v %q", got, got.strings, want, want.strings)
		return
	}
	g, w := got.Tensor(), want.Tensor()
	if w == nil {
		return
	}
	if g.Type() != w.Type() {
		t.Errorf("%v, want %v", got, want)
		return
	}
	if w.Type().Integer() {
		a, errA := g.To(tensor.Int64).Int64s()
		b, errB := w.To(tensor.Int64).Int64s()
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Errorf("%v, want %v: %v %v", a, b, errA, errB)
		}
		return
	}
	a, errA := g.Float64s()
	b, errB := w.Float64s()
	if errA != nil || errB != nil || !slices.EqualFunc(a, b, near) {
		t.Errorf("%v, want %v: %v %v", a, b, errA, errB)
	}
}

func near(g, w float64) bool {
	return g == w || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= 1e-6*max(1, math.Abs(w))
}

// count returns n numbers from 0 on, of a shape.
func count(shape ...int) testTensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	return of(x, shape...)
}

// ramp returns (7i mod 11 − 5)/4 for the elements i of a shape: small numbers of both signs, exact in all floats.
func ramp(shape ...int) testTensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(7*i%11-5) / 4
	}
	return of(x, shape...)
}

// fiveDigits are numbers of float32 that others computed.
type fiveDigits struct {
	numbers []float64
	shape   []int
}

// rounded returns the numbers of an output, rounded to five digits.
func rounded(numbers []float64, shape ...int) fiveDigits { return fiveDigits{numbers, shape} }
