package replay_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestClosedDevice: the recordings of a device that was closed say so, whatever they were at, and
// release nothing twice.
func TestClosedDevice(t *testing.T) {
	for _, sel := range devtest.Selected() {
		devtest.Open(t, sel, tensor.Options{}) // it keeps the driver from ending with the device
		d, err := tensor.Open(sel)
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.Full(d, 1, 64)
		step := func() ([]*tensor.Tensor, error) { return one(x.Exp().MulScalar(0.1).Sum()) }
		var recs []*replay.Recording
		for range 3 {
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			recs = append(recs, rec)
			for range 50 {
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: Close: %v", sel, err)
		}
		err = recs[0].Run()
		if !errors.Is(err, tensor.ErrClosed) || !strings.Contains(err.Error(), "replay: Run: ") {
			t.Errorf("%s: Run: err = %v, want ErrClosed", sel, err)
		}
		if _, err := recs[0].Outputs()[0].Item(); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s: an output: err = %v, want ErrClosed", sel, err)
		}
		if _, err := replay.Record(d, step); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s: Record: err = %v, want ErrClosed", sel, err)
		}
		recs[0].Free()
		recs[0].Free()
		if err := recs[0].Run(); !errors.Is(err, replay.ErrReleased) {
			t.Errorf("%s: Run of one that was freed: err = %v, want ErrReleased", sel, err)
		}
		recs = nil // the garbage collector has the others
		x = nil
		for range 3 {
			runtime.GC()
		}
		if s := d.Stats(); s.LiveBytes != 0 {
			t.Errorf("%s: %d bytes live", sel, s.LiveBytes)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: Close again: %v", sel, err)
		}
	}
}

// TestRecordOfGoroutines: while one goroutine records, what another begins on the device is
// refused, and the recording is good; a recording that runs cannot be freed by another.
func TestRecordOfGoroutines(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Full(d, 3, 2)
	step := func() ([]*tensor.Tensor, error) { return one(x.Square()) }
	var rec *replay.Recording
	elsewhere := func(f func() error) error {
		met := make(chan error)
		go func() {
			var err error
			if misuse := tensor.Try(func() { err = f() }); misuse != nil {
				err = misuse
			}
			met <- err
		}()
		return <-met
	}
	var err error
	rec, err = replay.Record(d, func() ([]*tensor.Tensor, error) {
		for name, f := range map[string]func() error{
			"Add":    func() error { x.Add(x); return nil },
			"Record": func() error { _, err := replay.Record(d, step); return err },
			"Close":  d.Close,
		} {
			if err := elsewhere(f); !errors.Is(err, tensor.ErrGoroutine) {
				t.Errorf("%s by another goroutine: err = %v, want ErrGoroutine", name, err)
			}
		}
		return step()
	})
	if err != nil || rec.Run() != nil {
		t.Fatal(err)
	}
	var met []error
	k := &kernels.Kernel{Name: "k_none", Params: []kernels.Param{{Name: "n", Mode: kernels.IntParam}},
		Host: kernels.HostKernel{F64: func(kernels.HostArgs[float64]) {
			if rec != nil { // it runs
				met = append(met, elsewhere(func() error { rec.Free(); return nil }), elsewhere(rec.Run))
			}
		}},
		Grid: func([]kernels.Arg, kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{1}, Local: [3]int{1}}
		}}
	rec = nil
	own, err := replay.Record(d, func() ([]*tensor.Tensor, error) { tensor.Launch(d, k, kernels.IntArg(1)); return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	rec = own
	if err := rec.Run(); err != nil || len(met) != 2 || !errors.Is(met[0], tensor.ErrGoroutine) || !errors.Is(met[1], tensor.ErrGoroutine) {
		t.Errorf("Run: %v; Free and Run of another goroutine meanwhile: %v, want ErrGoroutine", err, met)
	}
	rec.Free()
}
