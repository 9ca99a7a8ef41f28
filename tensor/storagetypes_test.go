package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
)

// storageType is a type for storage, with what package lowbit has of it.
type storageType struct {
	typ    tensor.Type
	whole  bool
	tensor func(d tensor.Device, bytes []uint8, shape ...int) *tensor.Tensor
	bytes  func(t testing.TB, x *tensor.Tensor) []uint8
	of     func(f float32, o tensor.CastOptions) uint8
	number func(b uint8) float32
}

func storageOf[T interface {
	lowbit.Element
	tensor.Element
}](typ tensor.Type) storageType {
	return storageType{typ: typ, whole: typ >= tensor.Int4,
		tensor: func(d tensor.Device, bytes []uint8, shape ...int) *tensor.Tensor {
			data := make([]T, len(bytes))
			for i, b := range bytes {
				data[i] = T(b)
			}
			return tensor.New(d, data, shape...)
		},
		bytes: func(t testing.TB, x *tensor.Tensor) []uint8 {
			t.Helper()
			data, err := tensor.Read[T](x)
			if err != nil {
				t.Fatal(err)
			}
			bytes := make([]uint8, len(data))
			for i, v := range data {
				bytes[i] = uint8(v)
			}
			return bytes
		},
		of:     func(f float32, o tensor.CastOptions) uint8 { return uint8(lowbit.FromFloat32[T](f, o)) },
		number: func(b uint8) float32 { return lowbit.Float32(T(b)) }}
}

var storageTypes = []storageType{
	storageOf[lowbit.Float8E4M3FN](tensor.Float8E4M3FN), storageOf[lowbit.Float8E5M2](tensor.Float8E5M2),
	storageOf[lowbit.Float8E4M3FNUZ](tensor.Float8E4M3FNUZ), storageOf[lowbit.Float8E5M2FNUZ](tensor.Float8E5M2FNUZ),
	storageOf[lowbit.Float8E8M0](tensor.Float8E8M0), storageOf[lowbit.Float4E2M1](tensor.Float4E2M1),
	storageOf[lowbit.Int4](tensor.Int4), storageOf[lowbit.Uint4](tensor.Uint4),
	storageOf[lowbit.Int2](tensor.Int2), storageOf[lowbit.Uint2](tensor.Uint2),
}

// otherTypes are the types that are computed with, and that d has.
func otherTypes(d tensor.Device) []tensor.Type {
	var list []tensor.Type
	for typ := tensor.Type(0); typ < tensor.Float8E4M3FN; typ++ {
		if typ != tensor.Float64 || d.Supports(typ) {
			list = append(list, typ)
		}
	}
	return list
}

// tried reports whether a test takes a pair of types on d: all on the Go device; of others, whose compiler takes
// its time for each, some.
func tried(d tensor.Device, from, to tensor.Type) bool {
	return d.Name()[:3] == "cpu" || devtest.More() || (from+to)%5 == 0
}

// alike reports whether numbers are the same, NaN and the sign of 0 included.
func alike(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
	})
}

func bytesTo(n int) []uint8 {
	bytes := make([]uint8, n)
	for i := range bytes {
		bytes[i] = uint8(i)
	}
	return bytes
}

// canonical returns a byte of integers as conversions make it.
func (s storageType) canonical(b uint8) uint8 { return uint8(int(s.number(b))) }

// TestStorageTypesWiden: every byte is the number that package lowbit says, and becomes of any type what that
// number becomes; a copy keeps the byte.
func TestStorageTypesWiden(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, s := range storageTypes {
			bytes := bytesTo(256)
			x := s.tensor(d, bytes)
			if x.Type() != s.typ || !slices.Equal(s.bytes(t, x), bytes) || !slices.Equal(s.bytes(t, x.Copy()), bytes) {
				t.Errorf("%v: %v holds %v", s.typ, x, s.bytes(t, x))
			}
			floats, ints := make([]float32, 256), make([]int64, 256)
			exact := make([]float64, 256)
			for i, b := range bytes {
				floats[i] = s.number(b)
				exact[i] = float64(floats[i])
				ints[i] = int64(floats[i])
			}
			if got := devtest.Float64s(t, x); !alike(got, exact) {
				t.Errorf("%v: the numbers are %v, want %v", s.typ, got, exact)
			}
			for _, to := range otherTypes(d) {
				if !tried(d, s.typ, to) {
					continue
				}
				want := tensor.New(d, floats).To(to)
				if s.whole {
					want = tensor.New(d, ints).To(to)
				}
				got := x.To(to)
				if got.Type() != to || !alike(devtest.Float64s(t, got), devtest.Float64s(t, want)) {
					t.Errorf("%v to %v: %v, want %v", s.typ, to, devtest.Float64s(t, got), devtest.Float64s(t, want))
				}
			}
			for _, to := range storageTypes {
				if !tried(d, s.typ, to.typ) {
					continue
				}
				got := to.bytes(t, x.To(to.typ))
				for i, b := range bytes {
					want := to.of(floats[i], tensor.CastOptions{})
					switch {
					case s.typ == to.typ:
						want = b
					case s.whole && to.whole:
						want = to.canonical(uint8(ints[i]))
					}
					if got[i] != want {
						t.Fatalf("%v %#x to %v: %#x, want %#x", s.typ, b, to.typ, got[i], want)
					}
				}
			}
		}
	})
}

// edges are where what numbers become changes: those of a type, and the middles between them.
func (s storageType) edges() []float32 {
	var numbers []float32
	for b := range 256 {
		if f := s.number(uint8(b)); f >= 0 && f <= math.MaxFloat32 {
			numbers = append(numbers, f)
		}
	}
	slices.Sort(numbers)
	list := []float32{464, 480, 61440, 65536, 248, 256, 7, 16, 0x1p-128, 0x3p-129}
	for i, f := range numbers[1:] {
		middle := f/2 + numbers[i]/2
		list = append(list, f, -f, middle, -middle)
	}
	return list
}

var castOptions = []tensor.CastOptions{{}, {NoSaturation: true}, {E8M0: lowbit.RoundDown}, {E8M0: lowbit.RoundNearest},
	{NoSaturation: true, E8M0: lowbit.RoundDown}, {NoSaturation: true, E8M0: lowbit.RoundNearest}}

// optionsOf are the options that make a difference to a type.
func (s storageType) optionsOf() []tensor.CastOptions {
	switch {
	case s.typ == tensor.Float8E8M0:
		return castOptions
	case s.whole || s.typ == tensor.Float4E2M1:
		return castOptions[:1]
	}
	return castOptions[:2]
}

// TestStorageTypesNarrow: numbers become what package lowbit makes of them, with every option; those of
// float64 and of 64 bits are rounded once.
func TestStorageTypesNarrow(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, s := range storageTypes {
			inf := float32(math.Inf(1))
			floats := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), inf, -inf, math.MaxFloat32, -math.MaxFloat32,
				math.SmallestNonzeroFloat32, 0x1p-149 + 0x1p-128, 0x1p-129}
			doubles, off := []float64{1e300, -1e300, 1e-300, 0x1p128}, []float32{inf, -inf, math.SmallestNonzeroFloat32, inf}
			for _, f := range s.edges() {
				below, above := math.Nextafter32(f, 0), math.Nextafter32(f, f*2)
				floats = append(floats, f, below, above)
				if f != 0 { // of doubles that are off by less becomes the same
					doubles = append(doubles, math.Nextafter(float64(f), 0), math.Nextafter(float64(f), float64(f)*2))
					off = append(off, below, above)
				}
			}
			for _, o := range s.optionsOf() {
				check := func(what string, x *tensor.Tensor, numbers []float32) {
					t.Helper()
					if what != "float32" && !tried(d, x.Type(), s.typ) {
						return
					}
					y := tensor.Cast(x, s.typ, o)
					got := s.bytes(t, y)
					for i, f := range numbers {
						if want := s.of(f, o); got[i] != want {
							t.Errorf("%s %v to %v, %+v: %#x, want %#x", what, f, s.typ, o, got[i], want)
							return
						}
					}
					if o == (tensor.CastOptions{}) && !slices.Equal(s.bytes(t, x.To(s.typ)), got) {
						t.Errorf("%s to %v: Cast and To differ", what, s.typ)
					}
				}
				check("float32", tensor.New(d, floats), floats)
				if d.Supports(tensor.Float64) {
					check("float64", tensor.New(d, doubles), off)
				}
				for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
					x := tensor.New(d, floats).To(typ)
					rounded, err := x.Float32s()
					if err != nil {
						t.Fatal(err)
					}
					check(typ.String(), x, rounded)
				}
				check("bool", tensor.New(d, []bool{false, true}), []float32{0, 1})
				if s.whole {
					continue
				}
				check("int64", tensor.New(d, []int64{1<<53 + 1, -1 << 63, 1<<63 - 1, 3, 0, -5, 448, 465, 1<<24 + 1}),
					[]float32{0x1p53 + 0x1p30, -0x1p63, 0x1p63 - 0x1p39, 3, 0, -5, 448, 465, 0x1p24 + 2})
				check("uint64", tensor.New(d, []uint64{1<<64 - 1, 1<<63 + 1, 7}), []float32{0x1p64 - 0x1p40, 0x1p63 + 0x1p40, 7})
				check("uint32", tensor.New(d, []uint32{1<<32 - 1, 1<<31 + 1}), []float32{0x1p32 - 0x1p8, 0x1p31 + 0x1p8})
				check("int8", tensor.New(d, []int8{-128, 127, 5}), []float32{-128, 127, 5})
			}
			if !s.whole {
				continue
			}
			for _, from := range otherTypes(d) { // of integers the low bits
				if !from.Integer() || from == tensor.Bool || !tried(d, from, s.typ) {
					continue
				}
				x := tensor.New(d, bytesTo(256)).To(from)
				for i, got := range s.bytes(t, x.To(s.typ)) {
					if want := s.canonical(uint8(i)); got != want {
						t.Fatalf("%v %d to %v: %#x, want %#x", from, i, s.typ, got, want)
					}
				}
			}
			big := tensor.New(d, []int64{1<<40 + 5, -1, -1 << 63}).To(s.typ)
			if got, want := s.bytes(t, big), []uint8{s.canonical(5), s.canonical(255), 0}; !slices.Equal(got, want) {
				t.Errorf("int64 to %v: %v, want %v", s.typ, got, want)
			}
		}
	})
}

// TestStorageTypesMove: what moves elements moves these as it moves bytes, from views and into views.
func TestStorageTypesMove(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		bytes := bytesTo(5 * 7 * 3)
		plain := tensor.New(d, bytes, 5, 7, 3)
		index := tensor.New(d, []int64{4, 0, 4, 2})
		for _, s := range storageTypes {
			x := s.tensor(d, bytes, 5, 7, 3)
			for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
				"Transpose":        func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(2, 0, 1).Copy() },
				"T":                func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(35, 3).T() },
				"Slice":            func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 2, 5) },
				"Step":             func(x *tensor.Tensor) *tensor.Tensor { return x.Step(1, 2) },
				"Select":           func(x *tensor.Tensor) *tensor.Tensor { return x.Select(0, 3) },
				"empty":            func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, 7, 7) },
				"scalar":           func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(-1).Slice(0, 9, 10).Reshape() },
				"Reshape":          func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose().Reshape(15, -1) },
				"Flatten":          func(x *tensor.Tensor) *tensor.Tensor { return x.Flatten(1, 2) },
				"Expand":           func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 1, 2).Reshape(21).Expand(4, 21) },
				"Split":            func(x *tensor.Tensor) *tensor.Tensor { return x.Split(1, 3)[1] },
				"Chunk":            func(x *tensor.Tensor) *tensor.Tensor { return x.Chunk(1, 3)[2] },
				"Unbind":           func(x *tensor.Tensor) *tensor.Tensor { return x.Unbind(2)[1] },
				"Squeeze":          func(x *tensor.Tensor) *tensor.Tensor { return x.Unsqueeze(1).Squeeze(1) },
				"MoveDim":          func(x *tensor.Tensor) *tensor.Tensor { return x.MoveDim(0, 2) },
				"Diagonal":         func(x *tensor.Tensor) *tensor.Tensor { return x.Diagonal(1, 0, 1) },
				"Unfold":           func(x *tensor.Tensor) *tensor.Tensor { return x.Unfold(1, 3, 2) },
				"Concat":           func(x *tensor.Tensor) *tensor.Tensor { return tensor.Concat(1, x, x.Slice(1, 2, 4)) },
				"Stack":            func(x *tensor.Tensor) *tensor.Tensor { return tensor.Stack(0, x, x) },
				"Tile":             func(x *tensor.Tensor) *tensor.Tensor { return x.Tile(2, 1, 3) },
				"RepeatInterleave": func(x *tensor.Tensor) *tensor.Tensor { return x.RepeatInterleave(2, 1) },
				"Roll":             func(x *tensor.Tensor) *tensor.Tensor { return x.Roll(2, 1) },
				"Flip":             func(x *tensor.Tensor) *tensor.Tensor { return x.Flip(0, 2) },
				"GatherRows":       func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(5, 21).GatherRows(index) },
				"Gather":           func(x *tensor.Tensor) *tensor.Tensor { return x.Gather(0, index.Reshape(4, 1, 1).Expand(4, 7, 3)) },
				"IndexSelect":      func(x *tensor.Tensor) *tensor.Tensor { return x.Transpose(1, 0, 2).IndexSelect(1, index) },
				"Index":            func(x *tensor.Tensor) *tensor.Tensor { return x.Index(index, index) },
				"Embedding":        func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(35, 3).Embedding(index) },
				"SetInPlace": func(x *tensor.Tensor) *tensor.Tensor {
					y := x.Copy()
					y.Slice(1, 1, 3).SetInPlace(x.Slice(1, 4, 6))
					return y
				},
			} {
				got, want := f(x), f(plain)
				wanted, err := want.Uint8s()
				if err != nil || got.Type() != s.typ || !slices.Equal(got.Shape(), want.Shape()) ||
					!slices.Equal(s.bytes(t, got), wanted) {
					t.Errorf("%s of %v: %v %v, want %v (err %v)", name, s.typ, got, s.bytes(t, got), wanted, err)
				}
				if !tried(d, s.typ, tensor.Float32) {
					continue
				}
				there := got.To(tensor.Float32) // of any view
				back := s.bytes(t, there.To(s.typ))
				for i, b := range wanted {
					if want := s.of(s.number(b), tensor.CastOptions{}); back[i] != want {
						t.Fatalf("%s of %v to float32 and back: %#x, want %#x", name, s.typ, back[i], want)
					}
				}
			}
			y := tensor.EmptyLike(x)
			y.SetInPlace(x)
			if v, err := x.Select(0, 0).Select(0, 1).Select(0, 2).Item(); err != nil || v != float64(s.number(5)) {
				t.Errorf("%v: the item is %v, err = %v", s.typ, v, err)
			}
			if got := s.bytes(t, y); !slices.Equal(got, bytes) {
				t.Errorf("SetInPlace of %v: %v", s.typ, got)
			}
		}
		q := tensor.New(d, []lowbit.Int4{1, 2, 3})
		tensor.Upload(q, []lowbit.Int4{-8, 7, 0})
		is(t, "Upload", q, lowbit.Int4(-8), 7, 0)
		is(t, "NewOf", tensor.NewOf(d, tensor.Int4, []float32{-9.5, 3.9, 100}), lowbit.Int4(-8), 3, 7)
		is(t, "NewOf", tensor.NewOf(d, tensor.Uint2, []int{3, 4, 7}), lowbit.Uint2(3), 0, 3)
	})
}

// TestStorageTypesRefused: errors name the operation, the type, and what to do.
func TestStorageTypesRefused(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, s := range storageTypes {
		x := s.tensor(d, bytesTo(4), 2, 2)
		for name, f := range map[string]func(){
			"Add":       func() { x.Add(x) },
			"MatMul":    func() { x.MatMul(x) },
			"Sum":       func() { x.Sum() },
			"Pad":       func() { x.Pad([][2]int{{1, 1}, {0, 0}}) },
			"Eq":        func() { x.Eq(x) },
			"Sort":      func() { x.Sort(0) },
			"Concat":    func() { tensor.Concat(0, x, x.To(tensor.Float32)) },
			"Stack":     func() { tensor.Stack(0, x.To(tensor.Int8), x) },
			"Zeros":     func() { tensor.ZerosOf(d, s.typ, 2) },
			"Full":      func() { tensor.FullOf(d, s.typ, 1, 2) },
			"Read":      func() { _, _ = tensor.Read[uint8](x) },
			"ZerosLike": func() { tensor.ZerosLike(x) },
		} {
			err := tensor.Try(f)
			var e *tensor.Error
			if !errors.As(err, &e) || e.Op != name || !errors.Is(err, tensor.ErrType) ||
				!strings.Contains(err.Error(), s.typ.String()) || !strings.Contains(err.Error(), "To") {
				t.Errorf("%s of %v: %v", name, s.typ, err)
			}
		}
		float := tensor.Full(d, 1, 2, 2)
		for name, f := range map[string]func(){
			"Add":        func() { float.Add(x) },
			"SetInPlace": func() { float.SetInPlace(x) },
			"Where":      func() { x.Where(float.To(tensor.Bool), float) },
		} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrType) || !strings.Contains(fmt.Sprint(err), s.typ.String()) {
				t.Errorf("%s of float32 and %v: %v", name, s.typ, err)
			}
		}
	}
	x := tensor.New(d, []float32{1})
	err := tensor.Try(func() { tensor.Cast(x, tensor.Float8E8M0, tensor.CastOptions{E8M0: 3}) })
	if !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a rounding that is none: %v", err)
	}
}
