package tensor_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// toClose opens every device under test for f, which may close it.
func toClose(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) {
			devtest.Open(t, sel, tensor.Options{}) // it keeps the driver from ending with the device
			d, err := tensor.Open(sel)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			f(t, d)
		})
	}
}

// TestCloseInUse: while another goroutine uses a device, Close does nothing but say so. Its own
// goroutine may close it at any time.
func TestCloseInUse(t *testing.T) {
	toClose(t, func(t *testing.T, d tensor.Device) {
		x := tensor.Full(d, 3, 4)
		inUse := func(when string, err error) {
			t.Helper()
			if !errors.Is(err, tensor.ErrGoroutine) || !strings.Contains(err.Error(), "tensor: Close: ") {
				t.Errorf("Close %s: err = %v, want ErrGoroutine", when, err)
			}
		}
		k := &kernels.Kernel{Name: "k_none", Text: "kernel void k_none(int n) {}", Params: []kernels.Param{{Name: "n", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: func(kernels.HostArgs[float32]) {}},
			Grid: func([]kernels.Arg, kernels.Target) kernels.Grid { // which the launch asks for
				closed := make(chan error)
				go func() { closed <- d.Close() }()
				inUse("in a launch", <-closed)
				return kernels.Grid{Dims: 1}
			}}
		tensor.Launch(d, k, kernels.IntArg(1))
		tensor.Scope(d, func() {
			closed := make(chan error)
			go func() { closed <- d.Close() }()
			inUse("in a Scope of another goroutine", <-closed)
		})
		if v, err := x.Sum().Item(); v != 12 || err != nil {
			t.Errorf("the device that was not closed: %v, %v", v, err)
		}
		tensor.Scope(d, func() {
			tensor.Full(d, 1, 2)
			if err := d.Close(); err != nil {
				t.Errorf("Close in a Scope: %v", err)
			}
		})
		if _, err := x.Float64s(); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("a tensor of a closed device: err = %v, want ErrClosed", err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}

// TestCloseAtOnce lets a goroutine compute while another tries to close the device until it can:
// the one has right results, ErrGoroutine or ErrClosed, the other ErrGoroutine.
func TestCloseAtOnce(t *testing.T) {
	toClose(t, func(t *testing.T, d tensor.Device) {
		var both sync.WaitGroup
		begun := make(chan struct{})
		both.Go(func() {
			for i := range 500 {
				if i == 50 {
					close(begun)
				}
				_ = tensor.Try(func() {
					a := tensor.Full(d, 2, 8, 8)
					switch v, err := a.MatMul(a).Float64s(); {
					case errors.Is(err, tensor.ErrClosed):
					case err != nil || v[63] != 32:
						t.Errorf("got %v (err %v)", v, err)
					}
				})
			}
		})
		<-begun
		for {
			err := d.Close()
			if err == nil {
				break
			}
			if !errors.Is(err, tensor.ErrGoroutine) {
				t.Fatal(err)
			}
		}
		both.Wait()
		if !errors.Is(d.Err(), tensor.ErrClosed) {
			t.Errorf("afterwards: %v", d.Err())
		}
	})
}
