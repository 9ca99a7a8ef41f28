package lowbit

import "math"

// format is how the bits of elements are numbers.
type format interface {
	number(b uint8) float32
	of(f float32, o CastOptions) uint8
}

var (
	e4m3fn   = &float{sign: 0x80, fraction: 3, bias: 7, most: 0x7e, infinite: 0x7f, nan: 0x7f}
	e5m2     = &float{sign: 0x80, fraction: 2, bias: 15, most: 0x7b, infinite: 0x7c, nan: 0x7f}
	e4m3fnuz = &float{sign: 0x80, fraction: 3, bias: 8, most: 0x7f, infinite: 0x80, nan: 0x80}
	e5m2fnuz = &float{sign: 0x80, fraction: 2, bias: 16, most: 0x7f, infinite: 0x80, nan: 0x80}
	e2m1     = &float{sign: 0x08, fraction: 1, bias: 1, most: 0x07, infinite: 0x07, nan: 0x07}
	e8m0     = power{}
	int4     = integer{bits: 4, least: -8, most: 7}
	uint4    = integer{bits: 4, least: 0, most: 15}
	int2     = integer{bits: 2, least: -2, most: 1}
	uint2    = integer{bits: 2, least: 0, most: 3}
)

// The bits of a float32.
const (
	fractionBits = 23
	fractionMask = 1<<fractionBits - 1
	exponentBias = 127
	infinity     = 0xff << fractionBits
	signBit      = 1 << 31
)

// float is a format with a sign, an exponent and a fraction.
type float struct {
	sign           uint32 // its bit
	fraction, bias int
	most           uint32 // the bits of the greatest number
	infinite, nan  uint32 // of what is beyond it without saturation, and of NaN
}

func (t *float) number(b uint8) float32 {
	bits := uint32(b) & (2*t.sign - 1)
	size := bits &^ t.sign
	f := math.Float32frombits(size<<(fractionBits-t.fraction) + uint32(exponentBias-t.bias)<<fractionBits)
	switch {
	case size > t.most && size == t.infinite && t.infinite != t.nan:
		f = math.Float32frombits(infinity)
	case size > t.most, bits == t.sign && bits == t.nan:
		return float32(math.NaN())
	case size < 1<<t.fraction:
		f = float32(size) * t.least()
	}
	if bits != size {
		f = -f
	}
	return f
}

// least returns the least number that is not 0: denormal numbers are multiples of it.
func (t *float) least() float32 {
	return math.Float32frombits(uint32(exponentBias+1-t.bias-t.fraction) << fractionBits)
}

func (t *float) of(f float32, o CastOptions) uint8 {
	bits := math.Float32bits(f)
	size, sign := bits&^signBit, bits/signBit*t.sign
	if size > infinity {
		return uint8(t.nan)
	}
	var r uint32
	if size < uint32(exponentBias+1-t.bias)<<fractionBits { // denormal: dividing by a power of two is exact
		r = uint32(math.RoundToEven(float64(math.Float32frombits(size)) / float64(t.least())))
	} else {
		drop := fractionBits - t.fraction
		r = (size+1<<(drop-1)-1+size>>drop&1)>>drop - uint32(exponentBias-t.bias)<<t.fraction
	}
	switch {
	case r > t.most && o.NoSaturation:
		r = t.infinite
	case r > t.most:
		r = t.most
	case r == 0 && t.nan == t.sign: // the bits of −0 are NaN
		return 0
	}
	return uint8(r | sign)
}

// power is the format of Float8E8M0: the exponent of a float32.
type power struct{}

func (power) number(b uint8) float32 {
	switch b {
	case 0:
		return math.Float32frombits(1 << (fractionBits - 1)) // 2⁻¹²⁷ is denormal
	case 255:
		return float32(math.NaN())
	}
	return math.Float32frombits(uint32(b) << fractionBits)
}

func (power) of(f float32, o CastOptions) uint8 {
	const most, nan = 254, 255
	bits := math.Float32bits(f)
	if f != f || f < 0 {
		return nan
	}
	bits &^= signBit
	b := max(int(bits>>fractionBits), 1)
	for ; b > -2 && bits < 1<<fractionBits; b-- { // of a denormal number the power is below
		bits <<= 1
	}
	const middle = 1 << (fractionBits - 1)
	if rest := bits & fractionMask; o.E8M0 == RoundUp && rest > 0 || o.E8M0 == RoundNearest && rest >= middle {
		b++
	}
	switch {
	case b >= 0 && b <= most:
		return uint8(b)
	case o.NoSaturation:
		return nan
	case b < 0:
		return 0
	}
	return most
}

// integer is a format of integers.
type integer struct {
	bits        int
	least, most float32
}

func (t integer) number(b uint8) float32 {
	n := b & (1<<t.bits - 1)
	if f := float32(n); f <= t.most {
		return f
	}
	return float32(int(n) - 1<<t.bits)
}

func (t integer) of(f float32, _ CastOptions) uint8 {
	if f != f {
		return 0
	}
	return uint8(int8(min(max(f, t.least), t.most)))
}
