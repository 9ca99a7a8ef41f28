package catalog

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

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
	if !small(o.name+"."+name, refs) {
		return false
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

// small reports whether no operand of a case has numbers that may wrap around, or that float32 does not hold.
func small(name string, refs map[string]npz.Array) bool {
	for i := 0; ; i++ {
		a, ok := refs[fmt.Sprint(name, ".in", i)]
		if !ok {
			return true
		}
		list, _ := a.Data.([]float64)
		if slices.ContainsFunc(list, func(v float64) bool { return !(math.Abs(v) < 1e6) }) {
			return false
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

// everyType are the types of tensors but the default one, in which TestReferences runs.
var everyType = append(slices.Clone(integers), tensor.Float16, tensor.BFloat16, tensor.Float64)

// kinds are operations of each generator of kernels: maps in all layouts, and by a condition; moves; folds, lines and
// indices of extremes; products, convolutions, pools; scans and sorts; random numbers.
var kinds = strings.Fields("Add Where Lt BitwiseAnd Lerp Copy Pad GatherRows Gather Scatter ScatterAdd IndexSelect IndexAdd Sum Max ArgMax Prod Norm " +
	"LogSumExp Var MaxWithIndex Softmax LayerNorm BatchNorm autograd.CrossEntropy autograd.MSE MatMul Linear Conv ConvTranspose MaxPool AvgPool " +
	"Interpolate ScaledDotProductAttention CumSum CumMax LogCumSumExp Sort TopK Unique Dropout Tril autograd.Concat")

// TestEveryType: on every device an operation makes of each type what it makes on the Go device, which TestReferences,
// TestHalves and TestIntegers hold to other numbers. In make test these are the operations of kinds in six types, in
// make test-more all, in all types, also under Oclgrind. Of each operation it is one case.
func TestEveryType(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // every kernel is compared here
	every := os.Getenv("CLGRAD_MORE") != ""
	types := everyType
	if !every {
		types = []tensor.Type{tensor.Bool, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float64}
	}
	host := devtest.Open(t, "cpu", tensor.Options{})
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d := devtest.Open(t, sel, tensor.Options{Unoptimized: true}) // no subtest: Oclgrind wants one thread
		for _, typ := range types {
			if !d.Supports(typ) {
				t.Logf("%s has no %v", sel, typ)
				continue
			}
			start := time.Now()
			taken := 0
			for _, f := range families {
				refs := references(t, f)
				for _, o := range f.operations {
					if every || slices.Contains(kinds, o.name) {
						if o.firstCase(t, d, host, typ, refs) {
							taken++
						}
					}
				}
			}
			t.Logf("%s, %v: %d operations in %v", sel, typ, taken, time.Since(start).Round(time.Second))
			if taken < len(kinds)/2 {
				t.Errorf("%s: %d operations of %v", sel, taken, typ)
			}
		}
	}
}

// firstCase compares the first case of an operation that has results on two devices. It is false if there is none.
func (o operation) firstCase(t *testing.T, d, host tensor.Device, typ tensor.Type, refs map[string]npz.Array) (taken bool) {
	on := func(d tensor.Device) func(a *npz.Array) *tensor.Tensor {
		return func(a *npz.Array) *tensor.Tensor {
			if !ofFloats(a) {
				return upload(t, d, tensor.Float32, a)
			}
			return tensor.NewOf(d, tensor.Float32, a.Data.([]float64)).Reshape(a.Shape...).To(typ)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.cases)) {
		if taken || typ.Integer() && !small(o.name+"."+name, refs) {
			continue
		}
		tensor.Scope(host, func() {
			want, err := o.run(name, refs, on(host), typ.Float())
			if err != nil || want == nil || !slices.ContainsFunc(want.results, func(x *tensor.Tensor) bool { return x.Len() > 0 }) {
				return
			}
			taken = true
			tensor.Scope(d, func() {
				got, err := o.run(name, refs, on(d), typ.Float())
				if err != nil {
					t.Errorf("%s.%s of %v: %v", o.name, name, typ, err)
					return
				}
				for i, w := range want.results {
					o.sameOn(t, fmt.Sprintf("%s.%s of %v: result %d", o.name, name, typ, i), got.results[i], w)
				}
				for i, w := range want.gradients {
					if w != nil {
						o.sameOn(t, fmt.Sprintf("%s.%s of %v: gradient %d", o.name, name, typ, i), got.gradients[i], w)
					}
				}
			})
		})
	}
	return taken
}

// sameOn compares a tensor with that of another device.
func (o operation) sameOn(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	if got == nil || got.Type() != want.Type() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s is %v, want %v", what, got, want)
		return
	}
	g, w := devtest.Float64s(t, got), devtest.Float64s(t, want)
	scale := 0.0
	for _, v := range w {
		if math.Abs(v) <= math.MaxFloat64 { // no infinity, and no NaN
			scale = max(scale, math.Abs(v))
		}
	}
	limit := o.limit(want.Type())
	if eps, _ := want.Type().Epsilon(); want.Type().Half() {
		limit = 2 * eps
	}
	for i, v := range w {
		switch {
		case g[i] == v || math.IsNaN(v) && math.IsNaN(g[i]):
		case want.Type().Float() && math.Abs(g[i]-v) <= limit*max(math.Abs(v), min(scale, 1)):
		default:
			t.Errorf("%s: element %d is %v, on cpu %v", what, i, g[i], v)
			return
		}
	}
}
