//go:build opencl && cgo

package clrt

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

const add = `kernel void k_add_to(global float *x, int off, float by, int n) {
	int i = get_global_id(0);
	if (i < n) x[off + i] += by;
}`

// TestPrepared: a list of launches runs in order, with the arguments that were set last; one
// without work-items is skipped; the profile and the counters see each. A refused launch is named,
// and those before it ran.
func TestPrepared(t *testing.T) {
	for _, profile := range []bool{false, true} {
		d := open(t, Options{Profile: profile})
		b, err := d.Alloc(16)
		if err != nil {
			t.Fatal(err)
		}
		x := []float32{1, 2, 3, 4}
		if err := d.Write(b, 0, unsafe.Pointer(&x[0]), 16); err != nil {
			t.Fatal(err)
		}
		adds, err := d.Kernel(Source{Name: "add.cl", Text: add, Options: ""}, "k_add_to")
		if err != nil {
			t.Fatal(err)
		}
		squares, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=1"}, "k_square")
		if err != nil {
			t.Fatal(err)
		}
		p := d.Prepare()
		if err := p.Run(); err != nil {
			t.Errorf("nothing to run: %v", err)
		}
		place := func(k *Kernel, args ...Arg) int {
			t.Helper()
			at, err := p.Add(k, []int{4}, []int{4}, args, 16)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		first := place(adds, BufferArg(b), IntArg(0), FloatArg(100), IntArg(4))
		place(squares, BufferArg(b), IntArg(1), IntArg(2))
		last := place(adds, BufferArg(b), IntArg(2), FloatArg(0.5), IntArg(2))
		by := p.Change(first, 2)
		check := func(want ...float32) {
			t.Helper()
			if err := d.Read(b, 0, unsafe.Pointer(&x[0]), 16); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(x, want) {
				t.Errorf("got %v, want %v", x, want)
			}
		}
		p.Set(by, FloatArg(1))
		if err := p.Run(); err != nil {
			t.Fatal(err)
		}
		check(2, 9, 16.5, 5.5)
		p.Set(by, FloatArg(-2))
		p.SetGrid(last, nil, nil)
		if err := p.Run(); err != nil {
			t.Fatal(err)
		}
		check(0, 49, 210.25, 3.5)
		if n := d.Stats().Launches; n != 5 {
			t.Errorf("%d launches counted, want 5", n)
		}
		times, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		calls := map[string]int64{}
		for _, k := range times {
			calls[k.Name] = k.Calls
		}
		if want := map[string]int64{"k_add_to": 3, "k_square": 2}; profile && !reflect.DeepEqual(calls, want) {
			t.Errorf("profiled %v, want %v", calls, want)
		}
		if err := p.Loop(3); err != nil || d.Stats().Launches != 5 {
			t.Errorf("a loop: %v, %d launches counted", err, d.Stats().Launches)
		}
		p.SetGrid(last, []int{1 << 20}, []int{1 << 20}) // more work-items than a group has
		p.Set(by, FloatArg(0))
		err = p.Run()
		var e *Error
		if !errors.As(err, &e) || e.Call != "launch k_add_to" || !strings.Contains(e.Detail, "launch 2 of a recording") {
			t.Errorf("a refused launch: %v", err)
		}

		kernels := d.Stats().Kernels
		p.Free()
		p.Free()
		if n := d.Stats().Kernels; kernels-n != 3 {
			t.Errorf("%d kernels given back, want 3", kernels-n)
		}
		if _, err := p.Add(adds, []int{4}, []int{4}, make([]Arg, maxArgs+1), 0); err == nil {
			t.Error("more arguments than a launch takes were accepted")
		}
		if _, err := p.Add(adds, []int{4}, []int{4}, []Arg{IntArg(1), IntArg(1), IntArg(1), {size: 99}}, 0); err == nil || !strings.Contains(err.Error(), "argument") {
			t.Errorf("a wrong argument: %v", err)
		}
		if err := p.Run(); err != nil {
			t.Errorf("a run without those that were refused: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"run": p.Run(), "loop": p.Loop(1), "add": second(p.Add(adds, nil, nil, nil, 0))} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s of a closed device: %v", what, err)
			}
		}
		p.Free()
	}
}

func second(_ int, err error) error { return err }

// TestPrepareWhileClosing: a launch that is prepared while the device is closed is refused for that.
func TestPrepareWhileClosing(t *testing.T) {
	for range 20 {
		d := open(t, Options{})
		k, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2"}, "k_square")
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Alloc(8)
		if err != nil {
			t.Fatal(err)
		}
		var adding sync.WaitGroup
		added := make(chan bool, 4)
		for range 4 {
			adding.Go(func() {
				p := d.Prepare()
				for i := 0; ; i++ {
					if _, err := p.Add(k, []int{2}, []int{2}, []Arg{BufferArg(b), IntArg(0), IntArg(2)}, 16); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
					if i == 10 {
						added <- true
					}
				}
			})
		}
		<-added
		d.Close()
		adding.Wait()
	}
}

// TestAbsentKernel: a program without the kernel that is asked for is not kept.
func TestAbsentKernel(t *testing.T) {
	d := open(t, Options{})
	for i := range 3 {
		if _, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: fmt.Sprintf("-DFACTOR=%d", i+7)}, "absent"); err == nil {
			t.Fatal("there is a kernel called absent")
		}
	}
	if len(d.programs) != 0 {
		t.Errorf("%d programs are kept", len(d.programs))
	}
}
