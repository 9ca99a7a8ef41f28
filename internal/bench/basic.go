package bench

import (
	"context"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// launch measures the smallest launch, in a row and alone.
func (s *Suite) launch(ctx context.Context) error {
	x := tensor.Zeros(s.Device, 1)
	defer x.Free()
	if _, err := s.time(ctx, "launch", "us", 0, 0, func() { x.FillInPlace(1) }); err != nil {
		return err
	}
	_, err := s.timeErr(ctx, "launch and wait", "us", 0, 0, func() error {
		x.FillInPlace(1)
		return s.Device.Sync()
	})
	return err
}

// side is of squares of 2²⁴ elements, 2²⁶ on a GPU, which no cache holds.
func (s *Suite) side() int {
	if s.Device.Target().CPU {
		return 1 << 12
	}
	return 1 << 13
}

// copied measures the rate of a copy, once in a program.
func (s *Suite) copied(ctx context.Context) error {
	if s.bytes > 0 {
		return nil
	}
	d, side := s.Device, s.side()
	x, z := tensor.FullOf(d, s.Type, 0.5, side, side), tensor.ZerosOf(d, s.Type, side, side)
	defer x.Free()
	defer z.Free()
	copied, err := s.time(ctx, "copy", "GB/s", float64(2*side*side*s.Type.Size()), 0, func() { z.SetInPlace(x) })
	s.bytes = copied * 1e9
	return err
}

// elementwise measures functions of squares, in bytes read and written: forward and
// backward, of operands that are repeated, and of views.
func (s *Suite) elementwise(ctx context.Context) error {
	if err := s.copied(ctx); err != nil {
		return err
	}
	d, side := s.Device, s.side()
	n := side * side
	x, y := tensor.FullOf(d, s.Type, 0.5, side, side), tensor.FullOf(d, s.Type, -0.5, side, side)
	row, column := tensor.FullOf(d, s.Type, 1, 1, side), tensor.FullOf(d, s.Type, 1, side, 1)
	boxes, box := x.Reshape(64, side/64, side), tensor.FullOf(d, s.Type, 1, 64, 1, side)
	turned, second := x.T(), x.Step(1, 2)
	for _, t := range []*tensor.Tensor{x, y, row, column, boxes, box, turned, second} {
		defer t.Free()
	}
	size := float64(n * s.Type.Size())
	leaky, tanh := fn.LeakyReLU.Gradient(0), fn.Tanh.Gradient(0)
	slope := []float64{0.1}
	for _, c := range []struct {
		name    string
		streams float64
		f       func()
	}{
		{"add", 3, func() { x.Add(y).Free() }},
		{"add a row [1,n]", 2, func() { x.Add(row).Free() }},
		{"add a column [n,1]", 2, func() { x.Add(column).Free() }},
		{"add [n,1] and [1,n]", 1, func() { column.Add(row).Free() }},
		{"add [a,1,c] to [a,b,c]", 2, func() { boxes.Add(box).Free() }},
		{"leaky relu", 2, func() { y.LeakyReLU(0.1).Free() }},
		{"leaky relu backward", 3, func() { tensor.Map(leaky, slope, y, nil, x).Free() }},
		{"leaky relu of a transpose", 2, func() { turned.LeakyReLU(0.1).Free() }},
		{"leaky relu of every second", 1, func() { second.LeakyReLU(0.1).Free() }},
		{"tanh", 2, func() { x.Tanh().Free() }},
		{"tanh backward", 3, func() { tensor.Map(tanh, nil, nil, x, y).Free() }},
		{"copy of a transpose", 2, func() { turned.Copy().Free() }},
		{"sum", 1, func() { x.Sum().Free() }},
	} {
		if _, err := s.time(ctx, c.name, "GB/s", c.streams*size, s.bytes, c.f); err != nil {
			return err
		}
	}
	return nil
}

// peak measures arithmetic without memory. The Go device has none: its host kernel of that kernel is a
// scalar loop.
func (s *Suite) peak(ctx context.Context) error {
	if tensorapi.Impl.TuningName(s.Device) == "" || s.flops > 0 {
		return nil
	}
	l := s.Device.Target()
	items, steps := 64*l.Units, 20000
	if !l.CPU {
		items, steps = 2048*l.Units, 2000
	}
	y := tensor.Zeros(s.Device, items)
	defer y.Free()
	got, err := s.time(ctx, "peak arithmetic", "GFLOP/s", float64(256*steps*items), 0, func() {
		tensor.Launch(s.Device, ops.FMAChains, y.Arg(), kernels.IntArg(items), kernels.IntArg(steps), kernels.FloatArg(0.999), kernels.FloatArg(0.5))
	})
	s.flops = got * 1e9
	return err
}
