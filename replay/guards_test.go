package replay_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// one is what a step returns.
func one(t *tensor.Tensor) ([]*tensor.Tensor, error) { return []*tensor.Tensor{t}, nil }

// refused is an error of a kind that says all of that.
func refused(t *testing.T, what string, err, kind error, says ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: err = %v, want %v", what, err, kind)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %q does not say %q", what, err, s)
		}
	}
}

// TestRefusedSteps: what cannot be recorded is an error that names it, and the program continues as
// if it had done two steps.
func TestRefusedSteps(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{})
		other := devtest.Open(t, "cpu", tensor.Options{})
		x, y := devtest.New(d, []float64{1, 2, 3}), devtest.New(d, []float64{4, 5, 6})
		index, others := devtest.New(d, []int32{0, 2}), devtest.New(d, []int32{1, 0})
		elsewhere := devtest.New(other, []float64{1})
		scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.FloatArg(0.5); return nil })
		stale := scalars.Arg(0)
		var held *tensor.Tensor
		weights := autograd.Param(tensor.Full(d, 1, 3, 2), "weights")
		elements := autograd.Param(tensor.Full(d, 1, 3), "elements")
		ofElements := optim.NewSGD([]*autograd.Node{elements}, optim.SGDConfig{LR: optim.Constant(0.1)})
		alone := autograd.Param(tensor.Full(d, 1, 3), "alone")
		sgd := optim.NewSGD([]*autograd.Node{weights}, optim.SGDConfig{LR: optim.Constant(0.1)})
		broken := errors.New("broken step")
		done := 0
		for what, c := range map[string]struct {
			step func(run int) ([]*tensor.Tensor, error)
			kind error
			says []string
		}{
			"Item":     {func(int) ([]*tensor.Tensor, error) { _, err := x.Sum().Item(); return nil, err }, replay.ErrHostRead, []string{"Item of a tensor of shape []"}},
			"Float64s": {func(int) ([]*tensor.Tensor, error) { _, err := x.Float64s(); return nil, err }, replay.ErrHostRead, []string{"Float64s of a tensor of shape [3]"}},
			"Int32s":   {func(int) ([]*tensor.Tensor, error) { _, err := index.Int32s(); return nil, err }, replay.ErrHostRead, []string{"Int32s", "[2]"}},
			"unknown indices": {func(int) ([]*tensor.Tensor, error) {
				return one(x.Reshape(3, 1).GatherRows(index.To(d.DefaultType()).To(tensor.Int32)))
			}, replay.ErrHostRead, []string{"GatherRows", "axis 0, of 3"}},
			"indices that the step sets": {func(int) ([]*tensor.Tensor, error) {
				index.SetInPlace(others)
				return one(x.Reshape(3, 1).GatherRows(index))
			}, replay.ErrHostRead, []string{"GatherRows", "axis 0, of 3"}},
			"MaskedSelect": {func(int) ([]*tensor.Tensor, error) { return one(x.MaskedSelect(x.GtScalar(1))) },
				replay.ErrHostRead, []string{"MaskedSelect of a tensor of shape [3]"}},
			"gradients added up": {func(int) ([]*tensor.Tensor, error) {
				loss := autograd.Const(y.Reshape(1, 3)).MatMul(weights).Sum()
				err := loss.Backward(autograd.BackwardOptions{Retain: true})
				return []*tensor.Tensor{loss.Value()}, errors.Join(err, sgd.Step())
			}, replay.ErrDiffers, []string{"accumulate of launch", `ZeroGrad is missing from the step: the second run adds to the gradient of parameter "weights"`}},
			"gradients of elements added up": {func(int) ([]*tensor.Tensor, error) {
				loss := elements.Square().Sum()
				return []*tensor.Tensor{loss.Value()}, errors.Join(loss.Backward(), ofElements.Step())
			}, replay.ErrDiffers, []string{"k_add in the second", `ZeroGrad is missing from the step`}},
			"gradients without an optimizer added up": {func(int) ([]*tensor.Tensor, error) {
				loss := alone.Square().Sum()
				return []*tensor.Tensor{loss.Value()}, loss.Backward()
			}, replay.ErrDiffers, []string{`ZeroGrad is missing from the step: the second run adds to the gradient of parameter "alone"`}},
			"another kernel": {func(run int) ([]*tensor.Tensor, error) {
				if run == 0 {
					return one(x.Add(y))
				}
				return one(x.Mul(y))
			}, replay.ErrDiffers, []string{"launch 1 is k_add in the first, k_mul in the second"}},
			"a launch more": {func(run int) ([]*tensor.Tensor, error) {
				z := x.Add(y)
				if run == 1 {
					z = z.Mul(y)
				}
				return one(z)
			}, replay.ErrDiffers, []string{"2 launches in the first, 3 in the second", "only the second", "k_mul"}},
			"a launch less": {func(run int) ([]*tensor.Tensor, error) {
				z := x.Add(y)
				if run == 0 {
					z = z.Mul(y)
				}
				return one(z)
			}, replay.ErrDiffers, []string{"3 launches in the first, 2 in the second", "only the first"}},
			"another size": {func(run int) ([]*tensor.Tensor, error) { return one(x.Slice(0, 0, 1+run).Exp()) },
				replay.ErrDiffers, []string{"X0 of launch 1, k_exp", "[0, 1) of [3] in the first, [0, 2) of [3]"}},
			"another tensor": {func(run int) ([]*tensor.Tensor, error) {
				return one([]*tensor.Tensor{x, y}[run].Exp())
			}, replay.ErrDiffers, []string{"X0 of launch 1, k_exp", "another tensor of shape [3]"}},
			"handed on": {func(int) ([]*tensor.Tensor, error) {
				if held == nil {
					held = x
				}
				held = held.Exp()
				return one(held)
			}, replay.ErrDiffers, []string{"k_exp", "[3]", "written in place"}},
			"another destination": {func(run int) ([]*tensor.Tensor, error) {
				if run == 1 {
					return one(x.Copy())
				}
				y.SetInPlace(x)
				return one(y)
			}, replay.ErrDiffers, []string{"k_copy", "another part"}},
			"roles change": {func(run int) ([]*tensor.Tensor, error) {
				a, b := x.Exp(), y.Exp()
				return one([]*tensor.Tensor{a, b}[run].Neg())
			}, replay.ErrDiffers, []string{"X0 of launch 3, k_neg", "another part"}},
			"a number": {func(run int) ([]*tensor.Tensor, error) { return one(x.MulScalar(float64(run))) },
				replay.ErrDiffers, []string{"launch 1", "is 0 in the first, 1 in the second", "step scalar"}},
			"an int": {func(run int) ([]*tensor.Tensor, error) {
				return one(tensor.ScalarFromArg(d, kernels.IntArg(run)))
			}, replay.ErrDiffers, []string{"0 in the first, 1 in the second"}},
			"an upload": {func(run int) ([]*tensor.Tensor, error) {
				return one(x.Add(tensor.Scalar(d, float64(run))))
			}, replay.ErrDiffers, []string{"upload", "other values"}},
			"an older tensor set": {func(int) ([]*tensor.Tensor, error) { tensor.Upload(x, []float64{1, 2, 3}); return nil, nil },
				replay.ErrUpload, []string{"between the runs"}},
			"a step scalar and none": {func(run int) ([]*tensor.Tensor, error) {
				if run == 0 {
					return one(tensor.ScalarFromArg(d, scalars.Arg(0)))
				}
				return one(tensor.ScalarFromArg(d, kernels.FloatArg(0)))
			}, replay.ErrDiffers, []string{"another step scalar"}},
			"step scalars advanced once": {func(run int) ([]*tensor.Tensor, error) {
				if run == 0 {
					if err := scalars.Next(); err != nil {
						return nil, err
					}
				}
				return nil, nil
			}, replay.ErrDiffers, []string{"step scalars are advanced 1 times in the first, 0 times in the second"}},
			"a number of long ago": {func(int) ([]*tensor.Tensor, error) {
				if err := scalars.Next(); err != nil {
					return nil, err
				}
				return one(tensor.ScalarFromArg(d, stale))
			}, replay.ErrDiffers, []string{"step scalar"}},
			"unwritten": {func(int) ([]*tensor.Tensor, error) { return one(tensor.Empty(d, 5).Exp()) }, replay.ErrUnwritten, []string{"X0 of launch 1, k_exp", "[5]"}},
			"unwritten part": {func(int) ([]*tensor.Tensor, error) {
				z := tensor.Empty(d, 5)
				z.Slice(0, 0, 2).ZeroInPlace()
				return one(z.Slice(0, 2, 5).Exp())
			}, replay.ErrUnwritten, []string{"[5]"}},
			"unwritten gap": {func(int) ([]*tensor.Tensor, error) {
				z := tensor.Empty(d, 6)
				z.Slice(0, 0, 2).ZeroInPlace()
				z.Slice(0, 4, 6).ZeroInPlace()
				return one(z.Slice(0, 2, 4).Exp())
			}, replay.ErrUnwritten, []string{"[6]"}},
			"unwritten output": {func(int) ([]*tensor.Tensor, error) { return one(tensor.Empty(d, 6)) }, replay.ErrUnwritten, []string{"[6]"}},
			"another device":   {func(int) ([]*tensor.Tensor, error) { return one(elsewhere.Exp()) }, tensor.ErrDevice, []string{"inside the step is on " + other.Name()}},
			"another device's": {func(int) ([]*tensor.Tensor, error) { return one(elsewhere) }, tensor.ErrDevice, []string{"output 0"}},
			"another goroutine": {func(int) ([]*tensor.Tensor, error) {
				met := make(chan error)
				go func() { met <- tensor.Try(func() { x.Exp().Free() }) }()
				return nil, <-met
			}, tensor.ErrGoroutine, []string{"another goroutine has claimed the device"}},
			"step scalars of another goroutine": {func(int) ([]*tensor.Tensor, error) {
				if err := scalars.Next(); err != nil {
					return nil, err
				}
				met := make(chan error)
				go func() { met <- scalars.Next() }()
				return nil, <-met
			}, tensor.ErrGoroutine, []string{"advanced 2 times", "1 of them by another goroutine"}},
			"a recording inside": {func(int) ([]*tensor.Tensor, error) {
				_, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return nil, nil })
				return nil, err
			}, replay.ErrRecording, nil},
			"a nil output":   {func(int) ([]*tensor.Tensor, error) { return one(nil) }, tensor.ErrValue, []string{"output 0"}},
			"a freed output": {func(int) ([]*tensor.Tensor, error) { z := x.Exp(); z.Free(); return one(z) }, tensor.ErrFreed, []string{"output 0", "[3]"}},
			"an output more": {func(run int) ([]*tensor.Tensor, error) {
				return []*tensor.Tensor{x, y}[:1+run], nil
			}, replay.ErrDiffers, []string{"1 outputs", "2"}},
			"another output": {func(run int) ([]*tensor.Tensor, error) { return one([]*tensor.Tensor{x, y}[run]) }, replay.ErrDiffers, []string{"output 0"}},
			"another view":   {func(run int) ([]*tensor.Tensor, error) { return one(x.Slice(0, run, 2+run)) }, replay.ErrDiffers, []string{"output 0", "view"}},
			"its own error":  {func(int) ([]*tensor.Tensor, error) { return nil, broken }, broken, nil},
		} {
			run := 0
			held = nil
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
				run++
				x.AddScalar(0).Free() // so that the launch that is named is not the first
				return c.step(run - 1)
			})
			refused(t, sel+", "+what, err, c.kind, c.says...)
			if rec != nil {
				t.Errorf("%s: there is a recording", what)
			}
			done++
			if v, err := x.Float64s(); err != nil || len(v) != 3 || v[1] != 2 {
				t.Fatalf("%s: afterwards x is %v, %v", what, v, err)
			}
		}
		if rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return one(x.Add(y)) }); err != nil || rec.Run() != nil {
			t.Errorf("after %d refusals: %v", done, err)
		}
	}
}

// TestPanicInStep: a panic passes through, and the device is no longer recorded.
func TestPanicInStep(t *testing.T) {
	d := devtest.CPU(t)
	x := devtest.New(d, []float64{1, 2})
	err := tensor.Try(func() {
		_, _ = replay.Record(d, func() ([]*tensor.Tensor, error) { return one(x.MatMul(x.Reshape(1, 2))) })
	})
	refused(t, "a panic", err, tensor.ErrShape)
	if v, err := x.Float64s(); err != nil || v[0] != 1 {
		t.Errorf("afterwards: %v, %v", v, err)
	}
	for _, err := range []error{
		second(replay.Record(nil, func() ([]*tensor.Tensor, error) { return nil, nil })),
		second(replay.Record(d, nil)),
	} {
		refused(t, "nothing to record", err, tensor.ErrValue)
	}
}

func second(_ *replay.Recording, err error) error { return err }

// TestRefusedRuns: what keeps a recording from being run is an error, with no host state advanced
// and nothing launched.
func TestRefusedRuns(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		record := func(step func() ([]*tensor.Tensor, error)) *replay.Recording {
			t.Helper()
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
				rng.Uniform(d, 0, 1, 3).Free()
				return step()
			})
			if err != nil {
				t.Fatal(err)
			}
			return rec
		}
		unmoved := func(what string, rec *replay.Recording, kind error, says ...string) {
			t.Helper()
			calls, launches := rng.Calls, d.Stats().Launches
			refused(t, what, rec.Run(), kind, says...)
			if rng.Calls != calls || d.Stats().Launches != launches {
				t.Errorf("%s: %d fills, %d launches", what, rng.Calls-calls, d.Stats().Launches-launches)
			}
		}

		x := devtest.New(d, make([]float64, 14), 2, 7)
		rec := record(func() ([]*tensor.Tensor, error) { return one(x.Exp()) })
		x.View().Free()
		if err := rec.Run(); err != nil {
			t.Errorf("a view was freed: %v", err)
		}
		x.Free()
		tensor.Zeros(d, 2, 7) // may be given the same memory
		unmoved("a freed tensor", rec, tensor.ErrFreed, "[2 7]")

		p := autograd.Param(tensor.Zeros(d, 3, 5), "p")
		rec = record(func() ([]*tensor.Tensor, error) { return one(p.Value().Exp()) })
		opt := optim.NewSGD([]*autograd.Node{p}, optim.SGDConfig{LR: optim.Constant(1)})
		unmoved("a parameter that moved to an optimizer", rec, tensor.ErrFreed, "[3 5]")
		opt.Free()

		p = autograd.Param(tensor.Zeros(d, 5, 3), "p")
		rec = record(func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{p.Value(), p.Value().Exp()}, nil })
		opt = optim.NewSGD([]*autograd.Node{p}, optim.SGDConfig{LR: optim.Constant(1)})
		unmoved("one whose old place an output keeps", rec, tensor.ErrFreed, "[5 3]", "moved to another optimizer")
		rec = record(func() ([]*tensor.Tensor, error) { return one(p.Value().Exp()) })
		if err := rec.Run(); err != nil {
			t.Errorf("recorded again: %v", err)
		}
		opt.Free()

		rec = record(func() ([]*tensor.Tensor, error) { return nil, nil })
		inside := record(func() ([]*tensor.Tensor, error) { return nil, nil })
		_, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return nil, inside.Run() })
		refused(t, "a run inside", err, replay.ErrRecording)
		rec.Free()
		rec.Free()
		unmoved("a recording that was freed", rec, replay.ErrReleased)

		rows, index := devtest.New(d, make([]float64, 6), 3, 2), devtest.New(d, []int32{0, 2, 1})
		rec = record(func() ([]*tensor.Tensor, error) { return one(rows.GatherRows(index)) })
		tensor.Upload(index, []int32{0, 3, 1})
		unmoved("an index past the rows", rec, tensor.ErrIndex, "0 to 3", "3")
		index.SetInPlace(devtest.New(d, []int32{-1, 0, 0}))
		unmoved("an index that only the device knows", rec, tensor.ErrIndex, "-1")
		tensor.Upload(index, []int32{2, 2, 2})
		if err := rec.Run(); err != nil {
			t.Error(err)
		}

		kind := kernels.FloatArg(1)
		scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kind; return nil })
		rec = record(func() ([]*tensor.Tensor, error) {
			if err := scalars.Next(); err != nil {
				return nil, err
			}
			return one(tensor.ScalarFromArg(d, scalars.Arg(0)))
		})
		kind = kernels.IntArg(1)
		refused(t, "a number of another kind", rec.Run(), tensor.ErrArgument, "an int", "a float")
	})
}

// TestOutputsRestored: a run rewrites outputs, whatever the caller did to them, also those that the
// step only uploads.
func TestOutputsRestored(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2})
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			return []*tensor.Tensor{devtest.New(d, []float64{5, 6}), x.AddScalar(1), tensor.Zeros(d, 0, 3), x}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := bits(t, rec.Outputs())
		for _, o := range rec.Outputs()[:3] {
			o.FillInPlace(9)
		}
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if got := bits(t, rec.Outputs()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestBusyDevice: a run while another goroutine is in a launch is an error, not a race.
func TestBusyDevice(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2})
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return one(x.Exp()) })
		if err != nil {
			t.Fatal(err)
		}
		var met error
		k := &kernels.Kernel{Name: "k_wait", Text: "kernel void k_wait(int n) {}", Params: []kernels.Param{{Name: "n", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: func(kernels.HostArgs[float32]) {}},
			Grid: func([]kernels.Arg, kernels.Target) kernels.Grid { // which the launch asks for
				done := make(chan error)
				go func() { done <- rec.Run() }()
				met = <-done
				return kernels.Grid{Dims: 1}
			}}
		tensor.Launch(d, k, kernels.IntArg(1))
		refused(t, "a busy device", met, tensor.ErrGoroutine, "replay: Run: ")
		if err := rec.Run(); err != nil {
			t.Error(err)
		}
	})
}

// TestNumberOfWorkItems: a number that is a step scalar may say how many work-items a launch has, none
// when it was recorded.
func TestNumberOfWorkItems(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		k := &kernels.Kernel{Name: "k_ones", Grid: kernels.GridFromArg(1),
			Text: `kernel void k_ones(global float *Y, int Y_off, int n) {
				int i = get_global_id(0);
				if (i < n) Y[Y_off + i] = 1;
			}`,
			Params: []kernels.Param{{Name: "Y", Mode: kernels.InOut}, {Name: "n", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
				for i := range c.Int(1) {
					c.Floats(0)[i] = 1
				}
			}}}
		n, y := 0, tensor.Zeros(d, 1000)
		scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.IntArg(n); return nil })
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			if err := scalars.Next(); err != nil {
				return nil, err
			}
			y.ZeroInPlace()
			tensor.Launch(d, k, y.Arg(), scalars.Arg(0))
			return one(y.Sum())
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, n = range []int{0, 3, 1000, 0, 513} {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			if got, err := rec.Outputs()[0].Item(); err != nil || got != float64(n) {
				t.Errorf("%v ones, want %d (%v)", got, n, err)
			}
		}
	})
}

// TestRunStops: a learning rate that is no number stops a run as it stops an eager step: nothing is
// launched.
func TestRunStops(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		tr := newTrainer(d, "", "")
		tr.opt = optim.NewAdamW(tr.params, optim.AdamWDefaults(func(step int) float64 {
			if step == 3 {
				return math.NaN()
			}
			return 0.1
		}))
		rec, err := replay.Record(d, tr.step)
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		before, launches := tr.state(t, rec.Outputs()), d.Stats().Launches
		if err := rec.Run(); err == nil || !strings.Contains(err.Error(), "learning rate of NaN at step 3") {
			t.Errorf("err = %v", err)
		}
		if n := d.Stats().Launches; n != launches || tr.state(t, rec.Outputs()) != before {
			t.Errorf("%d launches", n-launches)
		}
	})
}

// TestFailedDevice: a device that has failed, or was closed, neither records nor replays.
func TestFailedDevice(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d, err := tensor.Open(sel)
		if err != nil {
			t.Fatal(err)
		}
		x := devtest.New(d, []float64{1})
		step := func() ([]*tensor.Tensor, error) { return one(x.Exp()) }
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := rec.Run(); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s, closed: %v", sel, err)
		}
		if _, err := replay.Record(d, step); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s, closed: %v", sel, err)
		}
		rec.Free() // gives back nothing that Close has not
	}
}

// TestUnreturned: what a step made and did not return, in either run, is not used after Record. It can
// be freed.
func TestUnreturned(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2})
		var middle, earlier *tensor.Tensor
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			earlier, middle = middle, x.AddScalar(1)
			return one(middle.Square())
		})
		if err != nil {
			t.Fatal(err)
		}
		for what, read := range map[string]func(){
			"of the first run": func() { _, _ = earlier.Float64s() },
			"Float64s":         func() { _, _ = middle.Float64s() },
			"exp":              func() { middle.Exp() },
			"Sum":              func() { middle.View().Sum() },
			"Arg":              func() { middle.Arg() },
		} {
			err := tensor.Try(read)
			refused(t, what, err, tensor.ErrRecorded, "[2]", "return it from the step")
		}
		middle.Free()
		earlier.Free()
		if err := rec.Run(); err != nil {
			t.Error(err)
		}
	})
}

// TestVersions: a run counts its writes, so that a gradient of values that it changed is refused.
func TestVersions(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		p.Value().MapInPlace(fn.Add, nil, tensor.Scalar(d, 1))
		return one(p.Value().Exp())
	})
	if err != nil {
		t.Fatal(err)
	}
	loss := p.Mul(autograd.Const(rec.Outputs()[0])).Sum()
	before := []uint64{tensorapi.Impl.Version(p.Value()), tensorapi.Impl.Version(rec.Outputs()[0])}
	if err := rec.Run(); err != nil {
		t.Fatal(err)
	}
	if tensorapi.Impl.Version(p.Value()) == before[0] || tensorapi.Impl.Version(rec.Outputs()[0]) == before[1] {
		t.Error("a write was not counted")
	}
	refused(t, "a changed value", loss.Backward(), autograd.ErrChanged)
}

// TestMemory: runs allocate nothing, on the device or on the host, and a recording that was freed,
// or lost, leaves nothing.
func TestMemory(t *testing.T) {
	devtest.Uncollected(t)
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{})
		tr := newTrainer(d, "adamw", "cosine")
		for range 2 {
			if _, err := tr.step(); err != nil {
				t.Fatal(err)
			}
			tr.loss.Free()
		}
		// A device keeps the kernels that it built: those of a first recording are there for the
		// second.
		first, err := replay.Record(d, tr.step, sameBits)
		if err != nil {
			t.Fatal(err)
		}
		first.Free()
		tr.loss.Free()
		start := d.Stats()
		rec, err := replay.Record(d, tr.step, sameBits)
		if err != nil {
			t.Fatal(err)
		}
		report := rec.Report()
		const aligned = 512 // bytes to which a GPU aligns each buffer
		if report.PlannedBytes <= 0 || report.PlannedBytes > 2*report.EagerBytes+int64(aligned*report.Launches) ||
			report.Launches == 0 || report.StepScalars != 3 || report.Took <= 0 {
			t.Errorf("%s: %v", sel, report)
		}
		if !strings.Contains(report.String(), "launches") {
			t.Errorf("%v", report)
		}
		live := d.Stats().LiveBytes
		allocs := testing.AllocsPerRun(20, func() {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		})
		if sel != "cpu" && allocs > 0 { // host kernels start goroutines
			t.Errorf("%s: %v allocations per run", sel, allocs)
		}
		if now := d.Stats().LiveBytes; now != live {
			t.Errorf("%s: %d bytes live after runs, %d before", sel, now, live)
		}
		rec.Free()
		back := func() bool {
			for range 50 {
				runtime.GC()
				if s := d.Stats(); s.LiveBytes <= start.LiveBytes && s.Kernels <= start.Kernels {
					return true
				}
			}
			return false
		}
		tr.loss.Free()
		tr.loss = nil
		if !back() {
			t.Errorf("%s, freed: %d bytes and %d kernels, before: %d and %d", sel, d.Stats().LiveBytes, d.Stats().Kernels, start.LiveBytes, start.Kernels)
		}
		func() {
			lost, err := replay.Record(d, tr.step, sameBits)
			if err != nil || lost.Run() != nil {
				t.Fatal(err)
			}
			tr.loss = nil
		}()
		if !back() {
			t.Errorf("%s, lost: %d bytes and %d kernels, before: %d and %d", sel, d.Stats().LiveBytes, d.Stats().Kernels, start.LiveBytes, start.Kernels)
		}
	}
}

// TestSeveral: recordings for batches of several shapes share parameters and an optimizer.
func TestSeveral(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		train := func(recorded bool) []float64 {
			w := autograd.Param(tensor.Full(d, 0.5, 2, 1), "w")
			opt := optim.NewAdamW([]*autograd.Node{w}, optim.AdamWDefaults(optim.Exponential(0.1, 0.9)))
			var steps []func() error
			for _, n := range []int{4, 9} {
				x := tensor.NewRNG(uint64(n)).Uniform(d, -1, 1, n, 2)
				step := func() ([]*tensor.Tensor, error) {
					loss := autograd.Const(x).MatMul(w).Square().Mean()
					if err := loss.Backward(); err != nil {
						return nil, err
					}
					err := opt.Step()
					opt.ZeroGrad()
					return nil, err
				}
				if !recorded {
					steps = append(steps, func() error { _, err := step(); return err })
					for range 2 {
						if err := steps[len(steps)-1](); err != nil {
							t.Fatal(err)
						}
					}
					continue
				}
				rec, err := replay.Record(d, step)
				if err != nil {
					t.Fatal(err)
				}
				steps = append(steps, rec.Run)
			}
			for i := range 9 {
				if err := steps[i%4%2](); err != nil {
					t.Fatal(err)
				}
			}
			v, err := w.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return append(v, float64(opt.Steps()), opt.LR())
		}
		got, want := train(true), train(false)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// TestOrderOfOwners: owners are advanced in the order of the step, also where they take turns, and
// each argument has the number of its turn.
func TestOrderOfOwners(t *testing.T) {
	d := devtest.CPU(t)
	state := 1.0 // of both
	grow := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { state += 3; numbers[0] = kernels.FloatArg(state); return nil })
	double := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { state *= 2; numbers[0] = kernels.FloatArg(state); return nil })
	step := func() ([]*tensor.Tensor, error) {
		var out []*tensor.Tensor
		for _, s := range []*kernels.StepScalars{double, grow, grow, double} {
			if err := s.Next(); err != nil {
				return nil, err
			}
			out = append(out, tensor.ScalarFromArg(d, s.Arg(0)))
		}
		return out, nil
	}
	var want string
	for range 5 {
		out, _ := step()
		want = bits(t, out)
	}
	end := state
	state = 1
	rec, err := replay.Record(d, step)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if got := bits(t, rec.Outputs()); got != want || state != end {
		t.Errorf("%s, the state is %v; want %s, %v", got, state, want, end)
	}
}

// TestFailureWhileRecording: a device that fails in the step, which does not notice, is an error,
// and fails recordings that there were.
func TestFailureWhileRecording(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue // nothing fails there
		}
		d, err := tensor.Open(sel)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		x := devtest.New(d, []float64{1})
		before, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return one(x.Exp()) })
		if err != nil {
			t.Fatal(err)
		}
		broken := &kernels.Kernel{Name: "k_broken", Text: "kernel void k_broken(int n) { syntax }", Grid: kernels.GridFromArg(0),
			Params: []kernels.Param{{Name: "n", Mode: kernels.IntParam}}}
		_, err = replay.Record(d, func() ([]*tensor.Tensor, error) { tensor.Launch(d, broken, kernels.IntArg(1)); return nil, nil })
		if err == nil || !errors.Is(err, d.Err()) || !strings.Contains(err.Error(), "k_broken") {
			t.Errorf("err = %v", err)
		}
		if err := before.Run(); !errors.Is(err, d.Err()) {
			t.Errorf("a run after that: %v", err)
		}
	}
}

// TestConstantBytes: what a step uploads and only reads takes no planned memory.
func TestConstantBytes(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 10000)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return one(x.Add(devtest.New(d, make([]float64, 10000)))) })
	if err != nil {
		t.Fatal(err)
	}
	if r := rec.Report(); r.ConstantBytes != 80000 || r.PlannedBytes > 1024 {
		t.Errorf("%v", r)
	}
}

// TestStepScalarsAdvancedOutside: numbers that the caller advances between runs are taken as they are
// then.
func TestStepScalarsAdvancedOutside(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		v := 0.0
		scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { v++; numbers[0] = kernels.FloatArg(v); return nil })
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return one(tensor.ScalarFromArg(d, scalars.Arg(0))) })
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []float64{0, 1, 2} {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			if got, err := rec.Outputs()[0].Item(); err != nil || got != want {
				t.Errorf("%v, want %v (%v)", got, want, err)
			}
			if err := scalars.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestConstantsInTurn: each launch reads what the step had uploaded by then, to tensors that
// launches write and to others.
func TestConstantsInTurn(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			x := devtest.New(d, []float64{1, 2, 3})
			tensor.Upload(x.Slice(0, 2, 3), []float64{4})
			first := x.MulScalar(2)
			tensor.Upload(x.Slice(0, 0, 2), []float64{10, 20})
			second := x.MulScalar(3)
			tensor.Upload(x, []float64{5, 6, 7})
			return []*tensor.Tensor{first, second, x.Neg()}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		for run := range 3 {
			for i, want := range [][]float64{{2, 4, 8}, {30, 60, 12}, {-5, -6, -7}} {
				if got, err := rec.Outputs()[i].Float64s(); err != nil || !slices.Equal(got, want) {
					t.Errorf("after %d runs, output %d is %v, want %v (%v)", run, i, got, want, err)
				}
			}
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
