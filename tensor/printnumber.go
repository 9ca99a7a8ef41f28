package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/kernels"
)

// printedDigits is how many digits behind the point are printed at most.
const printedDigits = 8

// wordsOf returns elements as text of one width. A scalar, the only element of a tensor of rank 0, has all
// its digits.
func wordsOf(typ Type, numbers *kernels.HostBuffer, scalar bool) []string {
	words := make([]string, numbers.Len())
	if typ.Float() || typ.Storage() && typ.Widened() == Float32 {
		values := make([]float64, len(words))
		for i := range values {
			values[i] = numberAt(typ, numbers, i)
		}
		f := floatFormat{typ: typ}
		if scalar {
			return []string{f.scalar(values[0])}
		}
		return f.words(values)
	}
	width := 0
	for i := range words {
		switch {
		case typ == Bool:
			words[i] = strconv.FormatBool(numbers.At(i) != 0)
		case typ == Int64:
			words[i] = fmt.Sprint(kernels.Slice[int64](numbers, i, 1)[0])
		case typ == Uint64:
			words[i] = fmt.Sprint(kernels.Slice[uint64](numbers, i, 1)[0])
		default:
			words[i] = fmt.Sprint(int64(numberAt(typ, numbers, i)))
		}
		width = max(width, len(words[i]))
	}
	if typ == Bool && !scalar {
		width = len("false")
	}
	for i, w := range words {
		words[i] = fmt.Sprintf("%*s", width, w)
	}
	return words
}

// numberAt returns an element that a float64 holds.
func numberAt(typ Type, numbers *kernels.HostBuffer, i int) float64 {
	if typ.Storage() {
		return typ.StoredNumber(kernels.Slice[uint8](numbers, i, 1)[0])
	}
	return numbers.At(i)
}

// floatFormat writes floats of a type with the fewest digits that tell them from their neighbours.
type floatFormat struct{ typ Type }

// scientificFrom returns the number from which on numbers have an exponent: NumPy's, a power of ten below
// which the type has all whole numbers.
func (f floatFormat) scientificFrom(scalar bool) float64 {
	switch {
	case f.typ.Half():
		return 1e3
	case f.typ == Float64 && scalar:
		return 1e16
	case f.typ == Float64:
		return 1e8
	}
	return 1e6
}

// shortest returns x as strconv does in a format, 'e' or 'f', with the fewest digits.
func (f floatFormat) shortest(x float64, format byte) string {
	switch {
	case f.typ == Float64:
		return strconv.FormatFloat(x, format, -1, 64)
	case !f.typ.Half():
		return strconv.FormatFloat(x, format, -1, 32)
	}
	for digits := range 9 { // of 16 bits five digits are enough
		s := strconv.FormatFloat(x, 'e', digits, 64)
		if v, _ := strconv.ParseFloat(s, 64); f.rounded(v) == x {
			return strconv.FormatFloat(v, format, -1, 64)
		}
	}
	return strconv.FormatFloat(x, format, -1, 32)
}

// rounded returns x as the type holds it.
func (f floatFormat) rounded(x float64) float64 {
	switch f.typ {
	case Float16:
		return float64(convert.ToFloat16(x).Float32())
	case BFloat16:
		return float64(convert.ToBFloat16(x).Float32())
	case Float64:
		return x
	}
	return float64(float32(x))
}

// scalar returns a number that stands alone.
func (f floatFormat) scalar(x float64) string {
	switch abs := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return special(x)
	case x != 0 && (abs < 1e-4 || abs >= f.scientificFrom(true)):
		return f.shortest(x, 'e')
	}
	s := f.shortest(x, 'f')
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func special(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case x < 0:
		return "-inf"
	}
	return "inf"
}

// words returns numbers as text of one width: all with an exponent, or none.
func (f floatFormat) words(values []float64) []string {
	scientific := f.scientific(values)
	digits, exponent := 0, 0 // behind the point and of the exponent
	for _, x := range values {
		if scientific && !math.IsNaN(x) && !math.IsInf(x, 0) {
			mantissa, power, _ := strings.Cut(f.shortest(x, 'e'), "e")
			_, behind, _ := strings.Cut(mantissa, ".")
			if len(behind) > printedDigits {
				mantissa, power, _ = strings.Cut(strconv.FormatFloat(x, 'e', printedDigits, 64), "e")
				_, behind, _ = strings.Cut(mantissa, ".")
			}
			digits, exponent = max(digits, len(strings.TrimRight(behind, "0"))), max(exponent, len(power)-1)
		}
	}
	words := make([]string, len(values))
	before, behind := 0, 0 // columns up to the point, and behind it
	for i, x := range values {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			words[i] = special(x)
			continue
		case scientific:
			words[i] = scientificNumber(x, digits, exponent)
		default:
			words[i] = f.positional(x)
		}
		point := strings.IndexByte(words[i], '.')
		before, behind = max(before, point), max(behind, len(words[i])-point-1)
	}
	width := before + 1 + behind
	if before == 0 { // nothing has a point
		width = 0
	}
	for _, w := range words {
		width = max(width, len(w))
	}
	for i, w := range words {
		if point := strings.IndexByte(w, '.'); point >= 0 {
			w += strings.Repeat(" ", behind-(len(w)-point-1))
		}
		words[i] = fmt.Sprintf("%*s", width, w)
	}
	return words
}

// scientific reports whether numbers have an exponent: where they are large, small, or of more than three
// orders of magnitude.
func (f floatFormat) scientific(values []float64) bool {
	least, most := math.Inf(1), 0.0
	for _, x := range values {
		if x = math.Abs(x); x > 0 && !math.IsInf(x, 0) {
			least, most = min(least, x), max(most, x)
		}
	}
	return most > 0 && (most >= f.scientificFrom(false) || least < 1e-4 || f.rounded(most/least) > 1000)
}

// scientificNumber returns x with so many digits behind the point and in the exponent: "1.50e-07".
func scientificNumber(x float64, digits, exponent int) string {
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', digits, 64), "e")
	if digits == 0 {
		mantissa += "."
	}
	return mantissa + "e" + power[:1] + strings.Repeat("0", max(0, exponent-len(power)+1)) + power[1:]
}

// positional returns x without an exponent: "0.5", "-3.".
func (f floatFormat) positional(x float64) string {
	s := f.shortest(x, 'f')
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > printedDigits {
		s = strings.TrimRight(strconv.FormatFloat(x, 'f', printedDigits, 64), "0")
		whole, fraction, _ = strings.Cut(s, ".")
	}
	return whole + "." + fraction
}
