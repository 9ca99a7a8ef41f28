package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// Convert returns the kernel that converts elements of one type to another: X, Y, n. What a type
// does not hold becomes the nearest that it holds:
//
//   - as an integer, fractions are cut off, numbers beyond the range become its end, and NaN
//     becomes 0;
//   - as a float, numbers are rounded to nearest, ties to even; beyond these they are infinite.
//
// It is nil for a type to itself. A bool is read as a uint8, and none is made.
func Convert(from, to kernels.DType) *kernels.Kernel {
	from = from.Stored()
	switch {
	case from == kernels.Float64 && to == kernels.Float32:
		return narrowFloats
	case from == kernels.Float32 && to == kernels.Float64:
		return widenFloats
	}
	return conversions[real32(from)][real32(to)]
}

// real32 names the type of a launch's reals by Float32.
func real32(t kernels.DType) kernels.DType {
	if t == kernels.Float64 {
		return kernels.Float32
	}
	return t
}

// The conversions between the types that reals may have: both are of launches of float64.
var (
	narrowFloats = opaque(conversion(elementTypes[kernels.Float32], float32s, "Y[Y_off + i] = (float)X[X_off + i]",
		kernels.Twin{F64: convertTwin[float64, float64, float32]}))
	widenFloats = opaque(conversion(float32s, elementTypes[kernels.Float32], "Y[Y_off + i] = X[X_off + i]",
		kernels.Twin{F64: convertTwin[float64, float32, float64]}))
)

// float32s are floats of a launch whose reals are of float64.
var float32s = elementType{name: "float32", in: kernels.InFloats, memory: "_FLOATS"}

// opaque returns k without its description.
func opaque(k *kernels.Kernel) *kernels.Kernel {
	k.Describe = nil
	return k
}

// elementType is a type of elements, as conversions read and write it.
type elementType struct {
	name   string
	in     kernels.Mode
	memory string // the end of the macros of common.cl that declare a buffer
	// read is an element in OpenCL C, of type number: REAL, int or float.
	read, number string
	// write returns the statement that stores a number.
	write func(number string) string
}

// elementTypes are the types between which elements are converted: Float32 is that of a launch's reals.
var elementTypes = map[kernels.DType]elementType{
	kernels.Float32: {"real", kernels.In, "", "X[X_off + i]", "real", func(string) string { return "Y[Y_off + i] = v" }},
	kernels.Int32: {"int32", kernels.InInts, "_INTS", "X[X_off + i]", "int", func(number string) string {
		if number == "int" {
			return "Y[Y_off + i] = v"
		}
		return "Y[Y_off + i] = real_as_int(v)"
	}},
	kernels.Uint8: {"uint8", kernels.InBytes, "_BYTES", "X[X_off + i]", "int", func(number string) string {
		if number == "int" {
			return "Y[Y_off + i] = (uchar)clamp(v, 0, 255)"
		}
		return "Y[Y_off + i] = real_as_uchar(v)"
	}},
	kernels.Float16: {"float16", kernels.InHalves, "_HALVES", "from_float16(X[X_off + i])", "real", func(number string) string {
		return "Y[Y_off + i] = to_float16(" + number + "_as_float(v))"
	}},
	kernels.BFloat16: {"bfloat16", kernels.InBFloat16s, "_BFLOAT16S", "from_bfloat16(X[X_off + i])", "real", func(number string) string {
		return "Y[Y_off + i] = to_bfloat16(" + number + "_as_float(v))"
	}},
}

var conversions = func() (table [kernels.BFloat16 + 1][kernels.BFloat16 + 1]*kernels.Kernel) {
	for a, from := range elementTypes {
		for b, to := range elementTypes {
			if a != b {
				number := map[string]string{"real": "REAL", "int": "int"}[from.number]
				store := fmt.Sprintf("{ const %s v = %s; %s; }", number, from.read, to.write(from.number))
				table[a][b] = conversion(from, to, store, convertTwins(a, b))
			}
		}
	}
	return table
}()

func conversion(from, to elementType, store string, twin kernels.Twin) *kernels.Kernel {
	name := "k_" + from.name + "_to_" + to.name
	text := fmt.Sprintf(`// @depends: convert
// Y = X, converted.
kernel void %s(IN%s(X), OUT%s(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) %s;
}
`, name, from.memory, to.memory, store)
	params := []kernels.Param{{Name: "X", Mode: from.in}, {Name: "Y", Mode: to.in + kernels.Out}, intArg("n")}
	return &kernels.Kernel{Name: name, File: name + ".cl", Text: text, Grid: kernels.GridPerElement(1), Params: params, Twin: twin,
		Describe: describeConversion}
}

// convertTwins returns the twin of a conversion.
func convertTwins(from, to kernels.DType) kernels.Twin {
	switch from {
	case kernels.Int32:
		return convertFrom[int32, int32](to)
	case kernels.Uint8:
		return convertFrom[uint8, uint8](to)
	case kernels.Float16:
		return convertFrom[float16.Float16, float16.Float16](to)
	case kernels.BFloat16:
		return convertFrom[bfloat16.BFloat16, bfloat16.BFloat16](to)
	}
	return convertFrom[float32, float64](to)
}

// convertFrom returns the twin of a conversion of elements of type F on a device with reals of
// float32, and of type D on one of float64.
func convertFrom[F, D kernels.Element](to kernels.DType) kernels.Twin {
	switch to {
	case kernels.Int32:
		return kernels.Twin{F32: convertTwin[float32, F, int32], F64: convertTwin[float64, D, int32]}
	case kernels.Uint8:
		return kernels.Twin{F32: convertTwin[float32, F, uint8], F64: convertTwin[float64, D, uint8]}
	case kernels.Float16:
		return kernels.Twin{F32: convertTwin[float32, F, float16.Float16], F64: convertTwin[float64, D, float16.Float16]}
	case kernels.BFloat16:
		return kernels.Twin{F32: convertTwin[float32, F, bfloat16.BFloat16], F64: convertTwin[float64, D, bfloat16.BFloat16]}
	}
	return kernels.Twin{F32: convertTwin[float32, F, float32], F64: convertTwin[float64, D, float64]}
}

// convertTwin is Y = X, converted, on a device of reals of type R: by vector loops where there are
// some, else through a float64, which holds the elements of every type.
func convertTwin[R kernels.Real, From, To kernels.Element](c kernels.Call[R]) {
	x, y, set := kernels.Elements[From](c, 0), kernels.Elements[To](c, 1), setOf(c)
	c.Parallel(len(y), 1, func(lo, hi int) {
		if !convertVectors(set, any(y[lo:hi]), any(x[lo:hi])) {
			for i, v := range x[lo:hi] {
				y[lo+i] = convert.To[To](convert.Float64(v))
			}
		}
	})
}

// convertVectors converts x to y, and reports whether there is a loop for it.
func convertVectors(set *vec.Set, y, x any) bool {
	switch y := y.(type) {
	case []float32:
		switch x := x.(type) {
		case []int32:
			if set != nil {
				set.MapInts(vec.FromInts, vec.Ints(y), x, x, x, x)
			}
			return set != nil
		case []uint8:
			vec.FromBytes(set, y, x)
			return true
		case []float16.Float16:
			vec.FromHalves(set, y, x)
			return true
		case []bfloat16.BFloat16:
			vec.FromHalves(set, y, x)
			return true
		}
	case []float64:
		if x, ok := x.([]uint8); ok {
			vec.FromBytes(set, y, x)
			return true
		}
	case []int32:
		switch x := x.(type) {
		case []float32:
			if set != nil {
				words := vec.Ints(x)
				set.MapInts(vec.ToInts, y, words, words, words, words)
			}
			return set != nil
		case []uint8:
			vec.FromBytes(set, y, x)
			return true
		}
	case []float16.Float16:
		if x, ok := x.([]float32); ok {
			vec.ToHalves(set, y, x)
			return true
		}
	case []bfloat16.BFloat16:
		if x, ok := x.([]float32); ok {
			vec.ToHalves(set, y, x)
			return true
		}
	}
	return false
}
