package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

func TestCast(t *testing.T) {
	to := func(typ onnxpb.DataType) attrs { return attrs{"to": int(typ)} }
	inf := math.Inf(1)
	floats := as(tensor.Float32, []float64{math.NaN(), inf, -inf, 0}, 4)
	checkNodes(t, []nodeCase{
		{"Cast", 6, to(onnxpb.Int32), []any{[]float32{2.9, -2.9}}, []any{[]int32{2, -2}}, ""},
		{"Cast", 13, to(onnxpb.Int8), []any{[]int16{200}}, []any{[]int8{-56}}, ""},
		{"Cast", 13, to(onnxpb.Bool), []any{floats}, []any{[]bool{true, true, true, false}}, ""},
		{"Cast", 13, to(onnxpb.Float16), []any{[]float64{1e10, 1.0009765625}},
			[]any{as(tensor.Float16, []float64{inf, 1.0009765625}, 2)}, ""},
		{"Cast", 13, to(onnxpb.Uint64), []any{[]bool{true}}, []any{[]uint64{1}}, ""},
		{"Cast", 13, to(onnxpb.BFloat16), []any{of([]float32{1.00390625})},
			[]any{as(tensor.BFloat16, []float64{1})}, ""},

		{"Cast", 9, to(onnxpb.String), []any{[]float32{1, 0.1, 314.15926, 1e-7, 1e10, 1e25}},
			[]any{[]string{"1", "0.1", "314.15927", "1e-07", "10000000000", "1e+25"}}, ""},
		{"Cast", 9, to(onnxpb.String), []any{floats}, []any{[]string{"NaN", "INF", "-INF", "0"}}, ""},
		{"Cast", 9, to(onnxpb.String), []any{of([]float64{0.1, math.Pi}, 1, 2)},
			[]any{FromStrings([]string{"0.1", "3.141592653589793"}, 1, 2)}, ""},
		{"Cast", 13, to(onnxpb.String), []any{as(tensor.Float16, []float64{0.5}, 1)}, []any{[]string{"0.5"}}, ""},
		{"Cast", 9, to(onnxpb.String), []any{[]bool{true, false}}, []any{[]string{"1", "0"}}, ""},
		{"Cast", 9, to(onnxpb.String), []any{[]uint64{math.MaxUint64}}, []any{[]string{"18446744073709551615"}}, ""},
		{"Cast", 9, to(onnxpb.String), []any{[]int64{math.MinInt64}}, []any{[]string{"-9223372036854775808"}}, ""},
		{"Cast", 9, to(onnxpb.String), []any{[]string{"a"}}, []any{[]string{"a"}}, ""},
		{"Cast", 9, to(onnxpb.Float), []any{[]string{"3.14", "1e-5", " 1E8", "+INF", "inf", "-Inf", "nan"}},
			[]any{as(tensor.Float32, []float64{3.14, 1e-5, 1e8, inf, inf, -inf, math.NaN()}, 7)}, ""},
		{"Cast", 9, to(onnxpb.Double), []any{FromStrings([]string{"1e999"}, []int{}...)},
			[]any{of([]float64{inf})}, ""},
		{"Cast", 9, to(onnxpb.Int32), []any{[]string{"100.5", "-3"}}, []any{[]int32{100, -3}}, ""},
		{"Cast", 9, to(onnxpb.Uint64), []any{[]string{"18446744073709551615"}}, []any{[]uint64{math.MaxUint64}}, ""},
		{"Cast", 9, to(onnxpb.Bool), []any{[]string{"1", "0", "2", "true", "False"}},
			[]any{[]bool{true, false, true, true, false}}, ""},
		{"Cast", 9, to(onnxpb.Float), []any{[]string{"Hello World!"}}, nil, `"Hello World!" is no number`},
		{"Cast", 9, nil, []any{[]string{"1"}}, nil, "attribute to is missing"},
		{"Cast", 9, to(onnxpb.Complex64), []any{[]float32{1}}, nil, "not supported"},

		{"CastLike", 15, nil, []any{[]float32{1.5}, []int64{}}, []any{[]int64{1}}, ""},
		{"CastLike", 19, nil, []any{[]float32{1.5}, []string{"a"}}, []any{[]string{"1.5"}}, ""},
		{"CastLike", 15, nil, []any{[]string{"1.5"}, as(tensor.Float16, []float64{0}, 1)},
			[]any{as(tensor.Float16, []float64{1.5}, 1)}, ""},

		{"BitCast", 26, to(onnxpb.Int32), []any{of([]float32{1, -2}, 1, 2)},
			[]any{of([]int32{0x3f800000, -0x40000000}, 1, 2)}, ""},
		{"BitCast", 26, to(onnxpb.Float), []any{of([]uint32{0x40490fdb})}, []any{of([]float32{math.Pi})}, ""},
		{"BitCast", 26, to(onnxpb.Double), []any{[]int64{0x3ff0000000000000}}, []any{[]float64{1}}, ""},
		{"BitCast", 26, to(onnxpb.BFloat16), []any{as(tensor.Float16, []float64{1.875}, 1)},
			[]any{as(tensor.BFloat16, []float64{1}, 1)}, ""},
		{"BitCast", 26, to(onnxpb.Uint64), []any{[]int64{-1}}, []any{[]uint64{math.MaxUint64}}, ""},
		{"BitCast", 26, to(onnxpb.Int8), []any{[]bool{true}}, []any{[]int8{1}}, ""},
		{"BitCast", 26, to(onnxpb.Bool), []any{[]uint8{1, 0}}, []any{[]bool{true, false}}, ""},
		{"BitCast", 26, to(onnxpb.Int64), []any{[]float32{1}}, nil, "from float32 to int64"},
		{"BitCast", 26, to(onnxpb.String), []any{[]float32{1}}, nil, "not supported"},
		{"BitCast", 26, to(onnxpb.Int32), []any{[]string{"a"}}, nil, "should be a tensor"},
	})
}

// TestCastInDouble: what a model has in float is computed in double on a device whose default type that is, also where an
// attribute says float.
func TestCastInDouble(t *testing.T) {
	d, err := tensor.Open("cpu", tensor.Options{DefaultType: tensor.Float64})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := tensor.New(d, []float64{1 + 0x1p-40, 1e-50}, 2)
	eye := tensor.New(d, []int32{1, 1}, 1, 2)
	for _, c := range []struct {
		op     string
		opset  int
		attrs  attrs
		inputs []any
		want   []float64
		shape  []int
	}{
		{"Cast", 13, attrs{"to": 1}, []any{x}, []float64{1 + 0x1p-40, 1e-50}, []int{2}},
		{"CastLike", 15, nil, []any{x, []float32{1}}, []float64{1 + 0x1p-40, 1e-50}, []int{2}},
		{"EyeLike", 9, attrs{"dtype": 1}, []any{eye}, []float64{1, 0}, []int{1, 2}},
		{"DequantizeLinear", 13, nil, []any{[]uint8{3, 6}, scalar(d, 0.1), scalar(d, uint8(1))}, []float64{0.2, 0.5}, []int{2}},
	} {
		out, err := runNode(t, d, c.op, c.opset, c.attrs, 1, c.inputs...)
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Float64, c.shape, c.want, 1e-16)
	}
}
