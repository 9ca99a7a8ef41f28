// Package bench measures a device: what a launch costs, matrix products, element-wise functions,
// training steps and rendering. It also finds the tile with which a matrix product is fastest.
package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/tensor"
)

// Result is one measurement: the median, least and greatest of several runs.
type Result struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Runs   int     `json:"runs"`
	// Share is Median as a share of what the device reached in arithmetic alone, or in copying
	// alone, in the same program; 0 if there is no such measurement.
	Share float64 `json:"share_of_peak,omitempty"`
}

// Suite measures groups of things on one device, one after the other.
type Suite struct {
	Device tensor.Device
	// Budget is the time to spend on each measurement; what takes longer is still run three times.
	Budget time.Duration
	Report func(Result)
	// Type is that of the operands of elementwise and ops. Of 16 bits the steps of nets and
	// perceptrons run under Autocast to it.
	Type tensor.Type
	// Launches is how many of the slowest launches of each recorded net are reported, by their layers and operations.
	Launches int

	flops, bytes float64 // peaks, per second
}

// Groups is what a Suite measures, in this order.
var Groups = []string{"launch", "elementwise", "gemm", "errors", "small", "ops", "nets", "perceptrons", "step", "recorded", "render"}

// Typed is the Groups that measure another type than the device's default.
var Typed = []string{"elementwise", "ops", "nets", "perceptrons"}

// Check returns an error unless every name is one of Groups.
func Check(groups []string) error {
	for _, g := range groups {
		if !slices.Contains(Groups, g) {
			return fmt.Errorf("there is nothing called %q to measure: there are %s", g, strings.Join(Groups, ", "))
		}
	}
	return nil
}

// Run measures groups that Check accepts.
func (s *Suite) Run(ctx context.Context, groups []string) error {
	steps := map[string]func(context.Context) error{
		"launch": s.launch, "elementwise": s.elementwise, "gemm": s.gemm, "errors": s.errors, "small": s.small, "ops": s.ops, "nets": s.nets,
		"perceptrons": s.perceptrons, "step": s.step, "recorded": s.recorded, "render": s.render,
	}
	for _, g := range Groups {
		if !slices.Contains(groups, g) {
			continue
		}
		if err := steps[g](ctx); err != nil {
			return fmt.Errorf("bench: %s: %w", g, err)
		}
	}
	return nil
}

// Seconds returns the time of one call of f in each of several runs. A run is as many calls as take
// a fair part of the budget, launched one after the other, and then a wait for the device.
func Seconds(ctx context.Context, d tensor.Device, budget time.Duration, f func() error) ([]float64, error) {
	const runs, least = 9, 3
	run := func(calls int) (time.Duration, error) {
		start := time.Now()
		for range calls {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			if err := f(); err != nil {
				return 0, err
			}
		}
		d.Flush()
		err := d.Sync()
		return time.Since(start), err
	}
	if _, err := run(1); err != nil { // builds the kernels
		return nil, err
	}
	calls := 1
	for {
		t, err := run(calls)
		if err != nil {
			return nil, err
		}
		if t > budget/runs/2 || calls >= 1<<20 {
			break
		}
		calls *= 2
	}
	var times []float64
	start := time.Now()
	for len(times) < least || len(times) < runs && time.Since(start) < budget {
		t, err := run(calls)
		if err != nil {
			return nil, err
		}
		times = append(times, t.Seconds()/float64(calls))
	}
	return times, nil
}

// median returns the middle of an odd number of values, and the lower of the two middles of others.
func median(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[(len(v)-1)/2]
}

// time measures f and reports amount/time, or time·1e6 where amount is 0, as unit.
func (s *Suite) time(ctx context.Context, name, unit string, amount, peak float64, f func()) (float64, error) {
	return s.timeErr(ctx, name, unit, amount, peak, func() error { f(); return nil })
}

func (s *Suite) timeErr(ctx context.Context, name, unit string, amount, peak float64, f func() error) (float64, error) {
	r, err := s.measure(ctx, name, unit, func(t float64) float64 {
		if amount > 0 {
			return amount / t / 1e9
		}
		return t * 1e6
	}, f)
	if err != nil {
		return 0, err
	}
	if peak > 0 {
		r.Share = r.Median * 1e9 / peak
	}
	s.Report(r)
	return r.Median, nil
}

// share measures f and reports its time, and the share that the given bytes in that time are of the
// rate of a copy; 0 is none.
func (s *Suite) share(ctx context.Context, name string, bytes float64, f func() error) error {
	r, err := s.measure(ctx, name, "us", func(t float64) float64 { return t * 1e6 }, f)
	if err != nil {
		return err
	}
	if s.bytes > 0 {
		r.Share = bytes / (r.Median * 1e-6) / s.bytes
	}
	s.Report(r)
	return nil
}

// measure times f in several runs, of which as gives the values.
func (s *Suite) measure(ctx context.Context, name, unit string, as func(seconds float64) float64, f func() error) (Result, error) {
	times, err := Seconds(ctx, s.Device, s.Budget, f)
	if err != nil {
		return Result{}, err
	}
	values := make([]float64, len(times))
	for i, t := range times {
		values[i] = as(t)
	}
	return Result{Name: name, Unit: unit, Median: median(values), Low: slices.Min(values), High: slices.Max(values), Runs: len(values)}, nil
}
