package bench

import (
	"context"
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

type node = autograd.Node

// opRow is a structured operation, of operands that have gradients.
type opRow struct {
	name    string
	shapes  [][]int
	streams float64 // how often forward, and backward after it, move the elements of the first operand, if memory is what they wait for
	back    float64
	f       func(in []*node) *node
}

// opRows are the rows of scripts/peers/torch_ops.py, of the same sizes. Call done after the last.
func opRows(d tensor.Device) (rows []opRow, done func()) {
	index := tensor.NewRNG(2).Ints(d, 32768, 8192).Retain()
	labels := tensor.NewRNG(3).Ints(d, 1024, 8192).Retain()
	done = func() {
		index.Free()
		labels.Free()
	}
	softmax := func(in []*node) *node { return in[0].Softmax(-1) }
	conv := func(side, pad, channels, maps, batch int) opRow {
		return opRow{
			name:   fmt.Sprintf("conv %dx%d %d-%d %dx%dx%d", 2*pad+1, 2*pad+1, channels, maps, side, side, batch),
			shapes: [][]int{{batch, channels, side, side}, {maps, channels, 2*pad + 1, 2*pad + 1}, {maps}},
			f: func(in []*node) *node {
				return in[0].Conv(in[1], in[2], tensor.ConvOptions{Padding: []int{pad}})
			},
		}
	}
	norm := func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-5) }
	attention := func(in []*node) *node {
		return in[0].ScaledDotProductAttention(in[1], in[2], nil, tensor.AttentionOptions{Causal: true})
	}
	words, batch, images := []int{32, 4, 64, 32}, []int{4, 8, 1024, 64}, [][]int{{128, 32, 28, 28}}
	rows = []opRow{
		conv(28, 2, 1, 32, 128), conv(14, 2, 32, 64, 128), conv(56, 1, 64, 64, 8),
		{"max pool 2x2 28x28x32x128", images, 1.25, 2.25, func(in []*node) *node { return in[0].MaxPool([]int{2, 2}) }},
		{"average pool 2x2 28x28x32x128", images, 1.25, 1.25, func(in []*node) *node { return in[0].AvgPool([]int{2, 2}) }},
		{"softmax 131072x128", [][]int{{131072, 128}}, 2, 3, softmax},
		{"softmax 4096x4096", [][]int{{4096, 4096}}, 2, 3, softmax},
		{"layer norm 131072x128", [][]int{{131072, 128}, {128}, {128}}, 2, 3, norm},
		{"layer norm 4096x4096", [][]int{{4096, 4096}, {4096}, {4096}}, 2, 3, norm},
		{"attention 64 tokens", [][]int{words, words, words}, 0, 0, attention},
		{"attention 1024 tokens", [][]int{batch, batch, batch}, 0, 0, attention},
		{"embedding 8192 of 32768x256", [][]int{{32768, 256}}, 0, 0, func(in []*node) *node { return in[0].Embedding(index) }},
		{"cross-entropy 8192x1024", [][]int{{8192, 1024}}, 1, 2, func(in []*node) *node { return autograd.CrossEntropy(in[0], labels) }},
		{"products 64 of 64x64x64", [][]int{{64, 64, 64}, {64, 64, 64}}, 0, 0, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"sort 1048576", [][]int{{1 << 20}}, 0, 0, func(in []*node) *node { values, _ := in[0].Sort(0); return values }},
		{"top 64 of 1048576", [][]int{{1 << 20}}, 0, 0, func(in []*node) *node { values, _ := in[0].TopK(64, 0); return values }},
		{"cumsum 4096x4096", [][]int{{4096, 4096}}, 2, 2, func(in []*node) *node { return in[0].CumSum(-1) }},
	}
	return rows, done
}

// ops measures structured operations, forward, and forward and backward by all operands. On a GPU
// they are recorded, so that the device's time is measured and not that of the host.
func (s *Suite) ops(ctx context.Context) error {
	if err := s.copied(ctx); err != nil {
		return err
	}
	rows, done := opRows(s.Device)
	defer done()
	for _, row := range rows {
		if err := s.op(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

func (s *Suite) op(ctx context.Context, row opRow) error {
	d, rng := s.Device, tensor.NewRNG(1)
	var in []*node
	for _, shape := range row.shapes {
		values := rng.Uniform(d, -0.5, 0.5, shape...)
		x := autograd.Param(values.To(s.Type).Retain(), "x")
		values.Free()
		defer x.Free()
		in = append(in, x)
	}
	var weights *node
	tensor.Scope(d, func() {
		autograd.NoGrad(d, func() { weights = autograd.Const(rng.Uniform(d, 0, 1, row.f(in).Shape()...).To(s.Type).Retain()) })
	})
	defer weights.Free()
	forward := func() (out []*tensor.Tensor, err error) {
		autograd.NoGrad(d, func() { out = []*tensor.Tensor{row.f(in).Value()} })
		return out, nil
	}
	both := func() ([]*tensor.Tensor, error) { return row.both(in, weights) }
	moved := float64(in[0].Len() * s.Type.Size())
	if err := s.opTime(ctx, row.name+" forward", row.streams*moved, forward); err != nil {
		return err
	}
	return s.opTime(ctx, row.name+" both", (row.streams+row.back)*moved, both)
}

// both returns the result of the operation and the gradients of its operands, for that of the
// result, weights. A recording leaves out what nobody reads: without the result, it would not have
// the launches that make it, where no gradient needs them.
func (row opRow) both(in []*node, weights *node) (out []*tensor.Tensor, err error) {
	y := row.f(in)
	gradients, err := autograd.Grad(y, in, autograd.GradOptions{Seed: weights})
	out = append(out, y.Value())
	for _, g := range gradients {
		out = append(out, g.Value())
	}
	return out, err
}

// opTime measures a call, and its share of the rate of a copy if it moves as many bytes.
func (s *Suite) opTime(ctx context.Context, name string, bytes float64, f func() ([]*tensor.Tensor, error)) error {
	call := func() (err error) {
		tensor.Scope(s.Device, func() { _, err = f() })
		return err
	}
	if !s.Device.Target().CPU {
		rec, err := replay.Record(s.Device, f)
		if err != nil {
			return err
		}
		defer rec.Free()
		call = s.flushed(rec.Run)
	}
	return s.share(ctx, name, bytes, call)
}
