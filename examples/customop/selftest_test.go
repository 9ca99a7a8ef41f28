package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestSelfTestOfHosts: a host kernel that is wrong is found, though the same source was tried with a right one
// before, on
// this device or in another process; so is one that is the same function over another value.
func TestSelfTestOfHosts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	scaled := func(by float32) kernels.HostKernel {
		return kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			snakeHost(c)
			for i := range c.Floats(1) {
				c.Floats(1)[i] *= by
			}
		}}
	}
	with := func(host kernels.HostKernel) *kernels.Kernel {
		k := *snake
		k.Host = host
		return &k
	}
	right, same, wrong := with(scaled(1)), with(scaled(1)), with(scaled(2))
	for _, sel := range devices() {
		if sel == "cpu" {
			continue // it is the host kernels
		}
		launch := func(d tensor.Device, k *kernels.Kernel) error {
			const n = 9
			x, y := tensor.Full(d, 2, n), tensor.Empty(d, n)
			tensor.Launch(d, k, x.Arg(), y.Arg(), kernels.IntArg(n), kernels.FloatArg(1.5))
			return d.Sync()
		}
		for _, apart := range []bool{false, true} {
			d := open(t, sel, tensor.Options{})
			for _, k := range []*kernels.Kernel{snake, right, same} {
				if err := launch(d, k); err != nil {
					t.Fatal(err)
				}
			}
			if apart { // what follows is as another process
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				d = open(t, sel, tensor.Options{})
			}
			var differs *tensor.MiscompileError
			if err := launch(d, wrong); !errors.As(err, &differs) || differs.Kernel != "snake" || !strings.Contains(err.Error(), "Either may be wrong") {
				t.Errorf("%s, apart %v: err = %v, want a MiscompileError", sel, apart, err)
			}
		}
	}
}
