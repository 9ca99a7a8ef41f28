package onnx

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// normal returns numbers of a shape that a seed decides.
func normal(d tensor.Device, seed uint64, shape ...int) *tensor.Tensor {
	return tensor.NewRNG(seed).Normal(d, 0, 1, shape...)
}

// mustRun is runNodeOf of inputs that fit.
func mustRun(t *testing.T, d tensor.Device, domain, op string, opset int, a attrs, outputs int,
	inputs ...any) []*Value {
	t.Helper()
	out, err := runNodeOf(t, d, domain, op, opset, a, outputs, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wantSame compares an output with a tensor.
func wantSame(t *testing.T, v *Value, want *tensor.Tensor, tolerance float64) {
	t.Helper()
	numbers, err := want.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, v, want.Type(), want.Shape(), numbers, tolerance)
}

// TestPackedHeads: queries, keys and values in one tensor are those in three.
func TestPackedHeads(t *testing.T) {
	d := cpu(t)
	a := attrs{"num_heads": 2}
	packed := normal(d, 1, 2, 3, 2, 3, 4)
	part := func(x *tensor.Tensor, i int) *tensor.Tensor { return x.Select(3, i).Reshape(2, 3, 8) }
	q, k, v := part(packed, 0), part(packed, 1), part(packed, 2)
	want := mustRun(t, d, microsoft, "MultiHeadAttention", 1, a, 1, q, k, v)[0].Tensor()
	wantSame(t, mustRun(t, d, microsoft, "MultiHeadAttention", 1, a, 1, packed)[0], want, 1e-6)
	pair := tensor.Stack(3, packed.Select(3, 1), packed.Select(3, 2))
	wantSame(t, mustRun(t, d, microsoft, "MultiHeadAttention", 1, a, 1, q, pair)[0], want, 1e-6)
}

// TestMaskOfAll: a mask [b, 1, most, most] is that of the rows behind the past.
func TestMaskOfAll(t *testing.T) {
	d := cpu(t)
	in := []any{normal(d, 1, 1, 2, 4), normal(d, 2, 4, 24), normal(d, 3, 24)}
	past := normal(d, 4, 2, 1, 2, 1, 4)
	whole := tensor.New(d, []int32{9, 9, 9, 9, 1, 1, 0, 9, 0, 1, 1, 9, 9, 9, 9, 9}, 1, 1, 4, 4)
	rows := tensor.New(d, []int32{1, 1, 0, 0, 1, 1}, 1, 2, 3)
	a := attrs{"num_heads": 2}
	want := mustRun(t, d, microsoft, "Attention", 1, a, 2, append(in, rows, past)...)
	got := mustRun(t, d, microsoft, "Attention", 1, a, 2, append(in, whole, past)...)
	wantSame(t, got[0], want[0].Tensor(), 0)
}

// TestPaddedChunk: a chunk of which query_seqlens says that a part is padding gives what the part gives.
func TestPaddedChunk(t *testing.T) {
	d := cpu(t)
	a := attrs{"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
	q, k, v := normal(d, 1, 2, 3, 32), normal(d, 2, 2, 3, 16), normal(d, 3, 2, 3, 16)
	key, value := normal(d, 4, 2, 2, 9, 8), normal(d, 5, 2, 2, 9, 8)
	cos, sin := normal(d, 6, 9, 4), normal(d, 7, 9, 4)
	seqlens, tokens := []int32{4, 3}, []int32{2, 3} // 3 and 1 tokens before
	got := mustRun(t, d, microsoft, "GroupQueryAttention", 1, a, 3, q, k, v, key, value, seqlens, []int32{9}, cos, sin,
		nil, nil, nil, nil, nil, nil, nil, tokens)
	for i := range 2 {
		one := func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, i, i+1) }
		some := func(x *tensor.Tensor) *tensor.Tensor { return one(x).Slice(1, 0, int(tokens[i])) }
		want := mustRun(t, d, microsoft, "GroupQueryAttention", 1, a, 3, some(q), some(k), some(v), one(key), one(value),
			seqlens[i:i+1], []int32{seqlens[i] + 1}, cos, sin)
		wantSame(t, FromTensor(some(got[0].Tensor())), want[0].Tensor(), 1e-5)
		for out := 1; out < 3; out++ {
			wantSame(t, FromTensor(one(got[out].Tensor())), want[out].Tensor(), 1e-6)
		}
	}
}

// TestNormalisedHeads: queries and keys are divided by their root mean square.
func TestNormalisedHeads(t *testing.T) {
	d := cpu(t)
	a := attrs{"num_heads": 2, "kv_num_heads": 1}
	q, k, v := normal(d, 1, 1, 3, 16), normal(d, 2, 1, 3, 8), normal(d, 3, 1, 3, 8)
	w := normal(d, 4, 8)
	norm := func(x *tensor.Tensor) *tensor.Tensor {
		return x.Reshape(1, 3, -1, 8).RMSNorm(-1, w, 1e-6).Reshape(x.Shape()...)
	}
	rest := []any{v, nil, nil, []int32{2}, []int32{3}}
	want := mustRun(t, d, microsoft, "GroupQueryAttention", 1, a, 1, append([]any{norm(q), norm(k)}, rest...)...)
	in := append([]any{q, k}, rest...)
	in = append(in, nil, nil, nil, nil, nil, nil, nil, w, w)
	wantSame(t, mustRun(t, d, microsoft, "GroupQueryAttention", 1, a, 1, in...)[0], want[0].Tensor(), 1e-6)
}

// TestFlexAttention: graphs change scores and probabilities.
func TestFlexAttention(t *testing.T) {
	d := cpu(t)
	q, k, v := normal(d, 1, 1, 2, 3, 4), normal(d, 2, 1, 1, 5, 4), normal(d, 3, 1, 1, 5, 6)
	double := func(op string) *onnxpb.Graph {
		return &onnxpb.Graph{Name: op,
			Nodes:   []*onnxpb.Node{{Op: op, Inputs: []string{"x", "x"}, Outputs: []string{"y"}}},
			Inputs:  []*onnxpb.ValueInfo{{Name: "x"}},
			Outputs: []*onnxpb.ValueInfo{{Name: "y"}}}
	}
	a := attrs{"scale": 0.5, "score_mod": double("Add"), "prob_mod": double("Mul")}
	m := nodeModel("FlexAttention", "ai.onnx.preview", 1, a, []bool{true, true, true}, 1)
	m.file.Opsets[0].Version = 17
	s, err := m.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(FromTensor(q), FromTensor(k), FromTensor(v))
	if err != nil {
		t.Fatal(err)
	}
	p := q.MatMul(k.Transpose(0, 1, 3, 2)).Softmax(-1)
	wantSame(t, out[0], p.Mul(p).MatMul(v), 1e-6)
}

// TestAttentionGradient: a query that attends to no key gives gradients of 0, with a softcap too.
func TestAttentionGradient(t *testing.T) {
	d := cpu(t)
	for _, a := range []attrs{{}, {"softcap": 2.0}} {
		q := autograd.Param(normal(d, 1, 1, 1, 2, 4), "q")
		k, v := autograd.Const(normal(d, 2, 1, 1, 3, 4)), autograd.Const(normal(d, 3, 1, 1, 3, 4))
		mask := autograd.Const(tensor.New(d, []bool{false, false, false, true, false, true}, 2, 3))
		s, err := nodeModel("Attention", "", 23, a, []bool{true, true, true, true}, 1).Load(d, Options{Training: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Forward(q, k, v, mask)[0].Square().Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		g, err := q.Grad().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(g[:4], []float64{0, 0, 0, 0}) || g[4] == 0 || math.IsNaN(g[4]) {
			t.Errorf("softcap %v: the gradient is %v", a["softcap"], g)
		}
	}
}

// TestAttentionEmpty: no queries, no keys, no batch.
func TestAttentionEmpty(t *testing.T) {
	d := cpu(t)
	for _, c := range []struct{ b, l, s int }{{0, 2, 3}, {1, 0, 3}, {1, 2, 0}} {
		for _, a := range []attrs{{}, {"softcap": 1.0}, {"is_causal": 1}} {
			q, k := tensor.Zeros(d, c.b, 2, c.l, 4), tensor.Zeros(d, c.b, 1, c.s, 4)
			out := mustRun(t, d, "", "Attention", 23, a, 1, q, k, k)
			wantTensor(t, out[0], tensor.Float32, []int{c.b, 2, c.l, 4}, make([]float64, c.b*2*c.l*4), 0)
		}
	}
	state := []any{tensor.Zeros(d, 1, 0, 4), tensor.Zeros(d, 1, 0, 4), tensor.Zeros(d, 1, 0, 4)}
	a := attrs{"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}
	out := mustRun(t, d, "", "LinearAttention", 27, a, 2, state...)
	wantTensor(t, out[0], tensor.Float32, []int{1, 0, 4}, nil, 0)
	wantTensor(t, out[1], tensor.Float32, []int{1, 2, 2, 2}, make([]float64, 8), 0)
	x := []any{tensor.Zeros(d, 1, 2, 0), tensor.Zeros(d, 2, 1, 3)}
	out = mustRun(t, d, "", "CausalConvWithState", 27, nil, 2, x...)
	wantTensor(t, out[0], tensor.Float32, []int{1, 2, 0}, nil, 0)
	wantTensor(t, out[1], tensor.Float32, []int{1, 2, 2}, make([]float64, 4), 0)
}

// TestAttentionErrors: what does not fit is an error that says so.
func TestAttentionErrors(t *testing.T) {
	d := cpu(t)
	z := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	four := z(1, 2, 3, 4)
	group := attrs{"num_heads": 2, "kv_num_heads": 1}
	for _, c := range []struct {
		domain, op string
		opset      int
		attrs      attrs
		inputs     []any
		want       string
	}{
		{"", "Attention", 23, nil, []any{z(1, 3, 8), z(1, 3, 8), z(1, 3, 8)}, "0 heads"},
		{"", "Attention", 23, attrs{"q_num_heads": 3, "kv_num_heads": 2},
			[]any{z(1, 3, 8), z(1, 3, 8), z(1, 3, 8)}, "3 heads"},
		{"", "Attention", 23, nil, []any{four, z(1, 3, 3, 4), z(1, 3, 3, 4)}, "multiple"},
		{"", "Attention", 23, nil, []any{four, z(1, 0, 3, 4), z(1, 0, 3, 4)}, "multiple"},
		{"", "Attention", 23, nil, []any{four, z(2, 2, 3, 4), z(2, 2, 3, 4)}, "batches"},
		{"", "Attention", 23, nil, []any{four, z(1, 2, 3, 5), four}, "features"},
		{"", "Attention", 23, nil, []any{z(3), z(3), z(3)}, "4 axes"},
		{"", "Attention", 23, nil, []any{four, four, four, z(2, 9)}, "broadcast"},
		{"", "Attention", 23, nil, []any{four, four, four, nil, four}, "together"},
		{"", "Attention", 24, nil, []any{four, four, four, nil, four, four, []int64{1}}, "nonpad_kv_seqlen"},
		{"", "Attention", 24, nil, []any{four, four, four, nil, nil, nil, []int64{1, 2}}, "nonpad_kv_seqlen"},
		{"", "Attention", 25, attrs{"left_window_size": -2}, []any{four, four, four}, "windows"},
		{"", "Attention", 23, attrs{"softmax_precision": int(onnxpb.Int32)},
			[]any{four, four, four}, "softmax_precision"},
		{"", "RotaryEmbedding", 23, nil, []any{four, z(5, 2), z(5, 2), []int64{1}}, "2 axes"},
		{"", "RotaryEmbedding", 23, nil,
			[]any{four, z(5, 2), z(5, 2), tensor.New(d, []int64{0, 1, 9}, 1, 3)}, "indices"},
		{"", "RotaryEmbedding", 23, nil, []any{four, z(1, 3, 3), z(1, 3, 3)}, "even"},
		{"", "RotaryEmbedding", 23, attrs{"rotary_embedding_dim": 6}, []any{four, z(1, 3, 3), z(1, 3, 3)}, "even"},
		{"", "LinearAttention", 27, attrs{"q_num_heads": 2, "kv_num_heads": 2},
			[]any{z(1, 3, 8), z(1, 3, 8), z(1, 3, 8)}, "decay"},
		{"", "LinearAttention", 27, attrs{"update_rule": "linear"},
			[]any{z(1, 3, 8), z(1, 3, 8), z(1, 3, 8)}, "multiple"},
		{"", "CausalConvWithState", 27, nil, []any{z(1, 3, 8), z(2, 1, 3)}, "[c, 1, k]"},
		{"", "CausalConvWithState", 27, attrs{"activation": "tanh"}, []any{z(1, 3, 8), z(3, 1, 3)}, "tanh"},
		{microsoft, "GroupQueryAttention", 1, group,
			[]any{z(1, 1, 8), z(1, 1, 4), z(1, 1, 4), nil, nil, []int32{5}, []int32{6}},
			"cache of 0"},
		{microsoft, "GroupQueryAttention", 1, group,
			[]any{z(1, 1, 8), z(1, 1, 4), z(1, 1, 4), nil, nil, []int32{-1}, []int32{-6}},
			""},
		{microsoft, "GroupQueryAttention", 1, group,
			[]any{z(1, 1, 8), z(1, 1, 4), z(1, 1, 4), nil, nil, []int32{0, 0}, []int32{1}},
			"seqlens_k"},
		{microsoft, "GroupQueryAttention", 1, attrs{"num_heads": 2, "kv_num_heads": 1, "k_quant_type": "PER_TENSOR"},
			[]any{z(1, 1, 8)}, "quantized"},
		{microsoft, "MultiHeadAttention", 1, attrs{"num_heads": 2}, []any{z(1, 3, 8)}, "packed"},
		{microsoft, "MultiHeadAttention", 1, attrs{"num_heads": 2},
			[]any{z(1, 3, 8), z(1, 3, 8), z(1, 3, 8), nil, []int32{1, 2, 3, 4, 5}},
			"mask"},
		{microsoft, "Attention", 1, attrs{"num_heads": 2, "qkv_hidden_sizes": []int{4, 4}},
			[]any{z(1, 3, 8), z(8, 12)}, "hidden sizes"},
		{microsoft, "RotaryEmbedding", 1, nil, []any{four, []int64{7}, z(5, 2), z(5, 2)}, "positions"},
	} {
		_, err := runNodeOf(t, d, c.domain, c.op, c.opset, c.attrs, 1, c.inputs...)
		var runtimeError interface{ RuntimeError() }
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || errors.As(err, &runtimeError) {
			t.Errorf("%s %v: the error is %v, want one of %q", c.op, c.attrs, err, c.want)
		}
	}
}
