package catalog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// TestReferences compares every case, forward and gradients, with PyTorch.
func TestReferences(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, f := range families {
			if slices.Contains(onGo, f.name) && !strings.HasPrefix(d.Name(), "cpu") {
				continue
			}
			refs := references(t, f)
			for _, o := range f.operations {
				o.compare(t, d, d.DefaultType(), refs)
			}
			for name := range refs {
				t.Errorf("testdata/references/%s.txt has %s, which no case reads", f.name, name)
			}
		}
	})
}

// TestFloat64Tensors compares the cases on float64 tensors of a device whose default is float32.
func TestFloat64Tensors(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, f := range families {
		refs := references(t, f)
		for _, o := range f.operations {
			o.compare(t, d, tensor.Float64, refs)
		}
	}
}

// onGo are families of which every operation has a kernel of its own that is made of a formula:
// other devices would build them all, and are compared with the formula elsewhere.
var onGo = []string{"elements", "masks"}

// compare runs the cases of an operation on floats of a type, whose references it takes out of refs,
// and returns the largest error. Cases with numbers that the type does not hold are left out, and
// those without floats where it is not the device's default.
func (o operation) compare(t *testing.T, d tensor.Device, typ tensor.Type, refs map[string]npz.Array) (worst float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(o.cases)) {
		take := func(kind string) (arrays []*npz.Array) {
			for i := 0; ; i++ {
				at := fmt.Sprint(o.name, ".", name, ".", kind, i)
				a, ok := refs[at]
				if !ok && kind == "in" || !ok && kind == "out" || i == 16 {
					return arrays
				}
				arrays = append(arrays, nil)
				if ok {
					arrays[i] = &a
				}
				delete(refs, at)
			}
		}
		in, out, up, grad := take("in"), take("out"), take("up"), take("grad")
		if len(out) == 0 {
			t.Errorf("testdata/references has no case %s of %s: make generate", name, o.name)
			continue
		}
		switch {
		case typ == tensor.Float32 && slices.ContainsFunc(slices.Concat(in, out, grad), beyond):
		case typ != d.DefaultType() && !slices.ContainsFunc(in, ofFloats):
		default:
			tensor.Scope(d, func() { worst = max(worst, o.one(t, d, typ, name, in, out, up, grad)) })
		}
	}
	return worst
}

// ofFloats reports whether an array is of floats with axes: a scalar gives no operation its type.
func ofFloats(a *npz.Array) bool {
	_, floats := a.Data.([]float64)
	return floats && len(a.Shape) > 0
}

// beyond reports whether an array has finite numbers that float32 does not hold.
func beyond(a *npz.Array) bool {
	if a == nil {
		return false
	}
	list, _ := a.Data.([]float64)
	return slices.ContainsFunc(list, func(v float64) bool { return !math.IsInf(v, 0) && math.Abs(v) > math.MaxFloat32 })
}

// one runs a case and returns its error.
func (o operation) one(t *testing.T, d tensor.Device, typ tensor.Type, name string, in, out, up, grad []*npz.Array) (worst float64) {
	t.Helper()
	var nodes, operands []*node
	for i, a := range in {
		x := upload(t, d, typ, a)
		if grad[i] == nil {
			operands = append(operands, autograd.Const(x))
			continue
		}
		operands = append(operands, autograd.Param(x, fmt.Sprint("in", i)))
	}
	var got []*node
	if err := tensor.Try(func() { got = o.cases[name](operands) }); err != nil {
		t.Errorf("%s.%s: %v", o.name, name, err)
		return 0
	}
	check := func(what string, x *tensor.Tensor, want *npz.Array) {
		t.Helper()
		if !slices.Equal(x.Shape(), want.Shape) {
			t.Errorf("%s.%s: %s has shape %v, PyTorch's %v", o.name, name, what, x.Shape(), want.Shape)
			return
		}
		e, err := difference(x, typ, want)
		if err != nil {
			t.Errorf("%s.%s: %s: %v", o.name, name, what, err)
		}
		if limit := o.limit(typ); !(e <= limit) {
			t.Errorf("%s.%s: %s: error %.2g, at most %.2g is allowed", o.name, name, what, e, limit)
		}
		worst = max(worst, e)
	}
	if len(got) != len(out) {
		t.Errorf("%s.%s: %d results, PyTorch has %d", o.name, name, len(got), len(out))
		return 0
	}
	var total *node
	for i, y := range got {
		check(fmt.Sprint("result ", i), y.Value(), out[i])
		if up[i] == nil || !y.NeedsGrad() {
			continue
		}
		if part := y.Mul(autograd.Const(upload(t, d, typ, up[i]))).Sum(); total == nil {
			total = part
		} else {
			total = total.Add(part)
		}
	}
	for i, x := range operands {
		if grad[i] != nil {
			nodes = append(nodes, x)
		}
	}
	if len(nodes) == 0 {
		return worst
	}
	if total == nil {
		t.Errorf("%s.%s has no gradient, PyTorch's has", o.name, name)
		return worst
	}
	if err := total.Backward(); err != nil {
		t.Errorf("%s.%s: %v", o.name, name, err)
		return worst
	}
	for i, x := range operands {
		if grad[i] == nil {
			continue
		}
		if x.Grad() == nil {
			t.Errorf("%s.%s: operand %d has no gradient, PyTorch's has", o.name, name, i)
			continue
		}
		check(fmt.Sprint("gradient ", i), x.Grad(), grad[i])
	}
	return worst
}

// upload returns an array as a tensor, floats as a type.
func upload(t *testing.T, d tensor.Device, typ tensor.Type, a *npz.Array) *tensor.Tensor {
	t.Helper()
	switch data := a.Data.(type) {
	case []float64:
		return tensor.NewOf(d, typ, data).Reshape(a.Shape...)
	case []int32:
		return devtest.New(d, data).Reshape(a.Shape...)
	case []int64:
		return devtest.New(d, data).Reshape(a.Shape...)
	case []uint8:
		return devtest.New(d, data).Reshape(a.Shape...)
	case []bool:
		return devtest.New(d, data).Reshape(a.Shape...)
	}
	t.Fatalf("an array of %T", a.Data)
	return nil
}

// difference returns the largest error of the elements of x: the difference to what is wanted,
// relative to that where it is above 1, or above the largest that is wanted, if that is less. A
// NaN, an infinity, an integer has no error, or is wrong.
func difference(x *tensor.Tensor, typ tensor.Type, want *npz.Array) (worst float64, err error) {
	var expect []float64
	switch data := want.Data.(type) {
	case []float64:
		expect = data
	case []int32:
		typ, expect = tensor.Int32, floats(data)
	case []int64:
		typ, expect = tensor.Int64, floats(data)
	case []uint8:
		typ, expect = tensor.Uint8, floats(data)
	case []bool:
		typ, expect = tensor.Bool, make([]float64, len(data))
		for i, v := range data {
			if v {
				expect[i] = 1
			}
		}
	}
	if x.Type() != typ {
		return 0, fmt.Errorf("it is of type %v, want %v", x.Type(), typ)
	}
	got, err := x.Float64s()
	if err != nil {
		return 0, err
	}
	scale := 0.0
	for _, v := range expect {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			scale = max(scale, math.Abs(v))
		}
	}
	scale = min(scale, 1)
	var wrong []string
	for i, v := range expect {
		switch {
		case got[i] == v || math.IsNaN(got[i]) && math.IsNaN(v):
		case typ.Integer() || math.IsNaN(v) || math.IsInf(v, 0) || math.IsNaN(got[i]) || math.IsInf(got[i], 0):
			wrong = append(wrong, fmt.Sprintf("element %d is %v, want %v", i, got[i], v))
		default:
			worst = max(worst, math.Abs(got[i]-v)/max(math.Abs(v), scale))
		}
	}
	if len(wrong) > 0 {
		return worst, fmt.Errorf("%s", strings.Join(wrong[:min(len(wrong), 5)], "; "))
	}
	return worst, nil
}

func floats[T int32 | int64 | uint8](list []T) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}
