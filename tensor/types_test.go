package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
	"github.com/x448/float16"
)

var types = []tensor.Type{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Uint8, tensor.Float16, tensor.BFloat16}

// typesOn are all types but Bool, or on OpenCL devices, which build kernels for each, those that make
// test tries there.
func typesOn(d tensor.Device) []tensor.Type {
	if !strings.HasPrefix(d.Name(), "cpu") && !devtest.More() {
		return append(slices.Clone(types), tensor.Int64)
	}
	return append(slices.Clone(types), tensor.Int8, tensor.Int16, tensor.Int64, tensor.Uint16, tensor.Uint32, tensor.Uint64)
}

// wrapped returns the low bits of a whole number as a type of integers has them; others as they are.
func wrapped(v float64, typ tensor.Type) float64 {
	if !typ.Integer() {
		return v
	}
	shift := 64 - 8*typ.Size()
	switch bits := int64(v) << shift; {
	case typ.Signed():
		return float64(bits >> shift)
	default:
		return float64(uint64(bits) >> shift)
	}
}

// sameNumbers compares numbers bit by bit, but NaN with any NaN.
func sameNumbers(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
}

// awkward are numbers at the ends of the types, halfway between two of their values, and beyond.
var awkward = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 0.999999, 1.5, 2.5, 100.75, 254.9, 255, 255.5, 256, 300, -1e-30, -3.99,
	65504, 65519, 65520, 65536, -65519, -65520, 1e30, -1e30, 2147483520, 2147483648, -2147483648, -2147483904, math.Inf(1), math.Inf(-1), math.NaN(),
	1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-22, 2049, 2051, 0x1p-14, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1.8p-24, -0x1p-26, 0x1.ffcp-15, 0x1.ffep-15,
	1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-30, -(1 + 0x1p-8 - 0x1p-30), 0x1.ffp127, 0x1.fefffep127, 0x1.ffp-127, 0x1p-133, 0x1p-134, 0x1.8p-134}

// converted says what To makes of a number.
func converted(v float64, to tensor.Type) float64 {
	if to.Integer() {
		low, high := 0.0, math.Ldexp(1, 8*to.Size())
		if to.Signed() {
			low, high = -high/2, high/2
		}
		if math.IsNaN(v) {
			return 0
		}
		if to.Size() < 8 {
			high-- // of 64 bits, what is read as a float64 is rounded to it
		}
		return math.Trunc(min(max(v, low), high)) + 0 // never −0
	}
	switch to {
	case tensor.Float16:
		return nearest(v, 11, -24, 65520)
	case tensor.BFloat16:
		return nearest(v, 8, -133, 0x1.ffp127)
	case tensor.Float32:
		return float64(float32(v))
	}
	return v
}

// nearest rounds to significant bits by the definition: to a multiple of the spacing at v, the least
// of which is a power of 2. From a limit on, numbers are infinite.
func nearest(v float64, bits, least int, limit float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	_, e := math.Frexp(v)
	spacing := math.Ldexp(1, max(e-bits, least))
	if r := math.RoundToEven(v/spacing) * spacing; math.Abs(r) < limit {
		return math.Copysign(r, v)
	}
	return math.Inf(int(math.Copysign(1, v)))
}

// TestConversions: every type to every other, of whole tensors and non-contiguous views, on every
// device, against what the documentation of To says.
func TestConversions(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(7, 7))
		data := slices.Clone(awkward)
		for len(data) < 37*11 {
			data = append(data, math.Ldexp(r.Float64()-0.5, r.IntN(60)-25))
		}
		// Rounded to float32 first, these would round to the even neighbour and not to the nearer.
		data[40], data[41], data[42] = 1+0x1p-11+0x1p-40, -(1 + 0x3p-11 - 0x1p-40), 0x1p-25+0x1p-60
		whole := devtest.New(d, data, 37, 11)
		for _, from := range typesOn(d) {
			x := whole.To(from)
			if x.Type() != from || !strings.HasPrefix(x.String(), fmt.Sprintf("tensor [37 11] of %v on %s:\n", from, d.Name())) {
				t.Fatalf("%v", x)
			}
			for name, v := range map[string]*tensor.Tensor{
				"whole": x, "transposed": x.T(), "columns": x.Slice(1, 3, 7), "rows": x.Slice(0, 5, 9), "one": x.Slice(0, 3, 4).Slice(1, 2, 3).Reshape(),
				"none": x.Slice(0, 2, 2), "expanded": x.Slice(0, 0, 1).Expand(3, 2, 11), "a corner's transpose": x.Slice(0, 1, 30).Slice(1, 4, 9).T(),
			} {
				for _, to := range typesOn(d) {
					y := v.To(to)
					was, got := devtest.Float64s(t, v), devtest.Float64s(t, y)
					want := make([]float64, len(was))
					for i, w := range was {
						switch want[i] = w; {
						case math.Abs(w) > 0x1p53 && from.Integer(): // w is rounded
							want[i] = got[i]
						case from.Integer() && to.Integer():
							want[i] = wrapped(w, to)
						case from != to:
							want[i] = converted(w, to)
						}
					}
					if y.Type() != to || !slices.Equal(y.Shape(), v.Shape()) || !sameNumbers(got, want) {
						for i := range want {
							if i < len(got) && !sameNumbers(got[i:i+1], want[i:i+1]) {
								t.Errorf("%v to %v, %s: %v becomes %v, want %v", from, to, name, was[i], got[i], want[i])
							}
						}
						t.Fatalf("%v to %v, %s: %v", from, to, name, y)
					}
				}
			}
		}
	})
}

// TestEveryFloat16: all 65536 of them survive the way to the device, to floats and back, bit by bit,
// and are the floats that the definition of the format says.
func TestEveryFloat16(t *testing.T) {
	all := make([]float16.Float16, 1<<16)
	want := make([]float64, len(all))
	for i := range all {
		all[i] = float16.Frombits(uint16(i))
		sign, exponent, fraction := 1-2*float64(i>>15), i>>10&31, float64(i&1023)
		switch {
		case exponent == 31 && fraction != 0:
			want[i] = math.NaN()
		case exponent == 31:
			want[i] = math.Inf(int(sign))
		case exponent == 0:
			want[i] = math.Copysign(math.Ldexp(fraction, -24), sign)
		default:
			want[i] = sign * math.Ldexp(1024+fraction, exponent-25)
		}
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, all)
		if got := devtest.Float64s(t, x); !sameNumbers(got, want) {
			t.Error("read back, they are others")
		}
		float := x.To(d.DefaultType())
		if got := devtest.Float64s(t, float); !sameNumbers(got, want) {
			t.Error("as reals, they are others")
		}
		if got := devtest.Float64s(t, float.To(tensor.Float16)); !sameNumbers(got, want) {
			t.Error("as reals and back, they are others")
		}
		if got := devtest.Float64s(t, x.Reshape(256, 256).T().Copy().T().Copy().Reshape(-1)); !sameNumbers(got, want) {
			t.Error("transposed twice, they are others")
		}
	})
}

// TestEveryBFloat16 is TestEveryFloat16 of the other format, the upper half of a float32.
func TestEveryBFloat16(t *testing.T) {
	all := make([]bfloat16.BFloat16, 1<<16)
	want := make([]float64, len(all))
	for i := range all {
		all[i] = bfloat16.BFloat16(i)
		want[i] = float64(math.Float32frombits(uint32(i) << 16))
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, all)
		if got := devtest.Float64s(t, x); x.Type() != tensor.BFloat16 || !sameNumbers(got, want) {
			t.Error("read back, they are others")
		}
		for _, typ := range []tensor.Type{tensor.Float32, tensor.Float64} {
			if !d.Supports(typ) {
				continue
			}
			wide := x.To(typ)
			if got := devtest.Float64s(t, wide); !sameNumbers(got, want) {
				t.Errorf("as %v, they are others", typ)
			}
			if got := devtest.Float64s(t, wide.To(tensor.BFloat16)); !sameNumbers(got, want) {
				t.Errorf("as %v and back, they are others", typ)
			}
		}
		for _, typ := range []tensor.Type{tensor.Float16, tensor.Int32, tensor.Uint8} {
			for i, got := range devtest.Float64s(t, x.To(typ)) {
				if w := converted(want[i], typ); !sameNumbers([]float64{got}, []float64{w}) {
					t.Fatalf("%v as %v is %v, want %v", want[i], typ, got, w)
				}
			}
		}
	})
}

// TestTypedRoundTrips: what New takes of each type is what is read, and constructors fill.
func TestTypedRoundTrips(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		ints, bytes := []int32{math.MinInt32, -1, 0, 7, math.MaxInt32}, []uint8{0, 1, 200, 255}
		if v, err := devtest.New(d, ints).Int32s(); err != nil || !slices.Equal(v, ints) {
			t.Errorf("%v, %v", v, err)
		}
		if v, err := devtest.New(d, bytes, 2, 2).T().Uint8s(); err != nil || !slices.Equal(v, []uint8{0, 200, 1, 255}) {
			t.Errorf("%v, %v", v, err)
		}
		if v, err := devtest.New(d, ints).Float32s(); err != nil || v[0] != -0x1p31 || v[4] != 0x1p31 {
			t.Errorf("%v, %v", v, err)
		}
		x := tensor.ZerosOf(d, tensor.Int32, 3)
		tensor.Upload(x, []int32{4, 5, 6})
		if v, err := x.Int32s(); err != nil || !slices.Equal(v, []int32{4, 5, 6}) {
			t.Errorf("%v, %v", v, err)
		}
		for v, typ := range map[float64]tensor.Type{math.MinInt32: tensor.Int32, math.MaxInt32: tensor.Int32, 0: tensor.Uint8, 255: tensor.Uint8} {
			if got, err := tensor.FullOf(d, typ, v).Item(); err != nil || got != v {
				t.Errorf("%v of %v reads back as %v (err %v)", v, typ, got, err)
			}
		}
		for _, typ := range types {
			for _, shape := range [][]int{{}, {0}, {3, 0}, {1}, {7}, {3, 5, 2}} {
				for v, x := range map[float64]*tensor.Tensor{0: tensor.ZerosOf(d, typ, shape...), 3: tensor.FullOf(d, typ, 3, shape...), 9: tensor.EmptyOf(d, typ, shape...)} {
					if v == 9 {
						x.FillInPlace(9)
					}
					got := devtest.Float64s(t, x)
					if x.Type() != typ || len(got) != x.Len() || slices.ContainsFunc(got, func(g float64) bool { return g != v }) {
						t.Errorf("%v of %v: %v, want %v", shape, typ, got, v)
					}
				}
			}
		}
		half := tensor.FullOf(d, tensor.Float16, 2049.5, 2)
		if got := devtest.Float64s(t, half); got[0] != 2050 {
			t.Errorf("2049.5 as Float16 is %v", got)
		}
		if size := map[tensor.Type]int{tensor.Float32: 4, tensor.Float64: 8, tensor.Int32: 4, tensor.Uint8: 1, tensor.Float16: 2, tensor.BFloat16: 2}; true {
			for _, typ := range types {
				if typ.Size() != size[typ] {
					t.Errorf("%v has %d bytes", typ, typ.Size())
				}
			}
		}
	})
}

// TestTypedMoves: views and copies of every type hold what those of floats hold.
func TestTypedMoves(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		data := make([]uint8, 5*7*3)
		for i := range data {
			data[i] = uint8(i * 37)
		}
		bytes := devtest.New(d, data, 5, 7, 3)
		float, index := bytes.To(d.DefaultType()), devtest.New(d, []int32{4, 0, 4, 2})
		for _, typ := range types {
			x := bytes.To(typ)
			for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
				"Copy":        (*tensor.Tensor).Copy,
				"View":        (*tensor.Tensor).View,
				"Transpose":   func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(2, 0, 1).Copy() },
				"T":           func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(35, 3).T().Copy() },
				"Slice":       func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 2, 5).Copy() },
				"empty Slice": func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 7, 7).Copy() },
				"Reshape":     func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose().Reshape(15, -1) },
				"Expand":      func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 1, 2).Reshape(21).Expand(4, 21).Copy() },
				"one repeated": func(x *tensor.Tensor) *tensor.Tensor {
					return x.Slice(0, 1, 2).Slice(1, 1, 2).Slice(2, 1, 2).Expand(3, 2, 2).Copy()
				},
				"scalar":     func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(-1).Slice(0, 9, 10).Reshape().Copy() },
				"GatherRows": func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(5, 21).GatherRows(index) },
				"of a view":  func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(21, 5).T().GatherRows(index) },
				"SetInPlace": func(x *tensor.Tensor) *tensor.Tensor {
					y := tensor.EmptyOf(d, x.Type(), 3, 5, 7)
					y.SetInPlace(x.Transpose(2, 0, 1))
					return y
				},
				"Step":   func(x *tensor.Tensor) *tensor.Tensor { return x.Step(1, 3).Step(2, 2).Copy() },
				"Select": func(x *tensor.Tensor) *tensor.Tensor { return x.Select(1, -2).T().Copy() },
				"SetInPlace through a non-contiguous view": func(x *tensor.Tensor) *tensor.Tensor {
					y := x.Copy()
					y.Step(1, 2).SetInPlace(x.Slice(1, 1, 5))
					return y
				},
				"FillInPlace through a non-contiguous view": func(x *tensor.Tensor) *tensor.Tensor {
					y := x.Copy()
					y.Select(2, 1).FillInPlace(77)
					y.Slice(1, 2, 4).ZeroInPlace()
					return y
				},
				"onto itself": func(x *tensor.Tensor) *tensor.Tensor {
					y := x.Copy().Reshape(-1)
					y.Slice(0, 3, 103).SetInPlace(y.Slice(0, 0, 100))
					return y
				},
				"ZeroInPlace": func(x *tensor.Tensor) *tensor.Tensor {
					y := x.Copy()
					y.Slice(0, 2, 4).ZeroInPlace()
					return y
				},
			} {
				got, want := f(x), f(float)
				if got.Type() != typ || !reflect.DeepEqual(got.Shape(), want.Shape()) || !sameNumbers(devtest.Float64s(t, got), devtest.Float64s(t, want)) {
					t.Errorf("%s of %v: %v", name, typ, devtest.Float64s(t, got))
				}
			}
		}
	})
}

// promoted is what the types of two operands give, of which the second may be a scalar.
func promoted(x, y tensor.Type, scalar bool) tensor.Type {
	if x.Integer() && y.Integer() && !scalar {
		for _, typ := range []tensor.Type{x, y, tensor.Int16, tensor.Int32, tensor.Int64} { // the smallest that has both ranges
			has := func(of tensor.Type) bool {
				return typ == of || typ.Signed() && typ.Size() > of.Size() || typ.Signed() == of.Signed() && typ.Size() >= of.Size()
			}
			if has(x) && has(y) {
				return typ
			}
		}
		return tensor.Bool
	}
	rank := map[tensor.Type]int{tensor.Float16: 2, tensor.BFloat16: 2, tensor.Float32: 3, tensor.Float64: 4}
	floats := func(typ tensor.Type) bool { return rank[typ] >= 2 }
	switch {
	case rank[y] > rank[x] && (!scalar || floats(y) && !floats(x)):
		return y
	case x != y && rank[x] == rank[y] && floats(x) && !scalar: // float16 and bfloat16
		return tensor.Float32
	}
	return x
}

// TestPromotion: what the types of two operands give, and that it is computed in the result's type. An OpenCL device builds a
// kernel for each function, two types and layout: there Add has each type beside three others, and the other functions have two
// operands of one type.
func TestPromotion(t *testing.T) {
	ops := map[*kernels.Function]func(x, y float64) float64{
		fn.Add: func(x, y float64) float64 { return x + y }, fn.Sub: func(x, y float64) float64 { return x - y },
		fn.Mul: func(x, y float64) float64 { return x * y }, fn.Div: func(x, y float64) float64 { return x / y },
		fn.Min: math.Min, fn.Max: math.Max,
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		all := strings.HasPrefix(d.Name(), "cpu") || devtest.Sweep()
		a := devtest.New(d, []uint8{0, 1, 2, 100, 200, 255}, 2, 3)
		for name, b := range map[string]*tensor.Tensor{
			"same shape": devtest.New(d, []uint8{1, 255, 3, 200, 100, 255}, 2, 3), "row": devtest.New(d, []uint8{3, 200, 255}), "column": devtest.New(d, []uint8{2, 250}, 2, 1),
			"scalar": devtest.New(d, []uint8{201}, []int{}...), "view": devtest.New(d, []uint8{1, 2, 3, 4, 250, 6}, 3, 2).T(), "deeper": devtest.New(d, []uint8{5, 250}, 2, 1, 1),
			"none": devtest.New(d, []uint8{}, 0, 1, 1),
		} {
			for f, want := range ops {
				for i, tx := range typesOn(d) {
					for j, ty := range typesOn(d) {
						apart := (j - i + len(typesOn(d))) % len(typesOn(d))
						if !all && (apart > 3 || apart > 0 && (f != fn.Add || name != "same shape" && name != "scalar")) {
							continue
						}
						typ := promoted(tx, ty, name == "scalar")
						if typ == tensor.Bool {
							err := tensor.Try(func() { tensor.Map(f, nil, a.To(tx), b.To(ty)) })
							if !errors.Is(err, tensor.ErrType) || !strings.Contains(err.Error(), "uint64 and integers that have a sign: convert one with To") {
								t.Errorf("%s of %v and %v: %v", f.Name, tx, ty, err)
							}
							continue
						}
						if f == fn.Div && typ.Integer() {
							typ = d.DefaultType()
						}
						x, y := a.To(tx), b.To(ty)
						z := tensor.Map(f, nil, x, y)
						shape, _ := tensor.Broadcast(a.Shape(), b.Shape())
						vx, vy := devtest.Float64s(t, x.Expand(shape...)), devtest.Float64s(t, y.Expand(shape...))
						for i := range vx { // an integer scalar wraps around to the other's type
							if vy[i] = wrapped(vy[i], typ); f == fn.Div {
								vy[i] = devtest.Float64s(t, y.Expand(shape...))[i]
							}
						}
						expect := make([]float64, len(vx))
						for i := range vx {
							expect[i] = wrapped(want(vx[i], vy[i]), typ)
							if typ.Float() {
								expect[i] = float64(float32(converted(expect[i], typ)))
							}
						}
						got := devtest.Float64s(t, z)
						for i, v := range got {
							got[i], expect[i] = float64(float32(v)), float64(float32(expect[i]))
							if typ == tensor.Uint64 && max(math.Abs(v), math.Abs(vx[i]), math.Abs(vy[i])) > 0x1p53 { // which no float64 is
								expect[i] = got[i]
							}
						}
						if z.Type() != typ || !reflect.DeepEqual(z.Shape(), shape) || !slices.EqualFunc(got, expect, func(a, b float64) bool { return fn.Div == f && math.Abs(a-b) <= 1e-6*b || a == b }) {
							t.Errorf("%s of %v and %v, %s: %v of %v, want %v of %v", f.Name, tx, ty, name, got, z.Type(), expect, typ)
						}
						if typ != tx && !(typ.Float() && tx.Float()) || !reflect.DeepEqual(shape, x.Shape()) {
							err := tensor.Try(func() { x.MapInPlace(f, nil, y) })
							if !errors.Is(err, tensor.ErrType) && !errors.Is(err, tensor.ErrShape) || reflect.DeepEqual(shape, x.Shape()) && !strings.Contains(err.Error(), "To(tensor.Float32)") {
								t.Errorf("%sInPlace of %v and %v, %s: err = %v", f.Name, tx, ty, name, err)
							}
							continue
						}
						x = x.Copy()
						x.MapInPlace(f, nil, y)
						if x.Type() != tx || !sameNumbers(devtest.Float64s(t, x), devtest.Float64s(t, z.To(tx))) {
							t.Errorf("%sInPlace of %v and %v, %s: %v", f.Name, tx, ty, name, devtest.Float64s(t, x))
						}
					}
				}
			}
		}
		i := devtest.New(d, []int32{math.MaxInt32, math.MinInt32, 65536})
		for f, want := range map[*kernels.Function][]int32{fn.Add: {-2, 0, 131072}, fn.Mul: {1, 0, 0}, fn.Sub: {0, 0, 0}} {
			if v, err := tensor.Map(f, nil, i, i).Int32s(); err != nil || !slices.Equal(v, want) {
				t.Errorf("%s wraps to %v, want %v (err %v)", f.Name, v, want, err)
			}
		}
	})
}

// TestTypedFunctions: functions that stay among integers keep their type, others give floats;
// those of 16 bits are computed in float32, and rounded.
func TestTypedFunctions(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		data := []int32{math.MinInt32, math.MaxInt32, -70000, -3, -1, 0, 1, 2, 5, 100, 255, 70000, 1 << 30}
		for _, u := range tabled(d, 1) {
			scalars := slices.Clone(u.Scalars)
			for i := range scalars {
				scalars[i] = math.Trunc(scalars[i])
			}
			if u == fn.Clamp || u == fn.Hardtanh {
				scalars = []float64{2, 90}
			}
			for _, typ := range typesOn(d) {
				x := devtest.New(d, data, 13, 1).To(typ).T()
				float, wide := typ, typ
				switch {
				case typ.Half():
					wide = tensor.Float32
				case typ.Integer():
					float, wide = d.DefaultType(), d.DefaultType()
				}
				want := tensor.Map(u, scalars, x.To(wide)).To(float)
				y := tensor.Map(u, scalars, x)
				keep := u.Integers && typ.Integer()
				if !keep {
					if y.Type() != float || !sameNumbers(devtest.Float64s(t, y), devtest.Float64s(t, want)) {
						t.Errorf("%s of %v: %v %v, want %v", u.Name, typ, y.Type(), devtest.Float64s(t, y), devtest.Float64s(t, want))
					}
				} else {
					got, was := devtest.Float64s(t, y), devtest.Float64s(t, x)
					for i, v := range was {
						if math.Abs(v) > 0x1p53 { // which no float64 is
							continue
						}
						exact := int64(expected(u, scalars, v)) // in float64, which holds squares of int32 but for their last bits
						if u == fn.Square || u == fn.Pow {      // of 2
							exact = int64(v) * int64(v)
						}
						if w := wrappedInt(exact, typ); got[i] != w {
							t.Errorf("%s of %v: %v becomes %v, want %v", u.Name, typ, v, got[i], w)
						}
					}
					if y.Type() != typ {
						t.Errorf("%s of %v is %v", u.Name, typ, y.Type())
					}
				}
				z := x.Copy()
				err := tensor.Try(func() { z.MapInPlace(u, scalars) })
				switch {
				case keep || typ.Float():
					if err != nil || !sameNumbers(devtest.Float64s(t, z), devtest.Float64s(t, y)) {
						t.Errorf("%sInPlace of %v: %v (err %v)", u.Name, typ, devtest.Float64s(t, z), err)
					}
				case !errors.Is(err, tensor.ErrType) || !strings.Contains(err.Error(), "To(tensor.Float"):
					t.Errorf("%sInPlace of %v: err = %v", u.Name, typ, err)
				}
			}
		}
	})
}

// wrappedInt is wrapped of an int64.
func wrappedInt(v int64, typ tensor.Type) float64 {
	if shift := 64 - 8*typ.Size(); typ.Signed() {
		return float64(v << shift >> shift)
	} else {
		return float64(uint64(v<<shift) >> shift)
	}
}

// TestTypedReductions: sums of integers are Int64, whatever the way they are split; means are floats.
func TestTypedReductions(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(5)
		for _, shape := range [][]int{{}, {1}, {0}, {0, 3}, {3, 0, 2}, {7}, {2, 3, 4}, {300, 5}, {5, 300}, {70001}, {2, 40000}, {40000, 2}, {3, 1, 4, 2}} {
			whole := rng.Ints(d, math.MaxInt32, shape...)
			for _, typ := range []tensor.Type{tensor.Int32, tensor.Uint8} {
				x := whole
				if typ == tensor.Uint8 {
					x = rng.Ints(d, 256, shape...).To(typ)
				}
				views := []*tensor.Tensor{x, x.Transpose()}
				if x.Rank() > 0 && shape[0] > 2 {
					views = append(views, x.Slice(0, 1, shape[0]))
				}
				for _, v := range views {
					for _, axes := range [][]int{nil, {0}, {-1}, {0, -1}} {
						if len(axes) > 0 && v.Rank() == 0 || len(axes) > 1 && v.Rank() < 2 {
							continue
						}
						sum := v.Sum(axes...)
						want := integerSums(t, v, axes)
						if sum.Type() != tensor.Int64 || !sameNumbers(devtest.Float64s(t, sum), want) {
							t.Errorf("sum of %v %v over %v: %v, want %v", typ, v.Shape(), axes, sum, want)
						}
						mean, floats := v.Mean(axes...), v.To(d.DefaultType()).Mean(axes...)
						if mean.Type() != d.DefaultType() || !sameNumbers(devtest.Float64s(t, mean), devtest.Float64s(t, floats)) {
							t.Errorf("mean of %v %v over %v: %v", typ, v.Shape(), axes, mean)
						}
						kept := v.Sum(append([]int{tensor.Keepdims}, axes...)...)
						if kept.Type() != tensor.Int64 || kept.Rank() != v.Rank() || !sameNumbers(devtest.Float64s(t, kept), want) {
							t.Errorf("sum of %v %v over %v with Keepdims: %v", typ, v.Shape(), axes, kept)
						}
						if v.Len() == 0 {
							continue
						}
						most, least := v.Max(axes...), v.Min(axes...)
						if negated := v.To(tensor.Int32).RSubScalar(-1).Max(axes...); least.Type() != typ || !sameNumbers(devtest.Float64s(t, least.To(tensor.Int32)), devtest.Float64s(t, negated.RSubScalar(-1))) {
							t.Errorf("minimum of %v %v over %v: %v", typ, v.Shape(), axes, least)
						}
						floats = v.To(d.DefaultType()).Max(axes...)
						if typ == tensor.Int32 && d.DefaultType() == kernels.Float32 {
							most = most.To(d.DefaultType())
						} else if most.Type() != typ {
							t.Errorf("maximum of %v is %v", typ, most.Type())
						}
						if !sameNumbers(devtest.Float64s(t, most), devtest.Float64s(t, floats)) {
							t.Errorf("maximum of %v %v over %v: %v", typ, v.Shape(), axes, most)
						}
					}
				}
			}
		}
		h := devtest.New(d, []float64{1.5, 2, 2049}).To(tensor.Float16)
		for name, y := range map[float64]*tensor.Tensor{2052: h.Sum(), 2048: h.Max(), 684: h.Mean()} { // 2051.5 and 683.8, rounded
			if v, err := y.Item(); err != nil || y.Type() != tensor.Float16 || v != name {
				t.Errorf("%v of %v, want %v (err %v)", v, y.Type(), name, err)
			}
		}
	})
}

// integerSums adds up an integer tensor over axes, all if none is given, in int32.
func integerSums(t *testing.T, x *tensor.Tensor, axes []int) []float64 {
	t.Helper()
	over := make([]bool, x.Rank())
	for _, a := range tensorapi.Impl.Axes("Sum", x, axes...) {
		over[a] = true
	}
	left := 1
	for a, n := range x.Shape() {
		if !over[a] {
			left *= n
		}
	}
	sums := make([]int64, left)
	for i, v := range devtest.Float64s(t, x) {
		at, step := 0, 1
		for a := x.Rank() - 1; a >= 0; a-- {
			if n := x.Shape()[a]; !over[a] {
				at += i % n * step
				step *= n
			}
			i /= x.Shape()[a]
		}
		sums[at] += int64(v)
	}
	out := make([]float64, left)
	for i, v := range sums {
		out[i] = float64(v)
	}
	return out
}

// TestTypeMisuse: what does not take a type says so, and what to do.
func TestTypeMisuse(t *testing.T) {
	d := devtest.CPU(t)
	ints, bytes, half, x := tensor.ZerosOf(d, tensor.Int32, 2, 2), tensor.ZerosOf(d, tensor.Uint8, 2, 2), tensor.ZerosOf(d, tensor.Float16, 2, 2), tensor.Zeros(d, 2, 2)
	index := devtest.New(d, []int32{1, 0})
	for _, c := range []struct {
		op  string
		f   func()
		say string
	}{
		{"MatMul", func() { ints.MatMul(bytes) }, "To(tensor.Float32)"},
		{"Linear", func() { tensor.Linear(ints, ints, nil, nil) }, "To(tensor.Float32)"},
		{"MatMulInto", func() { tensorapi.Impl.MatMulInto(ints, x, x, false) }, "not int32: convert with To(tensor.Float32)"},
		{"MatMulInto", func() { tensorapi.Impl.MatMulInto(half, x, x, false) }, "not float16"},
		{"OuterAccInPlace", func() { ints.OuterAccInPlace(x, x) }, "To(tensor.Float32)"},
		{"SumRowsInto", func() { tensorapi.Impl.SumRowsInto(bytes, x, false) }, "To(tensor.Float32)"},
		{"ScatterAddRowsInPlace", func() { ints.ScatterAddRowsInPlace(index, x) }, "To(tensor.Float32)"},
		{"ScatterAddRowsInPlace", func() { x.ScatterAddRowsInPlace(bytes.Reshape(4), x) }, "To(tensor.Int64)"},
		{"SetInPlace", func() { x.SetInPlace(ints) }, "int32 into float64: convert with To(tensor.Float64)"},
		{"SetInPlace", func() { bytes.SetInPlace(ints) }, "int32 into uint8: convert with To(tensor.Uint8)"},
		{"Upload", func() { tensor.Upload(x, []int32{1, 2, 3, 4}) }, "int32 into float64"},
		{"Upload", func() { tensor.Upload(half, []int32{1, 2, 3, 4}) }, "int32 into float16: convert with To(tensor.Float16)"},
		{"Int32s", func() { x.Int32s() }, "type float64: convert it with To(tensor.Int32)"},
		{"Uint8s", func() { ints.Uint8s() }, "type int32: convert it with To(tensor.Uint8)"},
		{"FillInPlace", func() { ints.FillInPlace(0.5) }, "0.5 is no number of a tensor of type int32: convert the tensor with To(tensor.Float32)"},
		{"FillInPlace", func() { bytes.FillInPlace(256) }, "256 is no number"},
		{"FillInPlace", func() { bytes.FillInPlace(-1) }, "-1 is no number"},
		{"FillInPlace", func() { ints.FillInPlace(math.NaN()) }, "NaN is no number"},
		{"FillInPlace", func() { ints.FillInPlace(math.Inf(1)) }, "+Inf is no number"},
		{"Full", func() { tensor.FullOf(d, tensor.Int32, 1<<31, 2) }, "is no number"},
		{"FillInPlace", func() { ints.T().Slice(1, 0, 1).FillInPlace(0.5) }, "0.5 is no number"},
		{"SetInPlace", func() { x.T().SetInPlace(ints) }, "int32 into float64"},
		{"Upload", func() { tensor.Upload(x.T(), []uint8{1, 2, 3, 4}) }, "uint8 into float64"},
		{"addInPlace", func() { ints.T().MapInPlace(fn.Add, nil, x) }, "int32 and float64 do not give int32"},
		{"expInPlace", func() { ints.T().MapInPlace(fn.Exp, nil) }, "not int32"},
		{"add_scalar", func() { tensor.Map(fn.AddScalar, []float64{0.5}, ints) }, "To(tensor.Float32)"},
		{"add_scalarInPlace", func() { bytes.MapInPlace(fn.AddScalar, []float64{-1}) }, "-1 is no number of a tensor of type uint8"},
		{"clamp", func() { tensor.Map(fn.Clamp, []float64{0, math.Inf(1)}, ints) }, "+Inf"},
		{"addInPlace", func() { ints.MapInPlace(fn.Add, nil, x) }, "int32 and float64 do not give int32"},
		{"addInPlace", func() { bytes.MapInPlace(fn.Add, nil, ints) }, "uint8 and int32 do not give uint8"},
		{"divInPlace", func() { ints.MapInPlace(fn.Div, nil, ints) }, "not int32: convert the destination"},
	} {
		err := tensor.Try(c.f)
		var e *tensor.Error
		if !errors.Is(err, tensor.ErrType) || !errors.As(err, &e) || e.Op != c.op || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: err = %v, want ErrType that says %q", c.op, err, c.say)
		}
	}
	for name, x := range map[string]*tensor.Tensor{"ints": ints, "bytes": bytes, "half": half, "reals": x} {
		for _, v := range devtest.Float64s(t, x) {
			if v != 0 {
				t.Errorf("what was refused changed the %s", name)
			}
		}
	}
	freed := tensor.ZerosOf(d, tensor.Uint8, 2)
	freed.Free()
	if err := tensor.Try(func() { freed.To(d.DefaultType()) }); !errors.Is(err, tensor.ErrFreed) {
		t.Errorf("To of a freed tensor: err = %v", err)
	}
	view := ints.To(tensor.Int32)
	view.Free()
	if ints.Freed() {
		t.Error("freeing what To returned freed its operand")
	}
}

// TestMixedProducts: products and the like take integers beside floats as the floats that they are,
// and those of 16 bits, of which alone they give one.
func TestMixedProducts(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		a, b := devtest.New(d, []uint8{1, 2, 3, 4, 5, 6}, 2, 3), devtest.New(d, []float64{1, -2, 0.5, 4, 8, -1}, 3, 2)
		bias := devtest.New(d, []int32{10, 20})
		ra, rbias := a.To(d.DefaultType()), bias.To(d.DefaultType())
		for name, pair := range map[string][2]*tensor.Tensor{
			"bytes by reals":  {a.MatMul(b), ra.MatMul(b)},
			"reals by bytes":  {b.MatMul(a.T().T()), b.MatMul(ra)},
			"halves":          {a.To(tensor.Float16).MatMul(b.To(tensor.Float16)), ra.MatMul(b)},
			"transposed":      {a.T().MatMul(b.T()), ra.T().MatMul(b.T())},
			"half and bytes":  {b.To(tensor.Float16).MatMul(a), b.MatMul(ra)},
			"a layer":         {tensor.Linear(a, b, bias, fn.ReLU), tensor.Linear(ra, b, rbias, fn.ReLU)},
			"expanded halves": {a.To(tensor.Float16).Slice(1, 0, 1).Expand(2, 3).MatMul(b), ra.Slice(1, 0, 1).Expand(2, 3).MatMul(b)},
			"SumTo":           {a.To(tensor.Float16).SumTo(3), ra.SumTo(3)},
		} {
			typ := d.DefaultType()
			if name == "halves" || name == "half and bytes" || name == "SumTo" {
				typ = tensor.Float16
			}
			if got := pair[0]; got.Type() != typ || !sameNumbers(devtest.Float64s(t, got), devtest.Float64s(t, pair[1])) {
				t.Errorf("%s: %v, want %v", name, devtest.Float64s(t, got), devtest.Float64s(t, pair[1]))
			}
		}
		if s := a.SumTo(3); s.Type() != tensor.Int64 || fmt.Sprint(devtest.Float64s(t, s)) != "[5 7 9]" {
			t.Errorf("SumTo of bytes: %v %v", s, devtest.Float64s(t, s))
		}
		if s := a.SumTo(2, 3); s.Type() != tensor.Int64 || s.Len() != 6 {
			t.Errorf("SumTo of bytes over nothing: %v", s)
		}
		sum, grad := tensorapi.Impl.SquaredError(a, tensor.FullOf(d, tensor.Float16, 1, 2, 3))
		if v, err := sum.Item(); err != nil || v != 55 || fmt.Sprint(devtest.Float64s(t, grad)) != "[0 2 4 6 8 10]" {
			t.Errorf("SquaredError %v %v (err %v)", v, devtest.Float64s(t, grad), err)
		}
	})
}

// TestIndexRange: an index out of range is found whatever made it, and one in range is taken,
// though another part of its storage is not.
func TestIndexRange(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2, 3, 4}, 2, 2)
		all := devtest.New(d, []int32{0, 1, 2, -1})
		set := &kernels.Kernel{Name: "k_fill_int", File: "move.cl", Defines: "-DELEM=int", Grid: ops.Fill.Of(kernels.Int32).Grid,
			Params: ops.Fill.Of(kernels.Int32).Params, Host: ops.Fill.Of(kernels.Int32).Host}
		exposed := func(v int) *tensor.Tensor {
			i := devtest.New(d, []int32{0, 0})
			arg := i.Arg()
			x.GatherRows(i)
			tensor.Launch(d, set, arg, kernels.IntArg(2), kernels.IntArg(v)) // without a word
			return i
		}
		changed := func(v int32) *tensor.Tensor {
			i := devtest.New(d, []int32{0, 0})
			x.GatherRows(i)
			tensor.Upload(i.Slice(0, 1, 2), []int32{v})
			return i
		}
		repeated := func() *tensor.Tensor { // by a view that is as long as the storage
			i := devtest.New(d, []int32{1, 7})
			x.GatherRows(i.Slice(0, 0, 1).Expand(2))
			return i
		}
		for name, c := range map[string]struct {
			index *tensor.Tensor
			ok    bool
		}{
			"uploaded": {all, false}, "its start": {all.Slice(0, 0, 2), true}, "its end": {all.Slice(0, 1, 3), false}, "none of it": {all.Slice(0, 4, 4), true},
			"every second": {all.Reshape(2, 2).Slice(1, 0, 1).Reshape(2), false}, "computed": {all.MaxScalar(0), false},
			"clamped": {tensor.Map(fn.Clamp, []float64{0, 1}, all), true}, "of bytes": {devtest.New(d, []uint8{1, 0, 1}).To(tensor.Int32), true}, "of large bytes": {devtest.New(d, []uint8{1, 200}).To(tensor.Int32), false},
			"random": {tensor.NewRNG(1).Ints(d, 2, 9), true}, "exposed": {exposed(1), true}, "exposed and wrong": {exposed(7), false}, "changed": {changed(1), true}, "changed and wrong": {changed(-5), false}, "an element of it repeated before": {repeated(), false},
			"filled": {tensor.FullOf(d, tensor.Int32, 1, 3), true}, "filled and wrong": {tensor.FullOf(d, tensor.Int32, 2, 3), false},
		} {
			for range 2 { // what was found out is remembered
				err := tensor.Try(func() {
					if y := x.GatherRows(c.index); y.Len() != 2*c.index.Len() {
						t.Errorf("%s: %v", name, y)
					}
				})
				if c.ok && err != nil || !c.ok && !errors.Is(err, tensor.ErrIndex) {
					t.Errorf("%s: err = %v", name, err)
				}
			}
		}
		if wide := tensor.NewRNG(1).Ints(d, 1000, 9); !errors.Is(tensor.Try(func() { x.GatherRows(wide) }), tensor.ErrIndex) {
			t.Error("random indices below 1000 name rows of 2")
		}
		before := d.Stats().Downloads
		x.GatherRows(devtest.New(d, []int32{1, 0}))
		x.GatherRows(tensor.NewRNG(1).Ints(d, 2, 9))
		long := tensor.NewRNG(1).Normal(d, 0, 1, 3, 700, 2)
		for axis := range long.Rank() {
			_, sorted := long.Sort(axis)
			_, top := long.TopK(2, axis)
			_, most := long.TopK(long.Shape()[axis], axis)
			_, middle := long.Median(axis, tensor.Keepdims)
			_, running := long.CumMax(axis)
			for _, at := range []*tensor.Tensor{sorted, top, most, middle, running, long.ArgSort(axis), long.ArgMin(axis, tensor.Keepdims)} {
				long.Gather(axis, at)
			}
		}
		if d.Stats().Downloads != before {
			t.Error("indices that are known were read back")
		}
	})
}

// TestTypedLaunch: a tensor of another type than a kernel's is refused by the names of both.
func TestTypedLaunch(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		n := kernels.IntArg(2)
		x := map[tensor.Type]*tensor.Tensor{}
		for _, typ := range types {
			x[typ] = tensor.ZerosOf(d, typ, 2)
		}
		for _, kernel := range types {
			for _, arg := range types {
				err := tensor.Try(func() {
					tensor.Launch(d, fused.Map(fn.Identity.Alone(), kernel, fused.AccessPattern{Rank: 1}), x[kernel].Arg(),
						x[arg].Arg(), n)
				})
				of, given := kernel.Moved(), arg.Moved()
				want := fmt.Sprintf("k_copy: argument 1, Y, has elements of type %v, not %v", of, arg.Stored())
				if of == given && err != nil || of != given && (!errors.Is(err, tensor.ErrArgument) || !strings.Contains(err.Error(), want)) {
					t.Errorf("%v into a kernel of %v: err = %v", arg, kernel, err)
				}
			}
		}
	})
}

// blend is a kernel of every element type: Y = X·M where I is not 0, as halves.
var blend = &kernels.Kernel{
	Name: "blend",
	Text: `// @depends: common
kernel void blend(IN(X), IN_BYTES(M), IN_INTS(I), OUT_OF(ushort, Y), OUT_BYTES(B), OUT_INTS(N), int n) {
	const int i = get_global_id(0);
	if (i >= n) return;
	vstore_half_rte((float)(I[I_off + i] != 0 ? X[X_off + i] * M[M_off + i] : (REAL)0), Y_off + i, Y);
	B[B_off + i] = M[M_off + i] ^ 1;
	N[N_off + i] += I[I_off + i] * 2;
}`,
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "M", Mode: kernels.InBytes}, {Name: "I", Mode: kernels.InInts},
		{Name: "Y", Mode: kernels.Out.Of(kernels.Float16)}, {Name: "B", Mode: kernels.OutBytes}, {Name: "N", Mode: kernels.InOutInts}, {Name: "n", Mode: kernels.IntParam}},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid { return kernels.Grid1D(int(a[6].Int), l) },
	Host: kernels.HostKernel{F32: blendHost[float32], F64: blendHost[float64]},
}

func blendHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, m, at, y, b, n := c.Floats(0), c.Bytes(1), c.Ints(2), c.Halves(3), c.Bytes(4), c.Ints(5)
	for i := range y {
		y[i] = 0
		if at[i] != 0 {
			y[i] = convert.ToFloat16(x[i] * T(m[i]))
		}
		b[i] = m[i] ^ 1
		n[i] += at[i] * 2
	}
}

// TestTypedParams: a kernel of another package takes and writes every element type, in views with
// an offset, and a tensor of another type is refused by the name of its parameter.
func TestTypedParams(t *testing.T) {
	run := func(t *testing.T, d tensor.Device) {
		x, m := devtest.New(d, []float64{9, 0.5, -2, 2049}).Slice(0, 1, 4), devtest.New(d, []uint8{9, 3, 200, 1}).Slice(0, 1, 4)
		at, n := devtest.New(d, []int32{9, 1, 0, -1}).Slice(0, 1, 4), tensor.FullOf(d, tensor.Int32, 5, 4).Slice(0, 1, 4)
		y, b := tensor.FullOf(d, tensor.Float16, 9, 4), tensor.FullOf(d, tensor.Uint8, 9, 4)
		args := []kernels.Arg{x.Arg(), m.Arg(), at.Arg(), y.Slice(0, 1, 4).Arg(), b.Slice(0, 1, 4).Arg(), n.Arg(), kernels.IntArg(3)}
		tensor.Launch(d, blend, args...)
		for name, c := range map[string][2]any{"Y": {devtest.Float64s(t, y), []float64{9, 1.5, 0, 2048}}, "B": {devtest.Float64s(t, b), []float64{9, 2, 201, 0}}, "N": {devtest.Float64s(t, n), []float64{7, 5, 3}}} {
			if !reflect.DeepEqual(c[0], c[1]) {
				t.Errorf("%s is %v, want %v", name, c[0], c[1])
			}
		}
		for i, p := range blend.Params[:6] {
			wrong := slices.Clone(args)
			wrong[i] = args[(i+1)%6]
			if p.Name == "I" {
				wrong[i] = args[0]
			}
			want := fmt.Sprintf("blend: argument %d, %s, has elements of type %v, not", i, p.Name, p.Mode.Elements(d.DefaultType()))
			if err := tensor.Try(func() { tensor.Launch(d, blend, wrong...) }); !errors.Is(err, tensor.ErrArgument) || !strings.Contains(err.Error(), want) {
				t.Errorf("err = %v, want %q", err, want)
			}
		}
	}
	devtest.Each(t, true, run)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			run(t, devtest.Open(t, sel, tensor.Options{Check: true}))
		}
	}
}

// TestCheckModeOfIntegers: check mode finds an integer that is off by one in a kernel with a wide
// tolerance.
func TestCheckModeOfIntegers(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		d, err := tensor.Open(sel, tensor.Options{Check: true})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		wrong := *blend
		wrong.Tol = kernels.Tolerance{ULP: 1 << 20, Rel: 1e9}
		wrong.Text = strings.Replace(blend.Text, "* 2;", "* 2 + (i == 2);", 1)
		ints, x := tensor.FullOf(d, tensor.Int32, 1000000, 4), tensor.Full(d, 1, 4)
		n, b := ints.Copy(), tensor.FullOf(d, tensor.Uint8, 3, 4)
		tensor.Launch(d, &wrong, x.Arg(), b.Arg(), ints.Arg(), x.To(tensor.Float16).Arg(), b.Copy().Arg(), n.Arg(), kernels.IntArg(4))
		var e *tensor.CheckError
		if err := d.Sync(); !errors.As(err, &e) || e.Param != "N" || e.Index != 2 || e.Want != 3000000 || e.Got != 3000001 || e.ULP != 1 {
			t.Errorf("err = %v, want one of N[2]", err)
		}
	}
}
