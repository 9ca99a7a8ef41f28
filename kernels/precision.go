package kernels

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// Precision says to what the factors of matrix products may be rounded. Their sums are in the
// device's floats.
type Precision uint8

// The precisions.
const (
	PrecisionFloat32 Precision = iota // not at all: products are as accurate as the device's floats
	PrecisionTF32                     // to 11 significant bits, in the range of float32; of two that are as near to the larger
	PrecisionFloat16                  // to float16, of 11 significant bits in the range of 6·10⁻⁸ to 65504; ties to even
	// To bfloat16: of products of BFloat16 tensors, whose factors are that already. It is no precision of
	// a device.
	PrecisionBFloat16
)

// Precisions lists the names of the precisions that a device may have, in their order.
var Precisions = []string{"float32", "tf32", "float16"}

// String returns the name, or the number of a precision that is none.
func (p Precision) String() string {
	switch {
	case int(p) < len(Precisions):
		return Precisions[p]
	case p == PrecisionBFloat16:
		return BFloat16.String()
	}
	return fmt.Sprintf("Precision(%d)", uint8(p))
}

// MarshalText returns the name.
func (p Precision) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a name. One that is none is an error that lists them.
func (p *Precision) UnmarshalText(text []byte) error {
	i := slices.Index(Precisions, string(text))
	if i < 0 {
		return fmt.Errorf("no precision is called %q: float32, tf32 and float16 are", text)
	}
	*p = Precision(i)
	return nil
}

// Round returns what a factor, a float, is rounded to.
func (p Precision) Round(v float64) float64 {
	switch p {
	case PrecisionTF32:
		if v-v == 0 {
			return float64(math.Float32frombits((math.Float32bits(float32(v)) + 0x1000) &^ 0x1fff))
		}
	case PrecisionFloat16:
		return float64(float16.Fromfloat32(float32(v)).Float32())
	case PrecisionBFloat16:
		return float64(bfloat16.FromFloat32(float32(v)).Float32())
	}
	return v
}
