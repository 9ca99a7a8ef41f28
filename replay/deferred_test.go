package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// builtKernels lists the kernels that a device builds.
type builtKernels struct{ names []string }

func (b *builtKernels) Building(kernel string) { b.names = append(b.names, kernel) }
func (b *builtKernels) Built()                 {}

// TestRecordBuildsWhatItLaunches: Record builds no kernel that only the step launches.
func TestRecordBuildsWhatItLaunches(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue // builds nothing
		}
		var built builtKernels
		d := devtest.Open(t, sel, tensor.Options{Builds: &built})
		x, y := devtest.New(d, []float64{1, 2, 3}), tensor.Zeros(d, 3)
		step := func() ([]*tensor.Tensor, error) {
			y.SetInPlace(x.AddScalar(1).Square().Add(y))
			return nil, nil
		}
		built.names = nil
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if len(built.names) != 1 {
			t.Errorf("%s: one launch, and %q were built", sel, built.names)
		}
		same(t, y, 8, 18, 32) // two steps
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		same(t, y, 12, 27, 48)
	}
}

func same(t *testing.T, x *tensor.Tensor, want ...float64) {
	t.Helper()
	if got, err := x.Float64s(); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestRefusedStepIsDone: a step that cannot be recorded has done what it did eagerly, in order: with
// constants, memory that it uses again, tensors that it frees, and numbers that change.
func TestRefusedStepIsDone(t *testing.T) {
	stop := errors.New("stop")
	var seen [][]float64 // by the step
	for name, end := range map[string]func(run int, x *tensor.Tensor) error{
		"reads": func(_ int, x *tensor.Tensor) error {
			v, err := x.Float64s()
			seen = append(seen, v)
			return err
		},
		"reads what is new": func(_ int, x *tensor.Tensor) error {
			_, err := tensor.Empty(x.Device(), 3).Float64s()
			return err
		},
		"reads later": func(run int, x *tensor.Tensor) error { return when(run == 2, func() { _, _ = x.Float64s() }) },
		"fails":       func(int, *tensor.Tensor) error { return stop },
		"fails later": func(run int, x *tensor.Tensor) error {
			if run == 2 {
				return stop
			}
			return nil
		},
		"differs":         func(run int, x *tensor.Tensor) error { return when(run == 2, func() { x.Exp().Free() }) },
		"panics":          func(int, *tensor.Tensor) error { panic(stop) },
		"is another size": func(run int, x *tensor.Tensor) error { x.Slice(0, 0, run).Exp().Free(); return nil },
		"reads unwritten": func(_ int, x *tensor.Tensor) error { tensor.Empty(x.Device(), 3).Exp().Free(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				type program struct {
					w, count, old *tensor.Tensor
					runs          int
				}
				make := func() (*program, func() ([]*tensor.Tensor, error)) {
					w, old := devtest.New(d, []float64{1, 2, 3}), devtest.New(d, []float64{5, 6, 7})
					p := &program{w: w, count: tensor.Zeros(d, 3), old: old}
					rng := tensor.NewRNG(1)
					return p, func() ([]*tensor.Tensor, error) {
						p.runs++
						rate := rng.Uniform(d, 0, 1, 3)
						for i := range 4 {
							c := devtest.New(d, []float64{float64(i), 1, 2}) // in the memory of the one before
							sum := c.Mul(rate)
							c.Free()
							p.w.SetInPlace(p.w.Add(sum))
							sum.Free()
						}
						if p.runs == 1 {
							p.count.SetInPlace(p.count.Add(p.old))
							p.old.Free()
						} else {
							p.count.SetInPlace(p.count.Add(devtest.New(d, []float64{1, 1, 1})))
						}
						rate.Free()
						return nil, end(p.runs, p.w)
					}
				}
				eager, step := make()
				recorded, other := make()
				var rec *replay.Recording
				seen = nil
				panicked := panics(func() { rec, _ = replay.Record(d, other) })
				read := seen
				seen = nil
				if rec != nil {
					t.Fatal("it was recorded")
				}
				for range recorded.runs {
					if panics(func() { _, _ = step() }) != panicked {
						t.Errorf("Record panicked: %v", panicked)
					}
				}
				if fmt.Sprint(read) != fmt.Sprint(seen) {
					t.Errorf("the step read %v, eagerly %v", read, seen)
				}
				for _, pair := range [][2]*tensor.Tensor{{recorded.w, eager.w}, {recorded.count, eager.count}} {
					v, err := pair[1].Float64s()
					if err != nil {
						t.Fatal(err)
					}
					same(t, pair[0], v...)
				}
			})
		})
	}
}

// panics calls f and reports whether it panicked.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// when calls f if it is to.
func when(is bool, f func()) error {
	if is {
		f()
	}
	return nil
}

// TestRecordLeavesTheGradient: what the two steps of Record leave beside outputs is there: gradients,
// moments and the steps of an optimizer.
func TestRecordLeavesTheGradient(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		make := func() (*autograd.Node, func() ([]*tensor.Tensor, error)) {
			w := autograd.Param(devtest.New(d, []float64{1, -2, 3}), "w")
			opt := optim.NewAdamW([]*autograd.Node{w}, optim.AdamWDefaults(optim.Constant(0.01)))
			return w, func() ([]*tensor.Tensor, error) {
				opt.ZeroGrad()
				loss := w.Square().Sum()
				if err := loss.Backward(); err != nil {
					return nil, err
				}
				return []*tensor.Tensor{loss.Value()}, opt.Step()
			}
		}
		w, step := make()
		var loss []*tensor.Tensor
		for range 2 {
			var err error
			if loss, err = step(); err != nil {
				t.Fatal(err)
			}
		}
		other, recorded := make()
		rec, err := replay.Record(d, recorded)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		for i, pair := range [][2]*tensor.Tensor{
			{other.Value(), w.Value()}, {other.Grad(), w.Grad()}, {rec.Outputs()[0], loss[0]},
		} {
			want, err := pair[1].Float64s()
			if err != nil {
				t.Fatal(i, err)
			}
			same(t, pair[0], want...)
		}
	})
}

// TestRecordLeavesMemory: memory that the step allocates itself, and the program keeps, is there after
// Record.
func TestRecordLeavesMemory(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		var kept []kernels.Buffer
		x := devtest.New(d, []float64{1, 2, 3})
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			b, err := d.Alloc(kernels.Float32, 3)
			if err != nil {
				return nil, err
			}
			kept = append(kept, b)
			return one(x.Square())
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		want := []float32{4, 5, 6}
		for _, b := range kept {
			if err := d.Upload(b, 0, kernels.HostBufferOf(want)); err != nil {
				t.Fatal(err)
			}
			got := make([]float32, 3)
			if err := d.Download(kernels.HostBufferOf(got), b, 0); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v", got, err)
			}
			d.Release(b)
		}
	})
}

// TestAllocatedMemoryWritten: a run writes memory that the step allocated itself, in its second run, and the program
// keeps.
func TestAllocatedMemoryWritten(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		k := rowsOfUser("2")
		x := devtest.New(d, []float64{1, 2, 3, 4})
		var kept []kernels.Buffer
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			b, err := d.Alloc(kernels.Float32, 4)
			if err != nil {
				return nil, err
			}
			kept = append(kept, b)
			tensor.Launch(d, k, x.Arg(), kernels.BufferArg(b, 0, 4), kernels.IntArg(4))
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		x.FillInPlace(7)
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, 4)
		if err := d.Download(kernels.HostBufferOf(got), kept[1], 0); err != nil ||
			!slices.Equal(got, []float32{14, 14, 14, 14}) {
			t.Errorf("got %v, %v", got, err)
		}
		for _, b := range kept {
			d.Release(b)
		}
	})
}

// TestRecordRefusesALaunch: a launch that the device refuses is refused where the step asks for it, which
// may do something else then.
func TestRecordRefusesALaunch(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		k := &kernels.Kernel{Name: "k_refused", Text: `// @depends: common
kernel void k_refused(OUT(Y), int n) { if (get_global_id(0) < n) Y[Y_off + get_global_id(0)] = 7; }`,
			Params: []kernels.Param{{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
			Grid:   func([]kernels.Arg, kernels.Target) kernels.Grid { panic("n is too large") }}
		w := tensor.Zeros(d, 3)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			y := tensor.Empty(d, 3)
			if !panics(func() { tensor.Launch(d, k, y.Arg(), kernels.IntArg(4)) }) {
				t.Error("it was launched")
			}
			w.SetInPlace(w.AddScalar(1))
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		same(t, w, 3, 3, 3)
	})
}

// waits is a BuildListener that calls a function at the first kernel.
type waits struct{ f func() }

func (w *waits) Building(string) {
	if f := w.f; f != nil {
		w.f = nil
		f()
	}
}
func (w *waits) Built() {}

// TestFreeWhileStepIsDone: what another goroutine frees while launches that waited are done is there
// until then.
func TestFreeWhileStepIsDone(t *testing.T) {
	for _, sel := range devtest.Selected() {
		var build waits
		d := devtest.Open(t, sel, tensor.Options{Builds: &build})
		x, w := devtest.New(d, []float64{1, 2, 3}), tensor.Zeros(d, 3)
		used, freed := make(chan bool), make(chan bool)
		go func() {
			<-used
			x.Free()
			close(freed)
		}()
		_, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			build.f = func() { <-freed }
			w.SetInPlace(w.Tanh().Exp().Add(x))
			close(used)
			if sel == "cpu" {
				<-freed
			}
			v, err := w.Float64s()
			if want := []float64{2, 3, 4}; !slices.Equal(v, want) {
				t.Errorf("%s: got %v", sel, v)
			}
			return nil, err
		})
		if !errors.Is(err, replay.ErrHostRead) {
			t.Errorf("%s: %v", sel, err)
		}
		same(t, w, 2, 3, 4)
	}
}

// TestReleasedMemory: memory that was released, or that a recorded step made, is refused.
func TestReleasedMemory(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2, 3})
		var made kernels.Arg
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			y := x.AddScalar(1)
			made = y.Arg()
			sum := y.Sum()
			y.Free()
			return one(sum)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		host := kernels.NewHostBuffer(made.Buf.DType(), 3)
		refused(t, "Upload", tensor.Try(func() { _ = d.Upload(made.Buf, 0, host) }), tensor.ErrDevice, "released")
		refused(t, "Download", tensor.Try(func() { _ = d.Download(host, made.Buf, 0) }), tensor.ErrDevice, "released")
	})
}
