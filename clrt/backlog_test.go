//go:build opencl && cgo

package clrt

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

const slow = `kernel void k_slow(global float *x, int off, int rounds) {
	float v = x[off];
	for (int i = 0; i < rounds; i++) v = v * 0.999f + 0.5f;
	x[off] = v;
}`

// resident returns the bytes of memory that the process has.
func resident(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(raw))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestBacklog: the memory of a driver does not grow with the launches of a program that reads
// nothing.
func TestBacklog(t *testing.T) {
	const launches, rounds, most = 12000, 20000, 2 << 20
	d := open(t, Options{})
	b, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	x := []float32{1}
	if err := d.Write(b, 0, unsafe.Pointer(&x[0]), 4); err != nil {
		t.Fatal(err)
	}
	k, err := d.Kernel(Source{Name: "slow.cl", Text: slow}, "k_slow")
	if err != nil {
		t.Fatal(err)
	}
	args := []Arg{BufferArg(b), IntArg(0), IntArg(rounds)}
	p := d.Prepare()
	for range 4 {
		if _, err := p.Add(k, []int{1}, []int{1}, args, 4); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		times int
		f     func() error
	}{
		"Launch":       {launches, func() error { return d.Launch(k, []int{1}, []int{1}, args, 4) }},
		"Prepared.Run": {launches / 4, p.Run},
	} {
		for range 1000 {
			if err := c.f(); err != nil {
				t.Fatal(err)
			}
		}
		before := resident(t)
		for range c.times {
			if err := c.f(); err != nil {
				t.Fatal(err)
			}
		}
		grown := resident(t) - before
		t.Logf("%s: %d bytes more", name, grown)
		if grown > most {
			t.Errorf("%s: %d launches that nobody waited for took %d bytes, at most %d", name, launches, grown, most)
		}
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	}
}
