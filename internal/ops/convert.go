package ops

import (
	"github.com/clgrad/clgrad/kernels"
)

// The conversions between float32 and float64, of launches whose reals are of float64: X, Y, n. Other
// types are converted by maps.
var (
	NarrowFloats = floatConversion("k_narrow_floats", "IN(X), OUT_OF(float, Y)", kernels.In, kernels.OutFloats,
		convertFloats[float64, float32])
	WidenFloats = floatConversion("k_widen_floats", "IN_OF(float, X), OUT(Y)", kernels.InFloats, kernels.Out,
		convertFloats[float32, float64])
)

func floatConversion(name, params string, x, y kernels.Mode, twin func(kernels.Call[float64])) *kernels.Kernel {
	text := `// @depends: common
// Y = X, rounded to nearest.
kernel void ` + name + `(` + params + `, int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = X[X_off + i];
}
`
	return &kernels.Kernel{Name: name, File: name + ".cl", Text: text, Grid: kernels.GridPerElement(1),
		Twin:   kernels.Twin{F64: twin},
		Params: []kernels.Param{{Name: "X", Mode: x}, {Name: "Y", Mode: y}, intArg("n")}}
}

func convertFloats[From, To kernels.Real](c kernels.Call[float64]) {
	x, y := kernels.Elements[From](c, 0), kernels.Elements[To](c, 1)
	c.Parallel(len(y), 1, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			y[lo+i] = To(v)
		}
	})
}
