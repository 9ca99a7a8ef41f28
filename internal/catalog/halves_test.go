package catalog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalves: what an operation makes of floats of 16 bits is of their type, and what it makes of the
// same numbers in float32, rounded; so are its gradients, of the type of what they are of. Operations
// that are made of others round each of them, as PyTorch's do.
func TestHalves(t *testing.T) {
	on := []string{"cpu"} // other devices build kernels for each case
	if devtest.More() {
		on = devtest.Selected()
	}
	for _, sel := range on {
		t.Run(sel, func(t *testing.T) { testHalves(t, devtest.Open(t, sel, tensor.Options{}), sel != "cpu") })
	}
}

func testHalves(t *testing.T, d tensor.Device, few bool) {
	types := []tensor.Type{tensor.Float16, tensor.BFloat16}
	if few {
		types = types[1:]
	}
	for _, typ := range types {
		for _, f := range families {
			if slices.Contains(noHalves, f.name) || few && slices.Contains(onGo, f.name) {
				continue
			}
			refs := references(t, f)
			for _, o := range f.operations {
				for _, name := range slices.Sorted(maps.Keys(o.cases)) {
					tensor.Scope(d, func() { o.half(t, d, typ, name, refs) })
				}
			}
		}
	}
}

// noHalves are families that refuse floats of 16 bits.
var noHalves = []string{factorised.name, transforms.name}

// half runs a case on floats of 16 bits and on the same of float32.
func (o operation) half(t *testing.T, d tensor.Device, typ tensor.Type, name string, refs map[string]npz.Array) {
	t.Helper()
	at := func(kind string, i int) *npz.Array {
		if a, ok := refs[fmt.Sprint(o.name, ".", name, ".", kind, i)]; ok {
			return &a
		}
		return nil
	}
	run := func(wide bool) (results, gradients []*tensor.Tensor) {
		load := func(a *npz.Array) *tensor.Tensor {
			x := upload(t, d, typ, a)
			if wide && x.Type() == typ {
				return x.To(tensor.Float32)
			}
			return x
		}
		var operands, params []*node
		for i := 0; at("in", i) != nil; i++ {
			x := autograd.Const(load(at("in", i)))
			if at("grad", i) != nil {
				x = autograd.Param(x.Value(), fmt.Sprint("in", i))
				params = append(params, x)
			}
			operands = append(operands, x)
		}
		var total *node
		if err := tensor.Try(func() {
			for i, y := range o.cases[name](operands) {
				results = append(results, y.Value().Copy())
				if a := at("up", i); a != nil && y.NeedsGrad() {
					part := y.Mul(autograd.Const(load(a))).Sum()
					if total == nil {
						total = part
					} else {
						total = total.Add(part)
					}
				}
			}
			if total != nil {
				if err := total.Backward(); err != nil {
					t.Errorf("%s.%s of %v: %v", o.name, name, typ, err)
				}
			}
		}); err != nil {
			t.Errorf("%s.%s of %v: %v", o.name, name, typ, err)
			return nil, nil
		}
		for _, p := range params {
			gradients = append(gradients, p.Grad())
		}
		return results, gradients
	}
	floats := false
	for i := 0; at("in", i) != nil; i++ {
		floats = floats || ofFloats(at("in", i))
	}
	if !floats {
		return
	}
	got, gotGrads := run(false)
	want, wantGrads := run(true)
	for i := range want {
		if i < len(got) {
			o.sameHalves(t, fmt.Sprintf("%s.%s: result %d", o.name, name, i), typ, got[i], want[i])
		}
	}
	for i := range wantGrads {
		if i < len(gotGrads) && wantGrads[i] != nil {
			if gotGrads[i] == nil {
				t.Errorf("%s.%s of %v: operand %d has no gradient", o.name, name, typ, i)
				continue
			}
			o.sameHalves(t, fmt.Sprintf("%s.%s: gradient %d", o.name, name, i), typ, gotGrads[i], wantGrads[i])
		}
	}
}

// sameHalves compares what was computed of floats of 16 bits with what was of float32.
func (o operation) sameHalves(t *testing.T, what string, typ tensor.Type, got, want *tensor.Tensor) {
	t.Helper()
	if want.Type() == tensor.Float32 {
		want = want.To(typ)
	}
	if got.Type() != want.Type() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s is of %v, shape %v, not %v, %v", what, got.Type(), got.Shape(), want.Type(), want.Shape())
		return
	}
	g, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	w, err := want.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	scale, worst := 0.0, 0.0
	for _, v := range w {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			scale = max(scale, math.Abs(v))
		}
	}
	eps, _ := typ.Epsilon()
	for i, v := range w {
		switch {
		case g[i] == v || math.IsNaN(g[i]) && math.IsNaN(v):
		case want.Type() != typ, math.IsNaN(v), math.IsNaN(g[i]), math.IsInf(v, 0), math.IsInf(g[i], 0):
			t.Errorf("%s of %v: element %d is %v, want %v", what, typ, i, g[i], v)
			return
		default:
			worst = max(worst, math.Abs(g[i]-v)/eps/max(math.Abs(v), min(scale, 1)))
		}
	}
	limit := 4.0
	if o.name == "LogSumExp" || o.name == "LogCumSumExp" { // exp(x − y)·g, of an x of 20 and a y that is rounded
		limit = 32
	}
	if worst > limit {
		t.Errorf("%s of %v: off by %.3g epsilons", what, typ, worst)
	}
}
