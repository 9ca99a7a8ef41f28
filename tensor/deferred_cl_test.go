//go:build opencl && cgo

package tensor

import (
	"runtime"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/clrt"
)

// TestDeferral: what a device keeps is done in order where the host reads what it makes, and where
// there is no memory to hand out without a place; otherwise it can be forgotten.
func TestDeferral(t *testing.T) {
	infos, err := clrt.List()
	if err != nil || len(infos) == 0 {
		t.Skip("there is no OpenCL device")
	}
	for name, c := range map[string]struct {
		limit   int64
		end     func(q *deferral, sum *Tensor)
		settled bool
	}{
		"nothing":                   {1 << 20, func(*deferral, *Tensor) {}, false},
		"reads what is kept":        {1 << 20, func(_ *deferral, sum *Tensor) { _, _ = sum.Float64s() }, true},
		"more than there is memory": {20, func(*deferral, *Tensor) {}, true},
		"too much at the end":       {4000, func(_ *deferral, sum *Tensor) { Empty(sum.Device(), 1000).Free() }, true},
		"done":                      {1 << 20, func(q *deferral, _ *Tensor) { q.Do(); q.Do() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Open(infos[0].ID(), Options{Unoptimized: true})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			old := New(d, []float64{1, 2, 3})
			before := d.Stats()
			q := d.(*clDevice).deferAs(d).(*deferral)
			q.limit = c.limit
			d.(*clDevice).inRun(true)
			sum := old.AddScalar(1)
			freed := make(chan bool)
			go func() { // as the garbage collector does
				runtime.LockOSThread()
				old.Free()
				close(freed)
			}()
			<-freed
			for _, v := range []float64{10, 100} {
				x := New(d, []float64{v, v, v})
				next := sum.Add(x)
				x.Free()
				sum.Free()
				sum = next
			}
			c.end(q, sum)
			d.(*clDevice).inRun(false)
			if q.Pending() == c.settled {
				t.Fatalf("pending: %v", q.Pending())
			}
			if c.settled {
				if got, err := sum.Float64s(); err != nil || !slices.Equal(got, []float64{112, 113, 114}) {
					t.Errorf("got %v, %v", got, err)
				}
			} else if now := d.Stats(); now.Launches != before.Launches || now.Uploads != before.Uploads {
				t.Errorf("kept, and %d launches and %d uploads were done", now.Launches-before.Launches, now.Uploads-before.Uploads)
			}
			q.Drop()
			sum.Free()
			if live := d.Stats().LiveBytes; live != before.LiveBytes-512 { // what old had
				t.Errorf("%d bytes are live, %d were before", live, before.LiveBytes)
			}
			fresh := New(d, []float64{1, 2}).AddScalar(1) // the device does what it is asked
			if got, err := fresh.Float64s(); err != nil || !slices.Equal(got, []float64{2, 3}) {
				t.Errorf("afterwards: %v, %v", got, err)
			}
		})
	}
}
