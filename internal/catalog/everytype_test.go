package catalog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/tensor"
)

// integers are the types whose results [TestIntegers] computes in float64.
var integers = []tensor.Type{tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32,
	tensor.Uint64}

// TestIntegers: what an operation makes of bools and of integers of every type is what it makes of the same numbers
// in float64, in the low bits of its type.
func TestIntegers(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, typ := range integers {
		taken := 0
		for _, f := range families {
			refs := references(t, f)
			for _, o := range f.operations {
				for _, name := range slices.Sorted(maps.Keys(o.cases)) {
					if o.name == "To" { // whatever is asked for
						continue
					}
					tensor.Scope(d, func() {
						if o.integers(t, d, typ, name, refs) {
							taken++
						}
					})
				}
			}
		}
		if taken < 300 {
			t.Errorf("%d cases of %v", taken, typ)
		}
	}
}

// integers compares a case of integers with that of float64. It is false if the operation refuses the type, as
// docs/types.md says. TestEveryInteger of package tensor has numbers at the ends of a type's range.
func (o operation) integers(t *testing.T, d tensor.Device, typ tensor.Type, name string, refs map[string]npz.Array) bool {
	for i := 0; ; i++ {
		a, ok := refs[fmt.Sprint(o.name, ".", name, ".in", i)]
		if !ok {
			break
		}
		list, _ := a.Data.([]float64)
		if slices.ContainsFunc(list, func(v float64) bool { return !(math.Abs(v) < 1e6) }) {
			return false
		}
	}
	whole := func(a *npz.Array) *tensor.Tensor {
		x := upload(t, d, tensor.Float64, a)
		if !ofFloats(a) {
			return x
		}
		return x.MulScalar(3).To(typ) // most are fractions below 3
	}
	got, err := o.run(name, refs, whole, false)
	if err != nil || got == nil {
		return false
	}
	want, err := o.run(name, refs, func(a *npz.Array) *tensor.Tensor {
		if x := whole(a); x.Type() == typ && ofFloats(a) {
			return x.To(tensor.Float64)
		}
		return upload(t, d, tensor.Float64, a)
	}, false)
	if err != nil {
		t.Errorf("%s.%s of %v in float64: %v", o.name, name, typ, err)
		return true
	}
	for i, w := range want.results {
		what := fmt.Sprintf("%s.%s of %v: result %d", o.name, name, typ, i)
		off := 0.0
		if o.name == "Interpolate" && typ == tensor.Uint8 { // colours are rounded to the nearest after each axis
			off = 1.5
		}
		sameIntegers(t, what, got.results[i], w, off)
	}
	return true
}

// sameIntegers compares a result with that of float64. Of what is NaN or infinite there, as a quotient by 0, integers
// have values of their own. They may be off by so much.
func sameIntegers(t *testing.T, what string, got, want *tensor.Tensor, off float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s has shape %v, not %v", what, got.Shape(), want.Shape())
		return
	}
	g, w := devtest.Float64s(t, got), devtest.Float64s(t, want)
	for i, v := range w {
		switch typ := got.Type(); {
		case g[i] == v || math.IsNaN(v) && math.IsNaN(g[i]):
		case typ.Integer() && math.Abs(g[i]-v) <= off:
		case typ == tensor.Bool && g[i] == 1 && v != 0:
		case typ.Integer() && (math.IsNaN(v) || math.IsInf(v, 0)):
		case typ.Integer() && math.Abs(v) < 0x1p53 && g[i] == lowBits(v, typ):
		case typ.Float() && math.Abs(g[i]-v) <= 2e-5*max(math.Abs(v), 1):
		default:
			t.Errorf("%s, %v: element %d is %v, want %v", what, typ, i, g[i], v)
			return
		}
	}
}

// lowBits returns a whole number as the integers of a type, which have its low bits.
func lowBits(v float64, typ tensor.Type) float64 {
	shift := 64 - 8*typ.Size()
	if typ.Signed() {
		return float64(int64(v) << shift >> shift)
	}
	return float64(uint64(int64(v)) << shift >> shift)
}
