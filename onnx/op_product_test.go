package onnx

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

func TestProducts(t *testing.T) {
	a, b := of([]float32{1, 2, 3, 4, 5, 6}, 2, 3), of([]float32{1, 0, 0, 1, 1, 1}, 3, 2)
	ia, ib := of([]int32{1, 2, 3, 4}, 2, 2), of([]int32{1, 1, 0, 2}, 2, 2)
	checkNodes(t, []nodeCase{
		{"MatMul", 1, nil, []any{a, b}, []any{of([]float32{4, 5, 10, 11}, 2, 2)}, ""},
		{"MatMul", 13, nil, []any{[]float32{1, 2, 3}, b}, []any{[]float32{4, 5}}, ""},
		{"MatMul", 13, nil, []any{a, []float32{1, 0, 1}}, []any{[]float32{4, 10}}, ""},
		{"MatMul", 13, nil, []any{[]float32{1, 2}, []float32{3, 4}}, []any{of([]float32{11})}, ""},
		{"MatMul", 13, nil, []any{count(2, 1, 1, 2), count(1, 3, 2, 1)},
			[]any{of([]float32{1, 3, 5, 3, 13, 23}, 2, 3, 1, 1)}, ""},
		{"MatMul", 13, nil, []any{count(2, 0), count(0, 1)}, []any{of([]float32{0, 0}, 2, 1)}, ""},
		{"MatMul", 9, nil, []any{ia, ib}, []any{of([]int32{1, 5, 3, 11}, 2, 2)}, ""},
		{"MatMul", 9, nil, []any{[]int64{math.MaxInt64, 1}, []int64{2, 1}}, []any{of([]int64{-1})}, ""},
		{"MatMul", 9, nil, []any{[]uint32{1, 2}, of([]uint32{1, 2, 3, 4}, 1, 2, 2)},
			[]any{of([]uint32{7, 10}, 1, 2)}, ""},
		{"MatMul", 9, nil, []any{of([]uint64{1, 2}, 1, 2), []uint64{3, 4}}, []any{[]uint64{11}}, ""},
		{"MatMul", 13, nil, []any{a, a}, nil, "MatMul"},
		{"MatMul", 13, nil, []any{of([]int32{1}), ia}, nil, "shapes"},

		{"Gemm", 1, attrs{"broadcast": 1}, []any{a, b, []float32{10, 20}},
			[]any{of([]float32{14, 25, 20, 31}, 2, 2)}, ""},
		{"Gemm", 7, attrs{"transA": 1, "alpha": 0.5, "beta": 2.0},
			[]any{of([]float32{1, 2}, 1, 2), of([]float32{2, 4}, 1, 2), of([]float32{1, 2}, 2, 1)},
			[]any{of([]float32{3, 4, 6, 8}, 2, 2)}, ""},
		{"Gemm", 11, attrs{"transB": 1}, []any{a, a}, []any{of([]float32{14, 32, 32, 77}, 2, 2)}, ""},
		{"Gemm", 13, nil, []any{a, b, of([]float32{1})}, []any{of([]float32{5, 6, 11, 12}, 2, 2)}, ""},
		{"Gemm", 13, attrs{"beta": 0.0}, []any{a, b, of([]float32{float32(math.NaN())})},
			[]any{of([]float32{4, 5, 10, 11}, 2, 2)}, ""},
		{"Gemm", 9, attrs{"alpha": 2.0, "beta": 3.0}, []any{ia, ib, []int32{1, 0}},
			[]any{of([]int32{5, 10, 9, 22}, 2, 2)}, ""},
		{"Gemm", 9, attrs{"alpha": 0.5}, []any{ia, ib}, []any{of([]int32{0, 2, 1, 5}, 2, 2)}, ""},
		{"Gemm", 13, nil, []any{a, b, of([]float32{1, 2, 3}, 3)}, nil, "does not broadcast"},
		{"Gemm", 13, nil, []any{a, b, count(1, 2, 2)}, nil, "does not broadcast"},
		{"Gemm", 13, nil, []any{a, count(3)}, nil, "shapes"},

		{"Einsum", 12, attrs{"equation": "ij->i"}, []any{a}, []any{[]float32{6, 15}}, ""},
		{"Einsum", 12, attrs{"equation": "...ii ->...i"}, []any{count(1, 2, 2)}, []any{of([]float32{0, 3}, 1, 2)}, ""},
		{"Einsum", 12, attrs{"equation": "ik,kj"}, []any{a, b}, []any{of([]float32{4, 5, 10, 11}, 2, 2)}, ""},
		{"Einsum", 12, attrs{"equation": "Ba,a"}, []any{ia, []int32{1, 2}}, []any{[]int32{5, 11}}, ""},
		{"Einsum", 28, attrs{"equation": "i,i"},
			[]any{as(tensor.BFloat16, []float64{1, 2}, 2), as(tensor.BFloat16, []float64{3, 4}, 2)},
			[]any{as(tensor.BFloat16, []float64{11})}, ""},
		{"Einsum", 12, attrs{"equation": "ijk->i"}, []any{a}, nil, "Einsum"},
		{"Einsum", 12, nil, []any{a}, nil, "Einsum"},

		{"Det", 11, nil, []any{of([]float32{0, 1, 2, 3}, 2, 2)}, []any{of([]float32{-2})}, ""},
		{"Det", 22, nil, []any{of([]float64{1, 2, 3, 4, 2, 4, 1, 2}, 2, 2, 2)}, []any{[]float64{-2, 0}}, ""},
		{"Det", 22, nil, []any{of([]float32{2, 0, 1, 0, 0, 3, 5, 1, 1}, 3, 3)}, []any{of([]float32{-6})}, ""},
		{"Det", 11, nil, []any{count(2, 0, 0)}, []any{[]float32{1, 1}}, ""},
		{"Det", 11, nil, []any{count(2, 3)}, nil, "square"},
	})
}

// TestIntegerBlocks: products of more numbers than are in memory at once are exact, of all ranks.
func TestIntegerBlocks(t *testing.T) {
	d := cpu(t)
	ints := func(typ tensor.Type, seed uint64, shape ...int) *tensor.Tensor {
		return tensor.NewRNG(seed).Ints(d, 1000, shape...).To(typ)
	}
	for _, c := range []struct{ a, b []int }{
		{[]int{1100, 3}, []int{3, 1000}}, {[]int{2, 1, 90, 70}, []int{3, 70, 50}}, {[]int{mostProducts + 3}, []int{mostProducts + 3}},
		{[]int{9}, []int{9, mostProducts / 4}}, {[]int{mostProducts / 4, 5}, []int{5}}, {[]int{mostProducts/4 + 1, 5}, []int{5, 1}},
	} {
		for _, typ := range []tensor.Type{tensor.Int32, tensor.Int64} {
			a, b := ints(typ, 1, c.a...), ints(typ, 2, c.b...)
			want := a.To(tensor.Float64).MatMul(b.To(tensor.Float64)) // exact below 2⁵³
			if typ == tensor.Int32 {
				want = want.To(tensor.Int64).To(tensor.Int32)
			}
			wantSame(t, mustRun(t, d, "", "MatMul", 13, nil, 1, a, b)[0], want.To(typ), 0)
		}
	}
}
