package tensor_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestThreadsAreFixedAtOpen: what the Go device computes does not change with GOMAXPROCS, which Go
// itself may change while a program runs.
func TestThreadsAreFixedAtOpen(t *testing.T) {
	procs := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(procs)
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, y := tensor.NewRNG(1).Normal(d, 0, 1, 600, 300), tensor.NewRNG(2).Normal(d, 0, 1, 300, 60)
	tall, wide := tensor.NewRNG(3).Normal(d, 0, 1, 20000, 24), tensor.NewRNG(4).Normal(d, 0, 1, 20000, 40)
	long := tensor.NewRNG(5).Normal(d, 0, 1, 40000, 4)
	results := map[string]func() *tensor.Tensor{
		"NN":       func() *tensor.Tensor { return x.MatMul(y) },
		"NT":       func() *tensor.Tensor { return x.MatMul(x.T()) },
		"TN":       func() *tensor.Tensor { return x.T().MatMul(x) },
		"long sum": func() *tensor.Tensor { return tall.T().MatMul(wide) },
		"sum":      func() *tensor.Tensor { return tall.Sum() },
		"columns":  func() *tensor.Tensor { return long.Sum(0) },
		"tanh":     func() *tensor.Tensor { return tensor.Map(fn.Tanh, nil, x) },
	}
	name, want := d.Name(), map[string][]float32{}
	for what, f := range results {
		want[what], _ = f().Float32s()
	}
	if !strings.Contains(name, "3 threads") {
		t.Errorf("%q is not opened for 3 threads", name)
	}
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		if d.Name() != name || d.Target().Units != 3 {
			t.Errorf("with %d threads the device is %q with %d units, was %q", threads, d.Name(), d.Target().Units, name)
		}
		for what, f := range results {
			if got, err := f().Float32s(); err != nil || !slices.Equal(got, want[what]) {
				t.Errorf("%s: other bits with %d threads than with 3 (err %v)", what, threads, err)
			}
		}
	}
}
