package imagefit

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/clgrad/clgrad/internal/npz"
	"github.com/x448/float16"
)

// How weights are stored in a model file.
const (
	FP32 = "fp32"
	FP16 = "fp16" // IEEE 754 binary16
	Int8 = "int8" // with a scale for each column
)

// WeightFormats lists them.
var WeightFormats = []string{FP32, FP16, Int8}

// scaleSuffix names the scales [columns] of an array of int8: a value is scale·q.
const scaleSuffix = ".scale"

// compact reports whether an array is stored in fewer bits: matrices of what was trained. Biases
// are few, and the waves of an encoding are no weights.
func compact(name string, shape []int) bool { return len(shape) == 2 && name != wavesName }

// pack returns the arrays in which weights are stored. The error wraps ErrConfig if one is too
// large for fp16.
func pack(weights string, arrays map[string]npz.Array) (map[string]npz.Array, error) {
	packed := map[string]npz.Array{}
	for name, a := range arrays {
		data, ok := a.Data.([]float32)
		switch {
		case !ok || weights == FP32 || !compact(name, a.Shape):
			packed[name] = a
		case weights == FP16:
			half := make([]float16.Float16, len(data))
			for i, v := range data {
				h := float16.Fromfloat32(v)
				if h.IsInf(0) {
					return nil, fmt.Errorf("%w: %q holds %v, which fp16 cannot: store the weights as fp32", ErrConfig, name, v)
				}
				half[i] = h
			}
			packed[name] = npz.Array{Shape: a.Shape, Data: half}
		default:
			q, scales := toInt8(data, a.Shape[1])
			packed[name] = npz.Array{Shape: a.Shape, Data: q}
			packed[name+scaleSuffix] = npz.Array{Shape: a.Shape[1:], Data: scales}
		}
	}
	return packed, nil
}

// toInt8 rounds each column of a matrix to 255 even steps around 0 that reach its largest
// magnitude.
func toInt8(data []float32, columns int) ([]int8, []float32) {
	scales := make([]float32, columns)
	for i, v := range data {
		c := i % columns
		scales[c] = max(scales[c], float32(math.Abs(float64(v)))/127)
	}
	q := make([]int8, len(data))
	for i, v := range data {
		if s := scales[i%columns]; s > 0 {
			q[i] = int8(min(max(math.RoundToEven(float64(v/s)), -127), 127))
		}
	}
	return q, scales
}

// unpack turns stored arrays, of the types and shapes that pack makes, back into float32.
func unpack(packed map[string]npz.Array) map[string]npz.Array {
	arrays := map[string]npz.Array{}
	scales := map[string]bool{}
	for name, a := range packed {
		switch data := a.Data.(type) {
		case []float16.Float16:
			full := make([]float32, len(data))
			for i, v := range data {
				full[i] = v.Float32()
			}
			arrays[name] = npz.Array{Shape: a.Shape, Data: full}
		case []uint16: // the bits, in older files
			full := make([]float32, len(data))
			for i, v := range data {
				full[i] = float16.Frombits(v).Float32()
			}
			arrays[name] = npz.Array{Shape: a.Shape, Data: full}
		case []int8:
			scales[name+scaleSuffix] = true
			scale := packed[name+scaleSuffix].Data.([]float32)
			full := make([]float32, len(data))
			for i, v := range data {
				full[i] = scale[i%len(scale)] * float32(v)
			}
			arrays[name] = npz.Array{Shape: a.Shape, Data: full}
		default:
			arrays[name] = a
		}
	}
	maps.DeleteFunc(arrays, func(name string, _ npz.Array) bool { return scales[name] })
	return arrays
}

// largest is the magnitude that no weight has: the product of two is a finite float32.
const largest = 1e18

// checkNumbers refuses weights of which no picture can be drawn.
func checkNumbers(name string, data []float32) error {
	for i, v := range data {
		if !(v > -largest && v < largest) { // NaN too
			return fmt.Errorf("%q holds %v at %d, which no weight is", name, v, i)
		}
	}
	return nil
}

// checkMoment refuses moments of which an optimizer makes no weights. Second moments are of
// squares.
func checkMoment(name string, data []float32) error {
	least := float32(-math.MaxFloat32)
	if strings.HasPrefix(name, "v.") {
		least = 0
	}
	for i, v := range data {
		if !(v >= least && v <= math.MaxFloat32) {
			return fmt.Errorf("%q holds %v at %d, which no moment is", name, v, i)
		}
	}
	return nil
}
