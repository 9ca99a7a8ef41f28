package lowbit_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/lowbit"
)

func Example() {
	b := lowbit.FromFloat32[lowbit.Float8E4M3FN](0.3, lowbit.CastOptions{})
	fmt.Println(lowbit.Float32(b), lowbit.Float32(lowbit.FromFloat32[lowbit.Float8E4M3FN](1000, lowbit.CastOptions{})))
	fmt.Println(lowbit.Float32(lowbit.FromFloat32[lowbit.Float8E4M3FN](1000, lowbit.CastOptions{NoSaturation: true})))
	// Output:
	// 0.3125 448
	// NaN
}

// definition is a type by the specifications: what number each byte is, and how numbers are rounded.
type definition struct {
	name    string
	numbers [256]float64
	beyond  float64 // the number behind the greatest, were there one
	most    float64
	options bool // whether it has other numbers without saturation
	number  func(b uint8) float32
	of      func(f float32, o lowbit.CastOptions) uint8
}

func define[T lowbit.Element](name string, number func(b int) float64) definition {
	d := definition{name: name, number: func(b uint8) float32 { return lowbit.Float32(T(b)) },
		of: func(f float32, o lowbit.CastOptions) uint8 { return uint8(lowbit.FromFloat32[T](f, o)) }}
	for b := range d.numbers {
		d.numbers[b] = number(b)
		if v := d.numbers[b]; !math.IsInf(v, 0) && v > d.most {
			d.most = v
		}
	}
	return d
}

// ieee returns the number of a code with a sign, exponent bits e and fraction bits m.
func ieee(b, e, m, bias int) float64 {
	exponent, fraction := b>>m&(1<<e-1), b&(1<<m-1)
	v := math.Ldexp(float64(fraction), 1-bias-m)
	if exponent > 0 {
		v = math.Ldexp(1+math.Ldexp(float64(fraction), -m), exponent-bias)
	}
	if b>>(e+m)&1 == 1 {
		return -v
	}
	return v
}

func definitions() []definition {
	nan := math.NaN()
	e4m3fn := define[lowbit.Float8E4M3FN]("e4m3fn", func(b int) float64 {
		if b&0x7f == 0x7f {
			return nan
		}
		return ieee(b, 4, 3, 7)
	})
	e5m2 := define[lowbit.Float8E5M2]("e5m2", func(b int) float64 {
		switch {
		case b&0x7f > 0x7c:
			return nan
		case b&0x7f == 0x7c:
			return math.Inf(1 - b>>7*2)
		}
		return ieee(b, 5, 2, 15)
	})
	e4m3fnuz := define[lowbit.Float8E4M3FNUZ]("e4m3fnuz", func(b int) float64 {
		if b == 0x80 {
			return nan
		}
		return ieee(b, 4, 3, 8)
	})
	e5m2fnuz := define[lowbit.Float8E5M2FNUZ]("e5m2fnuz", func(b int) float64 {
		if b == 0x80 {
			return nan
		}
		return ieee(b, 5, 2, 16)
	})
	e2m1 := define[lowbit.Float4E2M1]("e2m1", func(b int) float64 { return ieee(b&15, 2, 1, 1) })
	e4m3fn.beyond, e5m2.beyond, e4m3fnuz.beyond, e5m2fnuz.beyond, e2m1.beyond = 480, 65536, 256, 65536, 8
	list := []definition{e4m3fn, e5m2, e4m3fnuz, e5m2fnuz, e2m1}
	for i := range list {
		list[i].options = list[i].name != "e2m1"
	}
	return list
}

func same(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b)
}

// rounded returns the number that f becomes, found among all.
func (d definition) rounded(f float64, noSaturation bool) float64 {
	unsigned := math.IsNaN(d.numbers[0x80]) // there is no −0
	if math.IsNaN(f) {
		if d.name == "e2m1" {
			return 6
		}
		return f
	}
	size := math.Abs(f)
	best, bestCode := math.Inf(1), 0
	at := 0.0
	for b, v := range d.numbers[:0x80] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if off := math.Abs(v - size); off < best || off == best && b%2 == 0 && bestCode%2 == 1 {
			best, bestCode, at = off, b, v
		}
	}
	if size >= d.beyond || d.beyond-size < best || d.beyond-size == best && bestCode%2 == 1 {
		switch {
		case !noSaturation || !d.options:
			at = d.most
		case d.name == "e5m2":
			at = math.Inf(1)
		default:
			return math.NaN()
		}
	}
	if math.Signbit(f) && !(unsigned && at == 0) {
		at = -at
	}
	return at
}

// inputs are floats that are hard to round to the numbers of a definition, and random ones.
func (d definition) inputs() []float32 {
	var list []float32
	add := func(v float64) {
		for _, s := range []float64{1, -1} {
			f := float32(s * v)
			list = append(list, f, math.Nextafter32(f, 0), math.Nextafter32(f, float32(s*math.Inf(1))))
		}
	}
	for _, v := range d.numbers[:0x80] {
		for _, w := range append(d.numbers[:0x80:0x80], d.beyond) {
			add((v + w) / 2)
		}
	}
	special := []float64{0, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127, math.MaxFloat32, math.Inf(1), math.NaN()}
	for _, v := range append(special, d.beyond, d.beyond*1.5) {
		add(v)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		some, little := r.NormFloat64()*d.most/2, r.NormFloat64()*d.numbers[3]
		list = append(list, math.Float32frombits(r.Uint32()), float32(some), float32(little))
	}
	return list
}

func TestFloats(t *testing.T) {
	for _, d := range definitions() {
		for b, want := range d.numbers {
			got := float64(d.number(uint8(b)))
			if !same(got, want) {
				t.Errorf("%s: %#x is %v, want %v", d.name, b, got, want)
			}
			kept := d.numbers[d.of(float32(want), lowbit.CastOptions{NoSaturation: true})]
			if d.name == "e2m1" && math.IsNaN(want) || same(kept, want) {
				continue
			}
			t.Errorf("%s: %v becomes %v", d.name, want, kept)
		}
		for _, f := range d.inputs() {
			for _, no := range []bool{false, true} {
				b := d.of(f, lowbit.CastOptions{NoSaturation: no})
				if got, want := d.numbers[b], d.rounded(float64(f), no); !same(got, want) {
					t.Fatalf("%s: %v becomes %v, want %v (no saturation: %v)", d.name, f, got, want, no)
				}
			}
		}
	}
}

// TestPowers: the rounding of Float8E8M0, in float64, where powers are found by Frexp.
func TestPowers(t *testing.T) {
	for b := range 256 {
		want := math.Ldexp(1, b-127)
		if b == 255 {
			want = math.NaN()
		}
		if got := float64(lowbit.Float32(lowbit.Float8E8M0(b))); !same(got, want) {
			t.Errorf("%#x is %v, want %v", b, got, want)
		}
	}
	of := func(f float64, o lowbit.CastOptions) int {
		if math.IsNaN(f) || f < 0 {
			return 255
		}
		fraction, exponent := math.Frexp(f) // f = fraction·2^exponent, the fraction from ½ on
		b := exponent - 1 + 127
		switch {
		case o.E8M0 == lowbit.RoundUp && fraction > 0.5, o.E8M0 == lowbit.RoundNearest && fraction >= 0.75:
			b++
		}
		if f == 0 {
			b = -1
		}
		if math.IsInf(f, 0) {
			b = 255
		}
		if b >= 0 && b < 255 {
			return b
		}
		if o.NoSaturation {
			return 255
		}
		return min(max(b, 0), 254)
	}
	r := rand.New(rand.NewPCG(3, 4))
	inputs := []float32{0, float32(math.Copysign(0, -1)), -1, -math.SmallestNonzeroFloat32, math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for e := -149; e < 128; e++ {
		for _, m := range []float64{1, 1.25, 1.5, 1.75} {
			f := float32(math.Ldexp(m, e))
			inputs = append(inputs, f, math.Nextafter32(f, 0), math.Nextafter32(f, float32(math.Inf(1))))
		}
	}
	for range 20000 {
		inputs = append(inputs, math.Float32frombits(r.Uint32()))
	}
	for _, f := range inputs {
		for _, rounding := range []lowbit.Rounding{lowbit.RoundUp, lowbit.RoundDown, lowbit.RoundNearest} {
			for _, no := range []bool{false, true} {
				o := lowbit.CastOptions{NoSaturation: no, E8M0: rounding}
				if got, want := int(lowbit.FromFloat32[lowbit.Float8E8M0](f, o)), of(float64(f), o); got != want {
					t.Fatalf("%v becomes %d, want %d (%+v)", f, got, want, o)
				}
			}
		}
	}
}

func checkInteger[T lowbit.Element](t *testing.T, bits int, least, most float64) {
	t.Helper()
	for b := range 256 {
		want := float64(b & (1<<bits - 1))
		if want > most {
			want -= math.Ldexp(1, bits)
		}
		if got := float64(lowbit.Float32(T(b))); got != want {
			t.Errorf("%T of %#x is %v, want %v", T(0), b, got, want)
		}
	}
	for f := float32(-20); f <= 20; f += 0.125 {
		want := min(max(math.Trunc(float64(f)), least), most)
		if got := float64(lowbit.Float32(lowbit.FromFloat32[T](f, lowbit.CastOptions{}))); got != want {
			t.Errorf("%v becomes %T %v, want %v", f, T(0), got, want)
		}
	}
	for f, want := range map[float64]float64{math.Inf(1): most, math.Inf(-1): least, 1e30: most, -1e30: least} {
		if got := float64(lowbit.Float32(lowbit.FromFloat32[T](float32(f), lowbit.CastOptions{}))); got != want {
			t.Errorf("%v becomes %T %v, want %v", f, T(0), got, want)
		}
	}
	if got := lowbit.Float32(lowbit.FromFloat32[T](float32(math.NaN()), lowbit.CastOptions{})); got != 0 {
		t.Errorf("NaN becomes %T %v", T(0), got)
	}
}

func TestIntegers(t *testing.T) {
	checkInteger[lowbit.Int4](t, 4, -8, 7)
	checkInteger[lowbit.Uint4](t, 4, 0, 15)
	checkInteger[lowbit.Int2](t, 2, -2, 1)
	checkInteger[lowbit.Uint2](t, 2, 0, 3)
}

// checksum is that of the bytes that bfloat16 become, all but those that leave says.
func checksum[T lowbit.Element](o lowbit.CastOptions, leave func(f float32) bool) uint32 {
	var bytes []byte
	for bits := range uint32(1 << 16) {
		if f := math.Float32frombits(bits << 16); !leave(f) {
			bytes = append(bytes, uint8(lowbit.FromFloat32[T](f, o)))
		}
	}
	return crc32.ChecksumIEEE(bytes)
}

// TestOthersBytes: the bytes are those of PyTorch 2.15, ml_dtypes 0.6 and ONNX 1.23. To saturate they are those of
// onnx.numpy_helper.saturate_cast, and else of ml_dtypes' astype: PyTorch's are the same, but that its E4M3FN
// saturates. Powers of two are those of onnx.numpy_helper.to_float8e8m0, of normal numbers: PyTorch's are
// those to the nearer without saturation.
func TestOthersBytes(t *testing.T) {
	nan := func(f float32) bool { return f != f }
	unusual := func(f float32) bool { return !(f >= 0x1p-126 && f <= math.MaxFloat32) }
	saturate, beyond := lowbit.CastOptions{}, lowbit.CastOptions{NoSaturation: true}
	for _, c := range []struct {
		what      string
		got, want uint32
	}{
		{"e4m3fn", checksum[lowbit.Float8E4M3FN](saturate, nan), 0xa8187d10},
		{"e4m3fn without saturation", checksum[lowbit.Float8E4M3FN](beyond, nan), 0x37449f7b},
		{"e5m2", checksum[lowbit.Float8E5M2](saturate, nan), 0xbe5de0c1},
		{"e5m2 without saturation", checksum[lowbit.Float8E5M2](beyond, nan), 0xd888644c},
		{"e4m3fnuz", checksum[lowbit.Float8E4M3FNUZ](saturate, nan), 0x7f214a5},
		{"e4m3fnuz without saturation", checksum[lowbit.Float8E4M3FNUZ](beyond, nan), 0x51220d78},
		{"e5m2fnuz", checksum[lowbit.Float8E5M2FNUZ](saturate, nan), 0xeaeec8c5},
		{"e5m2fnuz without saturation", checksum[lowbit.Float8E5M2FNUZ](beyond, nan), 0x2c4356ce},
		{"e2m1", checksum[lowbit.Float4E2M1](saturate, nan), 0x4b3022d0},
		{"e8m0 up", checksum[lowbit.Float8E8M0](lowbit.CastOptions{E8M0: lowbit.RoundUp}, unusual), 0x36fbd6b3},
		{"e8m0 down", checksum[lowbit.Float8E8M0](lowbit.CastOptions{E8M0: lowbit.RoundDown}, unusual), 0xf329bc44},
		{"e8m0 nearest without saturation",
			checksum[lowbit.Float8E8M0](lowbit.CastOptions{NoSaturation: true, E8M0: lowbit.RoundNearest}, unusual), 0x800e2e81},
		{"e8m0 nearest", checksum[lowbit.Float8E8M0](lowbit.CastOptions{E8M0: lowbit.RoundNearest}, unusual), 0xfe4e2718},
	} {
		if c.got != c.want {
			t.Errorf("%s: the bytes have the checksum %#x, want %#x", c.what, c.got, c.want)
		}
	}
}
