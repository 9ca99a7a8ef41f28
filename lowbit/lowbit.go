// Package lowbit has the numbers of 8 bits and fewer that weights, scales and zero points are stored
// in. One takes a byte; files pack those of 4 and 2 bits:
//
//	x := tensor.New(d, []lowbit.Int4{-8, 7})
//	b := lowbit.FromFloat32[lowbit.Float8E4M3FN](0.3, lowbit.CastOptions{}) // 0.3125
//
// Sources: OCP, 8-bit Floating Point Specification 1.0 and Microscaling Formats Specification 1.0;
// ONNX, Cast.
package lowbit

// Float8E4M3FN has 1 bit of the sign, 4 of the exponent and 3 of the fraction: ±2⁻⁹ to ±448, ±0 and NaN.
// It is held as its bits, as all floats here.
type Float8E4M3FN uint8

// Float8E5M2 has 5 bits of the exponent and 2 of the fraction: ±2⁻¹⁶ to ±57344, ±0, infinities and NaN.
type Float8E5M2 uint8

// Float8E4M3FNUZ has 4 bits of the exponent and 3 of the fraction: ±2⁻¹⁰ to ±240, 0 and NaN.
type Float8E4M3FNUZ uint8

// Float8E5M2FNUZ has 5 bits of the exponent and 2 of the fraction: ±2⁻¹⁷ to ±57344, 0 and NaN.
type Float8E5M2FNUZ uint8

// Float8E8M0 is a power of two, 2⁻¹²⁷ to 2¹²⁷, or NaN.
type Float8E8M0 uint8

// Float4E2M1 is ±0, ±0.5, ±1, ±1.5, ±2, ±3, ±4 or ±6: the low four bits of the byte.
type Float4E2M1 uint8

// Int4 is −8 to 7. Of other numbers the low bits count, as for all integers here.
type Int4 int8

// Uint4 is 0 to 15.
type Uint4 uint8

// Int2 is −2 to 1.
type Int2 int8

// Uint2 is 0 to 3.
type Uint2 uint8

// Element is one of the types.
type Element interface {
	Float8E4M3FN | Float8E5M2 | Float8E4M3FNUZ | Float8E5M2FNUZ | Float8E8M0 | Float4E2M1 | Int4 | Uint4 | Int2 | Uint2
	format() format
}

// CastOptions says how numbers become elements. The zero value is what ONNX's Cast does by default.
type CastOptions struct {
	// NoSaturation makes what rounds to a number beyond the range of a float of 8 bits infinite, or NaN
	// where the type has no infinity. Else it becomes the end of the range, and so do infinities. Of
	// Float8E8M0 it is of zero and of what is below the range, too. Float4E2M1 and integers always
	// saturate.
	NoSaturation bool
	// E8M0 is how numbers between two powers of two become a Float8E8M0.
	E8M0 Rounding
}

// Rounding is a way to round.
type Rounding uint8

// The ways to round.
const (
	RoundUp      Rounding = iota // to the greater
	RoundDown                    // to the lesser
	RoundNearest                 // to the nearer, of the middle to the greater
)

// FromFloat32 returns the element that f becomes: of floats the nearest, ties to even; NaN is the NaN
// of the type, and 6 as Float4E2M1, which has none. Of Float8E8M0 the options say what it becomes;
// negative numbers are NaN. Of integers it is f with its fraction cut off, the end of the range
// beyond that, and 0 of NaN.
func FromFloat32[T Element](f float32, o CastOptions) T {
	return T(T(0).format().of(f, o))
}

// Float32 returns the number that an element is, exactly.
func Float32[T Element](x T) float32 { return x.format().number(uint8(x)) }

func (Float8E4M3FN) format() format   { return e4m3fn }
func (Float8E5M2) format() format     { return e5m2 }
func (Float8E4M3FNUZ) format() format { return e4m3fnuz }
func (Float8E5M2FNUZ) format() format { return e5m2fnuz }
func (Float8E8M0) format() format     { return e8m0 }
func (Float4E2M1) format() format     { return e2m1 }
func (Int4) format() format           { return int4 }
func (Uint4) format() format          { return uint4 }
func (Int2) format() format           { return int2 }
func (Uint2) format() format          { return uint2 }
