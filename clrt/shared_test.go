//go:build opencl && cgo

package clrt

import (
	"sync"
	"testing"
	"unsafe"
)

// doubles returns a launch of square on a device: it doubles the squares of numbers in place.
func doubles(t *testing.T, d *Device) func() {
	t.Helper()
	b, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	k, err := d.Kernel(Source{Name: "square.cl", Text: square, Options: "-DFACTOR=2"}, "k_square")
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		x := [2]float32{3, 4}
		err := d.Write(b, 0, unsafe.Pointer(&x[0]), 8)
		if err == nil {
			err = d.Launch(k, []int{2}, []int{2}, []Arg{BufferArg(b), IntArg(0), IntArg(2)}, 16)
		}
		if err == nil {
			err = d.Read(b, 0, unsafe.Pointer(&x[0]), 8)
		}
		if err != nil || x != [2]float32{18, 32} {
			t.Errorf("%v, %v; want 18, 32", x, err)
		}
	}
}

// TestSharedContext: devices that are open on the same CPU have one context and build a program
// once. It outlives the device that built it, and goes with the last that uses it, or that keeps
// programs. What each counts, and has in memory, is its own.
func TestSharedContext(t *testing.T) {
	first, second := open(t, Options{}), open(t, Options{})
	if first.info.Type != CPU {
		if first.shared == second.shared {
			t.Error("devices of no CPU have one context")
		}
		return
	}
	shared := first.shared
	if second.shared != shared {
		t.Fatal("two contexts")
	}
	doubles(t, first)()
	run := doubles(t, second)
	for _, d := range []*Device{first, second} {
		if s := d.Stats(); s.Programs != 1 || s.Kernels != 1 || s.Uploads != int64(s.Launches) {
			t.Errorf("counters: %+v", s)
		}
	}
	if len(shared.programs) != 1 {
		t.Errorf("%d programs, want 1", len(shared.programs))
	}
	if open(t, Options{Rebuild: true}).Close(); len(shared.programs) != 1 {
		t.Errorf("%d programs, want 1", len(shared.programs))
	}
	var wg sync.WaitGroup
	wg.Go(func() { first.Close() })
	for range 20 {
		run()
	}
	wg.Wait()
	run()
	keeps := open(t, Options{KeepPrograms: true})
	rebuilt := open(t, Options{Rebuild: true})
	doubles(t, rebuilt)()
	rebuilt.Close()
	second.Close()
	if len(shared.programs) != 1 {
		t.Errorf("%d programs are kept, want 1", len(shared.programs))
	}
	third := open(t, Options{})
	doubles(t, third)()
	keeps.Close()
	if len(shared.programs) != 1 {
		t.Errorf("%d programs are in use, want 1", len(shared.programs))
	}
	third.Close()
	if len(shared.programs) != 0 || contexts[shared.id] != nil {
		t.Errorf("%d programs after all is closed, want none, and no context", len(shared.programs))
	}
}

// TestSharedAtOnce: devices that share a context build and launch at once.
func TestSharedAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		d := open(t, Options{})
		wg.Go(func() {
			defer d.Close()
			for range 5 {
				doubles(t, d)()
			}
		})
	}
	wg.Wait()
}
