package tensor_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestStatsAddUp: transfers and launches are counted, each with its bytes.
func TestStatsAddUp(t *testing.T) {
	devtest.Both(t, func(t *testing.T, d tensor.Device) {
		size, start := int64(d.DefaultType().Size()), d.Stats()
		x := devtest.New(d, make([]float64, 10))
		y := devtest.New(d, make([]float64, 7))
		tensor.Upload(y.Slice(0, 2, 5), []float64{1, 2, 3})
		for _, z := range []*tensor.Tensor{x, y, y.Slice(0, 0, 2)} {
			if _, err := z.Float64s(); err != nil {
				t.Fatal(err)
			}
		}
		x.FillInPlace(1)
		x.FillInPlace(2)
		s := d.Stats()
		got := []int64{s.Uploads - start.Uploads, s.UploadBytes - start.UploadBytes, s.Downloads - start.Downloads, s.DownloadBytes - start.DownloadBytes, s.Launches - start.Launches}
		if want := []int64{3, 20 * size, 3, 19 * size, 2}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("uploads, their bytes, downloads, their bytes, launches: %v, want %v", got, want)
		}
	})
}

// TestProfileAddsUp: a device that measures counts the calls of each kernel and the bytes that
// their arguments declare, and sums their time. One that does not has no time.
func TestProfileAddsUp(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{Profile: true})
		x := tensor.Zeros(d, 1000)
		for n := range 3 {
			tensor.Map(fn.Exp, nil, x.Slice(0, 0, 100*(n+1)))
		}
		tensor.Map(fn.Add, nil, x, x)
		profile, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		calls, bytes := map[string]int64{}, map[string]int64{}
		var last time.Duration
		for i, k := range profile {
			calls[k.Name], bytes[k.Name] = k.Calls, k.Bytes
			if k.Total < 0 || i > 0 && k.Total > last {
				t.Errorf("%s: %s took %v, after one of %v", sel, k.Name, k.Total, last)
			}
			last = k.Total
		}
		if calls["k_exp"] != 3 || bytes["k_exp"] != 2*4*600 || calls["k_add"] != 1 || bytes["k_add"] != 3*4*1000 {
			t.Errorf("%s: calls %v, bytes %v", sel, calls, bytes)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := devtest.Open(t, "cpu", tensor.Options{Profile: true})
		naps := []time.Duration{20 * time.Millisecond, time.Millisecond}
		nap := &kernels.Kernel{Name: "k_nap", Grid: func([]kernels.Arg, kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{1}, Local: [3]int{1}}
		}, Host: kernels.HostKernel{F32: func(kernels.HostArgs[float32]) { time.Sleep(naps[0]); naps = naps[1:] }}}
		tensor.Launch(d, nap)
		tensor.Launch(d, nap)
		if profile, err := d.Profile(); err != nil || profile[0].Name != "k_nap" || profile[0].Calls != 2 || profile[0].Total != 21*time.Millisecond {
			t.Errorf("naps of 20 ms and 1 ms: %v, %v", profile, err)
		}
	})
	d := devtest.CPU(t)
	tensor.Zeros(d, 3)
	if profile, err := d.Profile(); len(profile) != 0 || err != nil {
		t.Errorf("without profiling: %v, %v", profile, err)
	}
}
