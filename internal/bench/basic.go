package bench

import (
	"context"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels"
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

// elementwise measures functions of 2²⁴ elements, which no cache holds, in bytes read and written.
func (s *Suite) elementwise(ctx context.Context) error {
	const n = 1 << 24
	d := s.Device
	x, y, z := tensor.Full(d, 0.5, n), tensor.Full(d, -0.5, n), tensor.Zeros(d, n)
	defer x.Free()
	defer y.Free()
	defer z.Free()
	size := float64(n * d.Real().Size())
	copied, err := s.time(ctx, "copy", "GB/s", 2*size, 0, func() { z.SetInPlace(x) })
	if err != nil {
		return err
	}
	s.bytes = copied * 1e9
	for _, c := range []struct {
		name    string
		streams float64
		f       func()
	}{
		{"add", 3, func() { x.Add(y).Free() }},
		{"leaky relu", 2, func() { y.LeakyReLU(0.1).Free() }},
		{"tanh", 2, func() { x.Tanh().Free() }},
		{"sum", 1, func() { x.Sum().Free() }},
	} {
		if _, err := s.time(ctx, c.name, "GB/s", c.streams*size, s.bytes, c.f); err != nil {
			return err
		}
	}
	return nil
}

// peak measures arithmetic without memory. The Go device has none: its twin of that kernel is a scalar loop.
func (s *Suite) peak(ctx context.Context) error {
	if plumbing.TuningName(s.Device) == "" || s.flops > 0 {
		return nil
	}
	l := s.Device.Limits()
	items, steps := 64*l.Units, 20000
	if !l.CPU {
		items, steps = 2048*l.Units, 2000
	}
	y := tensor.Zeros(s.Device, items)
	defer y.Free()
	got, err := s.time(ctx, "peak arithmetic", "GFLOP/s", float64(256*steps*items), 0, func() {
		tensor.Launch(s.Device, ops.FMAChains, y.Arg(), kernels.I(items), kernels.I(steps), kernels.R(0.999), kernels.R(0.5))
	})
	s.flops = got * 1e9
	return err
}
