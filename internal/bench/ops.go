package bench

import (
	"context"
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// opRow is a structured operation, of operands that have gradients.
type opRow struct {
	name    string
	shapes  [][]int
	streams float64 // how often forward, and backward after it, move the elements of the first operand, if memory is what they wait for
	back    float64
	f       func(in []*autograd.Node) *autograd.Node
}

// opRows are the rows of scripts/peers/torch_ops.py, of the same sizes.
func opRows(d tensor.Device) []opRow {
	index := tensor.NewRNG(2).Ints(d, 32768, 8192).Keep()
	softmax := func(in []*autograd.Node) *autograd.Node { return in[0].Softmax(-1) }
	conv := func(side, pad, channels, maps, batch int) opRow {
		return opRow{
			name:   fmt.Sprintf("conv %dx%d %d-%d %dx%dx%d", 2*pad+1, 2*pad+1, channels, maps, side, side, batch),
			shapes: [][]int{{batch, channels, side, side}, {maps, channels, 2*pad + 1, 2*pad + 1}, {maps}},
			f: func(in []*autograd.Node) *autograd.Node {
				return in[0].Conv(in[1], in[2], tensor.ConvOptions{Padding: []int{pad}})
			},
		}
	}
	return []opRow{
		conv(28, 2, 1, 32, 128), conv(14, 2, 32, 64, 128), conv(56, 1, 64, 64, 8),
		{"softmax 131072x128", [][]int{{131072, 128}}, 2, 3, softmax},
		{"softmax 4096x4096", [][]int{{4096, 4096}}, 2, 3, softmax},
		{"embedding 8192 of 32768x256", [][]int{{32768, 256}}, 0, 0, func(in []*autograd.Node) *autograd.Node { return in[0].GatherRows(index) }},
		{"products 64 of 64x64x64", [][]int{{64, 64, 64}, {64, 64, 64}}, 0, 0, func(in []*autograd.Node) *autograd.Node { return in[0].MatMul(in[1]) }},
	}
}

// ops measures structured operations, forward, and forward and backward by all operands. On a GPU they are recorded, so that
// the device's time is measured and not that of the host.
func (s *Suite) ops(ctx context.Context) error {
	if err := s.copied(ctx); err != nil {
		return err
	}
	for _, row := range opRows(s.Device) {
		if err := s.op(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

func (s *Suite) op(ctx context.Context, row opRow) error {
	d, rng := s.Device, tensor.NewRNG(1)
	var in []*autograd.Node
	for _, shape := range row.shapes {
		x := autograd.Param(rng.Uniform(d, -0.5, 0.5, shape...).Keep(), "x")
		defer x.Free()
		in = append(in, x)
	}
	var weights *autograd.Node
	autograd.NoGrad(d, func() {
		y := row.f(in)
		weights = autograd.Const(rng.Uniform(d, 0, 1, y.Shape()...).Keep())
		y.Free()
	})
	defer weights.Free()
	forward := func() (out []*tensor.Tensor, err error) {
		autograd.NoGrad(d, func() { out = []*tensor.Tensor{row.f(in).Value()} })
		return out, nil
	}
	both := func() (out []*tensor.Tensor, err error) {
		y := row.f(in)
		gradients, err := autograd.Grad(y, in, autograd.GradOptions{Seed: weights})
		y.Free()
		for _, g := range gradients {
			out = append(out, g.Value())
		}
		return out, err
	}
	moved := float64(in[0].Len() * d.Real().Size())
	if err := s.opTime(ctx, row.name+" forward", row.streams*moved, forward); err != nil {
		return err
	}
	return s.opTime(ctx, row.name+" both", (row.streams+row.back)*moved, both)
}

// opTime measures a call, and its share of the rate of a copy if it moves as many bytes.
func (s *Suite) opTime(ctx context.Context, name string, bytes float64, f func() ([]*tensor.Tensor, error)) error {
	call := func() (err error) {
		tensor.Scope(s.Device, func() { _, err = f() })
		return err
	}
	if !s.Device.Limits().CPU {
		rec, err := replay.Record(s.Device, f)
		if err != nil {
			return err
		}
		defer rec.Free()
		call = s.flushed(rec.Run)
	}
	return s.share(ctx, name, bytes, call)
}
