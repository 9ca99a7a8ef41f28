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
	narrow := func(a *npz.Array) *tensor.Tensor { return upload(t, d, typ, a) }
	wide := func(a *npz.Array) *tensor.Tensor {
		if x := narrow(a); x.Type() == typ {
			return x.To(tensor.Float32)
		} else {
			return x
		}
	}
	got, err := o.run(name, refs, narrow, true)
	if err != nil {
		t.Errorf("%s.%s of %v: %v", o.name, name, typ, err)
	}
	want, err := o.run(name, refs, wide, true)
	if err != nil {
		t.Errorf("%s.%s of float32: %v", o.name, name, err)
	}
	if got == nil || want == nil {
		return
	}
	for i, w := range want.results {
		o.sameHalves(t, fmt.Sprintf("%s.%s: result %d", o.name, name, i), typ, got.results[i], w)
	}
	for i, w := range want.gradients {
		switch g := got.gradients[i]; {
		case w == nil:
		case g == nil:
			t.Errorf("%s.%s of %v: operand %d has no gradient", o.name, name, typ, i)
		default:
			o.sameHalves(t, fmt.Sprintf("%s.%s: gradient %d", o.name, name, i), typ, g, w)
		}
	}
}

// outcome is what a case makes: results, and gradients of the operands that have some.
type outcome struct{ results, gradients []*tensor.Tensor }

// run runs a case on operands that load makes of the reference's arrays, and walks it backward if it is told to. It
// returns nil for a case without floats.
func (o operation) run(name string, refs map[string]npz.Array, load func(*npz.Array) *tensor.Tensor, backward bool) (*outcome, error) {
	at := func(kind string, i int) *npz.Array {
		if a, ok := refs[fmt.Sprint(o.name, ".", name, ".", kind, i)]; ok {
			return &a
		}
		return nil
	}
	var operands, params []*node
	floats := false
	for i := 0; at("in", i) != nil; i++ {
		floats = floats || ofFloats(at("in", i))
		x := autograd.Const(load(at("in", i)))
		if backward && at("grad", i) != nil {
			x = autograd.Param(x.Value(), fmt.Sprint("in", i))
			params = append(params, x)
		}
		operands = append(operands, x)
	}
	if !floats {
		return nil, nil
	}
	var m outcome
	var total *node
	if err := tensor.Try(func() {
		for i, y := range o.cases[name](operands) {
			m.results = append(m.results, y.Value().Copy())
			if a := at("up", i); a != nil && y.NeedsGrad() {
				part := y.Mul(autograd.Const(load(a))).Sum()
				if total == nil {
					total = part
				} else {
					total = total.Add(part)
				}
			}
		}
	}); err != nil {
		return nil, err
	}
	if total != nil {
		if err := total.Backward(); err != nil {
			return nil, err
		}
	}
	for _, p := range params {
		m.gradients = append(m.gradients, p.Grad())
	}
	return &m, nil
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
