package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// recorded measures a training step of mlpimage's default network, layer by layer, eager and
// replayed: the step, and what a launch costs the host, beside a loop in C over the same launches
// and nothing else.
func (s *Suite) recorded(ctx context.Context) error {
	cfg := imagefit.Defaults()
	cfg.Eager = true
	f, err := imagefit.New(s.Device, picture(), cfg)
	if err != nil {
		return err
	}
	defer f.Free()
	name := fmt.Sprintf("net layers %d", cfg.Batch)
	if _, err := s.timeErr(ctx, name, "us", 0, 0, f.Step); err != nil {
		return err
	}
	if err := s.host(ctx, "host per launch", int(f.LaunchesPerStep()), f.Step); err != nil {
		return err
	}
	rec, err := replay.Record(s.Device, func() ([]*tensor.Tensor, error) { return nil, f.Step() })
	if err != nil {
		return err
	}
	defer rec.Free()
	launches := rec.Report().Launches
	run := s.flushed(rec.Run)
	if _, err := s.timeErr(ctx, name+" recorded", "us", 0, 0, run); err != nil {
		return err
	}
	if err := s.host(ctx, "host per launch recorded", launches, run); err != nil {
		return err
	}
	if tensorapi.Impl.TuningName(s.Device) == "" { // the Go device
		return nil
	}
	return s.host(ctx, "host per launch loop in C", launches, s.flushed(func() error { return capture.Loop(rec, 1) }))
}

// flushed is f and, as an eager step ends, a flush.
func (s *Suite) flushed(f func() error) func() error {
	return func() error {
		err := f()
		s.Device.Flush()
		return err
	}
}

// host measures f until it returns, each time on an idle device, and reports microseconds per
// launch. The Go device computes meanwhile.
func (s *Suite) host(ctx context.Context, name string, launches int, f func() error) error {
	const least, most = 9, 1001
	var values []float64
	for start := time.Now(); len(values) < least || len(values) < most && time.Since(start) < s.Budget; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Device.Sync(); err != nil {
			return err
		}
		begin := time.Now()
		if err := f(); err != nil {
			return err
		}
		values = append(values, time.Since(begin).Seconds()*1e6/float64(launches))
	}
	s.Report(Result{Name: name, Unit: "us", Median: median(values), Low: slices.Min(values), High: slices.Max(values), Runs: len(values)})
	return s.Device.Sync()
}
