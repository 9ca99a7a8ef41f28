package ops

import (
	"unsafe"

	"github.com/clgrad/clgrad/kernels"
)

// The conversions between float32 and float64, of launches whose floats are of float64: X, Y, n. Other
// types are converted by maps.
var (
	NarrowFloats = floatConversion("k_narrow_floats", "IN(X), OUT_OF(float, Y)", kernels.In, kernels.OutFloats,
		convertFloats[float64, float32])
	WidenFloats = floatConversion("k_widen_floats", "IN_OF(float, X), OUT(Y)", kernels.InFloats, kernels.Out,
		convertFloats[float32, float64])
)

// The bits of floats as integers, and the reverse: X, Y, n. Those of Float32 are Int32, those of Float64
// Int64.
var (
	FloatBits = bitsKernel("k_float_bits", "IN(X), OUT_OF(int, Y)", "as_int", kernels.In, kernels.Out.Of(kernels.Int32),
		kernels.HostKernel{F32: copyBits[float32, float32, int32]})
	FloatFromBits = bitsKernel("k_float_from_bits", "IN_OF(int, X), OUT(Y)", "as_float", kernels.In.Of(kernels.Int32), kernels.Out,
		kernels.HostKernel{F32: copyBits[float32, int32, float32]})
	DoubleBits = bitsKernel("k_double_bits", "IN(X), OUT_OF(long, Y)", "as_long", kernels.In, kernels.Out.Of(kernels.Int64),
		kernels.HostKernel{F64: copyBits[float64, float64, int64]})
	DoubleFromBits = bitsKernel("k_double_from_bits", "IN_OF(long, X), OUT(Y)", "as_double", kernels.In.Of(kernels.Int64), kernels.Out,
		kernels.HostKernel{F64: copyBits[float64, int64, float64]})
)

func bitsKernel(name, params, as string, x, y kernels.Mode, host kernels.HostKernel) *kernels.Kernel {
	text := `// @depends: common
// Y = X, bit by bit.
kernel void ` + name + `(` + params + `, int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = ` + as + `(X[X_off + i]);
}
`
	return &kernels.Kernel{Name: name, File: name + ".cl", Text: text, Grid: kernels.GridPerElement(1), Host: host,
		Params: []kernels.Param{{Name: "X", Mode: x}, {Name: "Y", Mode: y}, intArg("n")}}
}

// copyBits copies the bytes of elements From to elements To, which have the same size.
func copyBits[F kernels.Float, From, To kernels.Element](c kernels.HostArgs[F]) {
	x, y := kernels.Elements[From](c, 0), kernels.Elements[To](c, 1)
	copy(unsafe.Slice((*From)(unsafe.Pointer(unsafe.SliceData(y))), len(y)), x)
}

func floatConversion(name, params string, x, y kernels.Mode, host func(kernels.HostArgs[float64])) *kernels.Kernel {
	text := `// @depends: common
// Y = X, rounded to nearest.
kernel void ` + name + `(` + params + `, int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = X[X_off + i];
}
`
	return &kernels.Kernel{Name: name, File: name + ".cl", Text: text, Grid: kernels.GridPerElement(1),
		Host:   kernels.HostKernel{F64: host},
		Params: []kernels.Param{{Name: "X", Mode: x}, {Name: "Y", Mode: y}, intArg("n")}}
}

func convertFloats[From, To kernels.Float](c kernels.HostArgs[float64]) {
	x, y := kernels.Elements[From](c, 0), kernels.Elements[To](c, 1)
	c.Parallel(len(y), 1, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			y[lo+i] = To(v)
		}
	})
}
