package onnx

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// TestQuantizeEdges: infinities become the ends, NaN 0; ties go to even numbers; a zero point is added after.
func TestQuantizeEdges(t *testing.T) {
	d := cpu(t)
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		attrs  attrs
		inputs []any
		typ    tensor.Type
		want   []float64
	}{
		{nil, []any{[]float32{inf, -inf, 0.5, 1.5, -0.5}, []float32{1}, []int8{0}},
			tensor.Int8, []float64{127, -128, 0, 2, 0}},
		{nil, []any{[]float32{0.5, 1.5}, []float32{1}, []int8{1}}, tensor.Int8, []float64{1, 3}},
		{attrs{"output_dtype": int(onnxpb.Int4)}, []any{[]float32{-99, 99, 2.5}, []float32{1}},
			tensor.Int4, []float64{-8, 7, 2}},
		{attrs{"output_dtype": int(onnxpb.Int16)}, []any{[]float32{-99999, 99999}, []float32{1}},
			tensor.Int16, []float64{-32768, 32767}},
		{attrs{"axis": 0}, []any{[]float32{4, 4, 4}, []float32{1, 2, 4}, []uint8{0, 1, 2}},
			tensor.Uint8, []float64{4, 3, 3}},
		{nil, []any{[]float32{4, 4, 4}, []float32{1, 2, 4}},
			tensor.Uint8, []float64{4, 2, 1}}, // one axis needs no attribute
		{nil, []any{[]float32{}, []float32{1}}, tensor.Uint8, nil},
	} {
		out := mustRun(t, d, "", "QuantizeLinear", 21, c.attrs, 1, c.inputs...)
		wantTensor(t, out[0], c.typ, []int{len(c.want)}, c.want, 0)
	}
}

// TestZeroPointsOfMatrices: zero points and scales of the rows and columns of a batch of matrices.
func TestZeroPointsOfMatrices(t *testing.T) {
	d := cpu(t)
	a := tensor.New(d, []uint8{1, 2, 3, 4, 250, 6, 7, 8, 9, 10, 11, 255}, 2, 2, 3)
	b := tensor.New(d, []int8{1, -2, 3, -4, 5, -128, 7, -8, 9, -10, 11, 127}, 2, 3, 2)
	za, zb := tensor.New(d, []uint8{1, 255, 3, 9}, 2, 2, 1), tensor.New(d, []int8{1, -128, 127, 3}, 2, 1, 2)
	wide := func(x *tensor.Tensor) *tensor.Tensor { return x.To(tensor.Float64) }
	want := wide(a).Sub(wide(za)).MatMul(wide(b).Sub(wide(zb)))
	wantSame(t, mustRun(t, d, "", "MatMulInteger", 10, nil, 1, a, b, za, zb)[0], want.To(tensor.Int32), 0)

	rows, columns := tensor.New(d, []uint8{1, 200}), tensor.New(d, []int8{-7, 100})
	want = wide(a).Sub(wide(rows).Reshape(2, 1)).MatMul(wide(b).Sub(wide(columns)))
	wantSame(t, mustRun(t, d, "", "MatMulInteger", 10, nil, 1, a, b, rows, columns)[0], want.To(tensor.Int32), 0)
	only := wide(a).MatMul(wide(b).Sub(wide(zb)))
	wantSame(t, mustRun(t, d, "", "MatMulInteger", 10, nil, 1, a, b, nil, zb)[0], only.To(tensor.Int32), 0)

	scale := tensor.New(d, []float32{0.5, 2})
	y := want.Mul(tensor.New(d, []float64{0.5, 2}, 2, 1)).MulScalar(0.25 / 100)
	out := mustRun(t, d, "", "QLinearMatMul", 21, nil, 1, a, scale, rows, b, []float32{0.25}, columns, []float32{100},
		[]int8{3})
	wantSame(t, out[0], y.Round().AddScalar(3).Clamp(-128, 127).To(tensor.Int8), 0)
}

// TestPackedWeights: weights of 4 bits that are left out give 0, a g_idx that is in order changes nothing.
func TestPackedWeights(t *testing.T) {
	d := cpu(t)
	a := attrs{"K": 32, "N": 2, "bits": 4, "block_size": 16}
	x := normal(d, 1, 3, 32)
	empty := tensor.Zeros(d, 0, 2, 8).To(tensor.Uint8)
	none := mustRun(t, d, microsoft, "MatMulNBits", 1, a, 1, x, empty, []float32{}, nil, nil, []float32{1, 2})
	wantTensor(t, none[0], tensor.Float32, []int{3, 2}, []float64{1, 2, 1, 2, 1, 2}, 0)
	bytes := make([]uint8, 32)
	for i := range bytes {
		bytes[i] = uint8(i * 11)
	}
	w, scales := tensor.New(d, bytes, 2, 2, 8), []float32{1, 2, 0.5, 3}
	order := make([]int32, 32)
	for i := range order {
		order[i] = int32(i / 16)
	}
	want := mustRun(t, d, microsoft, "MatMulNBits", 1, a, 1, x, w, scales)[0].Tensor()
	wantSame(t, mustRun(t, d, microsoft, "MatMulNBits", 1, a, 1, x, w, scales, nil, order)[0], want, 0)
	order[3] = 1
	if _, err := runNodeOf(t, d, microsoft, "MatMulNBits", 1, a, 1, x, w, scales, nil, order); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a g_idx out of order: %v", err)
	}
}

// TestQuantizedOfMicrosoft: QGemm, QLinearSoftmax and QLinearWhere are the operators of floats, quantized.
func TestQuantizedOfMicrosoft(t *testing.T) {
	d := cpu(t)
	a, b := tensor.New(d, []uint8{1, 200, 3, 4, 5, 255}, 3, 2), tensor.New(d, []int8{1, -2, 3, -4, 5, -128}, 2, 3)
	scale, zero, scales := []float32{0.5}, []uint8{7}, []float32{0.25, 1}
	floats := func(x *tensor.Tensor, zero float64) *tensor.Tensor { return x.To(tensor.Float32).SubScalar(zero) }
	product := floats(a.T(), 7).MulScalar(0.5).MatMul(floats(b.T(), 0).Mul(tensor.New(d, scales)))
	bias := tensor.New(d, []int32{100, -300})
	withBias := product.Add(bias.To(tensor.Float32).Mul(tensor.New(d, []float32{0.125, 0.5}))).MulScalar(2)
	turned := attrs{"transA": 1, "transB": 1, "alpha": 2.0}
	out := mustRun(t, d, microsoft, "QGemm", 1, turned, 1, a, scale, zero, b, scales, []int8{0, 0}, bias)
	wantSame(t, out[0], withBias, 0)
	out = mustRun(t, d, microsoft, "QGemm", 1, turned, 1, a, scale, zero, b, scales, []int8{0, 0}, bias, []float32{16}, []uint8{128})
	wantSame(t, out[0], withBias.DivScalar(16).Round().AddScalar(128).Clamp(0, 255).To(tensor.Uint8), 0)

	x := tensor.New(d, []uint8{1, 2, 3, 4, 5, 60, 7, 8}, 2, 2, 2)
	y := floats(x, 3).MulScalar(0.5)
	quantized := func(y *tensor.Tensor) *tensor.Tensor {
		return y.DivScalar(1./256).Round().Clamp(0, 255).To(tensor.Uint8)
	}
	in := []any{x, scale, []uint8{3}, []float32{1. / 256}, []uint8{0}}
	wantSame(t, mustRun(t, d, microsoft, "QLinearSoftmax", 1, attrs{"axis": 1, "opset": 13}, 1, in...)[0], quantized(y.Softmax(1)), 0)
	wantSame(t, mustRun(t, d, microsoft, "QLinearSoftmax", 1, attrs{"axis": 1, "opset": 12}, 1, in...)[0],
		quantized(y.Reshape(2, 4).Softmax(1).Reshape(2, 2, 2)), 0)

	cond, other := tensor.New(d, []bool{true, false}), tensor.New(d, []uint8{9, 10, 11, 12}, 2, 2)
	where := mustRun(t, d, microsoft, "QLinearWhere", 1, nil, 1, cond, tensor.New(d, []uint8{1, 2}), []float32{2}, []uint8{0}, other,
		[]float32{1}, []uint8{1}, []float32{0.5}, []uint8{5})
	wantTensor(t, where[0], tensor.Uint8, []int{2, 2}, []float64{9, 23, 9, 27}, 0)
}

// TestGatherBlockQuantized: rows and columns of tables in blocks, packed or not, are those of the table in floats.
func TestGatherBlockQuantized(t *testing.T) {
	d := cpu(t)
	numbers := make([]int, 3*40)
	packed := make([]uint8, 3*20)
	for i := range numbers {
		numbers[i] = (i*i + 3*i) % 16
		packed[i/2] |= uint8(numbers[i] << (i % 2 * 4))
	}
	ints := func(typ tensor.Type, shape ...int) *tensor.Tensor {
		return tensor.NewOf(d, tensor.Int32, numbers, shape...).To(typ)
	}
	scale, index := normal(d, 1, 3, 3), tensor.New(d, []int64{2, 0, -1, 1}, 2, 2)
	zeros := tensor.NewOf(d, tensor.Int32, []int{1, 2, 3, 4, 5, 6, 7, 8, 15}, 3, 3)
	wide := func(x *tensor.Tensor) *tensor.Tensor {
		return x.To(tensor.Float32).RepeatInterleave(16, 1).Slice(1, 0, 40)
	}
	floats := func(zero *tensor.Tensor) *tensor.Tensor {
		y := ints(tensor.Float32, 3, 40)
		return y.Sub(wide(zero)).Mul(wide(scale)).Index(index)
	}
	eight, none := tensor.Full(d, 8, 3, 3), tensor.Zeros(d, 3, 3)
	rows := attrs{"block_size": 16, "gather_axis": 0, "quantize_axis": 1}
	run := func(a attrs, in ...any) *Value {
		return mustRun(t, d, microsoft, "GatherBlockQuantized", 1, a, 1, in...)[0]
	}
	wantSame(t, run(rows, tensor.New(d, packed, 3, 20), index, scale), floats(eight), 0)
	wantSame(t, run(rows, tensor.New(d, packed, 3, 20), index, scale, tensor.New(d, []uint8{0x21, 3, 0x54, 6, 0x87, 15}, 3, 2)), floats(zeros), 0)
	wantSame(t, run(rows, ints(tensor.Uint4, 3, 40), index, scale, zeros.To(tensor.Uint4)), floats(zeros), 0)
	wantSame(t, run(rows, ints(tensor.Uint4, 3, 40), index, scale), floats(none), 0)
	bytes := attrs{"block_size": 16, "bits": 8}
	wantSame(t, run(bytes, ints(tensor.Uint8, 3, 40), index, scale, zeros.To(tensor.Uint8)), floats(zeros), 0)
	columns := attrs{"block_size": 16, "gather_axis": 1, "quantize_axis": 0}
	wantSame(t, run(columns, ints(tensor.Int8, 3, 40).To(tensor.Int4).T(), []int64{2, 0}, scale.T(), zeros.To(tensor.Int4).T()),
		ints(tensor.Int8, 3, 40).To(tensor.Int4).To(tensor.Float32).Sub(wide(zeros.To(tensor.Int4).To(tensor.Float32))).Mul(wide(scale)).T().
			IndexSelect(1, tensor.New(d, []int64{2, 0})), 0)
}

// TestPackedOnce: weights that are constants are packed once, for each use of them, and products are those with floats.
func TestPackedOnce(t *testing.T) {
	d := cpu(t)
	const k, n = 70, 5
	raw := func(name string, typ onnxpb.DataType, dims []int64, bytes []byte) *onnxpb.Tensor {
		return &onnxpb.Tensor{Name: name, Type: typ, Dims: dims, HasRaw: true, Raw: bytes}
	}
	for _, bits := range []int{2, 4, 8} {
		for _, block := range []int{16, 32, 64, 128} {
			blocks := (k-1)/block + 1
			random := func(n, step int) []byte {
				b := make([]byte, n)
				for i := range b {
					b[i] = byte(i*step + i*i)
				}
				return b
			}
			a := attrs{"K": k, "N": n, "bits": bits, "block_size": block}
			call := func(text string) *onnxpb.Node {
				node := written(text, a)
				node.Domain = microsoft
				return node
			}
			m := chain(17, call("p = MatMulNBits(x, w, s, z)"), call("q = MatMulNBits(x, v, s)"), written("y = Sub(p, q)", nil))
			m.file.Opsets = append(m.file.Opsets, onnxpb.Opset{Domain: microsoft, Version: 1})
			bytes := block * bits / 8
			m.file.Graph.Initializers = []*onnxpb.Tensor{weights("s", n, int64(blocks)),
				raw("w", onnxpb.Uint8, []int64{n, int64(blocks), int64(bytes)}, random(n*blocks*bytes, 37)),
				raw("v", onnxpb.Uint8, []int64{n, int64(blocks), int64(bytes)}, random(n*blocks*bytes, 59)),
				raw("z", onnxpb.Uint8, []int64{n, int64((blocks*bits + 7) / 8)}, random(n*((blocks*bits+7)/8), 11))}
			m.file.Graph.Inputs[0].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float}
			run := func(o Options) (*tensor.Tensor, int) {
				s, err := m.Load(d, o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				x := FromTensor(normal(d, 3, 2, 3, k))
				var y *tensor.Tensor
				for range 3 { // the last is a recording
					if o.Training {
						y = s.Forward(x.Node())[0].Value()
						continue
					}
					out, err := s.Run(x)
					if err != nil {
						t.Fatal(err)
					}
					y = out[0].Tensor()
				}
				packed := 0
				for _, w := range s.packed {
					if w != nil {
						packed++
					}
				}
				return y, packed
			}
			want, packed := run(Options{Training: true})
			if packed != 0 {
				t.Errorf("%d weights are packed for training", packed)
			}
			got, packed := run(Options{})
			wantSame(t, FromTensor(got), want, 1e-4)
			if most := 2; block%32 != 0 && packed != 0 || block%32 == 0 && packed != most {
				t.Errorf("%d bits in blocks of %d: %d weights are packed", bits, block, packed)
			}
		}
	}
}

// TestQuantizeRecorded: a third run, which is a recording, gives what the first gave.
func TestQuantizeRecorded(t *testing.T) {
	d := cpu(t)
	m := nodeModel("DynamicQuantizeMatMul", microsoft, 1, nil, []bool{true, true, true}, 1)
	s, err := m.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, scale := tensor.New(d, []int8{1, 2, 3, 4, 5, 6}, 3, 2), tensor.New(d, []float32{0.5})
	for i := range 4 {
		x := normal(d, uint64(i), 4, 3)
		got, err := s.Run(FromTensor(x), FromTensor(w), FromTensor(scale))
		if err != nil {
			t.Fatal(err)
		}
		fresh := mustRun(t, d, microsoft, "DynamicQuantizeMatMul", 1, nil, 1, x, w, scale)
		wantSame(t, got[0], fresh[0].Tensor(), 0)
	}
}

func TestQuantizeErrors(t *testing.T) {
	d := cpu(t)
	z := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	bytes := func(shape ...int) *tensor.Tensor { return z(shape...).To(tensor.Uint8) }
	packed := attrs{"K": 32, "N": 2, "bits": 4, "block_size": 16}
	for _, c := range []struct {
		domain, op string
		attrs      attrs
		inputs     []any
		want       string
	}{
		{"", "QuantizeLinear", nil, []any{z(2, 3), z(2)}, "axis 1"},
		{"", "QuantizeLinear", attrs{"axis": 2}, []any{z(2, 3), z(2)}, "axis 2"},
		{"", "QuantizeLinear", attrs{"block_size": 2}, []any{z(2, 3), z(2, 3)}, "blocks of 2"},
		{"", "QuantizeLinear", attrs{"block_size": -2}, []any{z(2, 3), z(2, 3)}, "blocks"},
		{"", "QuantizeLinear", nil, []any{z(2, 3), z(2, 3)}, "axis 1"},
		{"", "QuantizeLinear", attrs{"output_dtype": int(onnxpb.Int8)}, []any{z(2), z(1), []uint8{0}}, "zero point"},
		{"", "QuantizeLinear", attrs{"output_dtype": int(onnxpb.Int64)}, []any{z(2), z(1)}, "int64"},
		{"", "DequantizeLinear", nil, []any{[]int8{1}, z(1), []uint8{0}}, "zero point"},
		{"", "MatMulInteger", nil, []any{bytes(2, 3), bytes(2, 3)}, "shape"},
		{"", "MatMulInteger", nil, []any{[]int32{1}, []int32{1}}, "int8"},
		{"", "MatMulInteger", nil, []any{bytes().Reshape([]int{}...), bytes(2, 3)}, "product"},
		{microsoft, "MatMulNBits", nil, []any{z(2, 3), bytes(2, 3), z(2)}, "K is 0"},
		{microsoft, "MatMulNBits", packed, []any{z(2, 3), bytes(2, 2, 8), z(4)}, "an input [2 3]"},
		{microsoft, "MatMulNBits", packed, []any{z(2, 32), bytes(2, 2, 7), z(4)}, "weights"},
		{microsoft, "MatMulNBits", packed, []any{z(2, 32), bytes(2, 2, 8), z(3)}, "scales"},
		{microsoft, "MatMulNBits", packed, []any{z(2, 32), bytes(2, 2, 8), z(4), bytes(3)}, "zero points"},
		{microsoft, "GatherBlockQuantized", nil, []any{bytes(2, 64), []int64{0}, z(2, 2)}, "scales"},
		{microsoft, "GatherBlockQuantized", attrs{"quantize_axis": 0}, []any{bytes(2, 64), []int64{0}, z(2, 1)}, "quantize_axis 0"},
		{microsoft, "GatherBlockQuantized", attrs{"block_size": 24}, []any{bytes(2, 64), []int64{0}, z(2, 1)}, "block_size is 24"},
		{microsoft, "GatherBlockQuantized", attrs{"bits": 3}, []any{bytes(2, 64), []int64{0}, z(2, 1)}, "3 bits"},
		{microsoft, "QGemm", nil, []any{bytes(2), z(1), bytes(1), bytes(2, 3), z(1), bytes(1)}, "product"},
		{microsoft, "QLinearSoftmax", attrs{"axis": 3}, []any{bytes(2, 3), z(1), bytes(1), z(1), bytes(1)}, "axis"},
		{microsoft, "QLinearConcat", nil, []any{z(1), bytes(1), bytes(2), z(1)}, "4 inputs"},
		{microsoft, "QLinearGlobalAveragePool", nil, []any{bytes(2, 3), z(1), bytes(1), z(1), bytes(1)}, "spatial"},
		{microsoft, "FusedGemm", attrs{"activation": "Cube"}, []any{z(2, 3), z(3, 2)}, "Cube"},
	} {
		_, err := runNodeOf(t, d, c.domain, c.op, 21, c.attrs, 1, c.inputs...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: the error is %v, want one of %q", c.op, c.attrs, err, c.want)
		}
	}
}
