package tensor

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/clgrad/clgrad/internal/mempool"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// goDevice runs the kernels' host kernels on host memory.
type goDevice struct {
	base
	float   kernels.DType // the default type, and of launches that have no buffer of floats
	target  kernels.Target
	pool    *mempool.Pool[[]float64]
	stats   Stats
	profile map[string]*KernelTime // nil unless profiling
}

// goBuffer is memory of a goDevice. Its Mem is what host kernels see. The pool hands out []float64 so that
// every element type is aligned.
type goBuffer struct {
	kernels.HostBuffer
	owned
	dev   *goDevice // nil once released
	block *mempool.Block[[]float64]
}

func newGoDevice(opt Options) *goDevice {
	d := &goDevice{float: opt.DefaultType}
	// Results depend on the threads, and Go may change GOMAXPROCS at run time: as it is at Open.
	d.target = kernels.Target{CPU: true, Units: runtime.GOMAXPROCS(0), MaxGroup: math.MaxInt32}
	d.factors, d.number = opt.Precision, opened.Add(1)
	d.timeline = newTimeline(opt.Timeline)
	if opt.Profile || opt.Timeline {
		d.profile = map[string]*KernelTime{}
	}
	d.pool = mempool.New(func(nbytes int) ([]float64, error) { return make([]float64, (nbytes+7)/8), nil }, func([]float64) {})
	return d
}

func (d *goDevice) Name() string {
	return fmt.Sprintf("cpu (Go, %d threads)", d.target.Units)
}

// String returns the name.
func (d *goDevice) String() string { return d.Name() }

func (d *goDevice) DefaultType() Type { return d.float }

func (d *goDevice) Supports(typ Type) bool { return typ.Valid() }

func (d *goDevice) Target() kernels.Target { return d.target }

func (d *goDevice) Alloc(t kernels.DType, n int) (kernels.Buffer, error) {
	return d.allocate("Alloc", t, n)
}

func (d *goDevice) allocate(op string, t kernels.DType, n int) (kernels.Buffer, error) {
	d.enter(op)
	defer d.leave()
	if d.memory.due(d.pool.Live()) {
		d.memory.collect(d.pool.Live)
	}
	size, err := bytesOf(d, t, n)
	if err != nil {
		return nil, err
	}
	if err := d.refused(size); err != nil {
		return nil, err
	}
	block, err := d.pool.Get(size)
	if err != nil { // the pool is closed
		return nil, errClosed
	}
	b := &goBuffer{HostBuffer: *kernels.ViewAs(t, block.Memory, n), dev: d, block: block}
	if recordings.Load() > 0 {
		d.notifyAlloc(d, b)
	}
	return b, nil
}

func (d *goDevice) Release(b kernels.Buffer) {
	g := b.(*goBuffer)
	if recordings.Load() > 0 {
		d.notifyRelease(b)
	}
	d.pool.Put(g.block)
	g.dev, g.block = nil, nil
}

func (d *goDevice) owns(b kernels.Buffer) bool {
	g, ok := b.(*goBuffer)
	return ok && g.dev == d
}

func (d *goDevice) Upload(dst kernels.Buffer, off int, src *kernels.HostBuffer) error {
	d.enter("Upload")
	defer d.leave()
	mustOwn("Upload", d, dst)
	if err := d.Err(); err != nil {
		return err
	}
	if recordings.Load() > 0 {
		d.notifyUpload(d, dst, off, src)
	}
	kernels.CopyHostBuffer(&dst.(*goBuffer).HostBuffer, off, src, 0, src.Len())
	d.stats.Uploads++
	d.stats.UploadBytes += int64(src.Len() * src.DType().Size())
	return nil
}

func (d *goDevice) Download(dst *kernels.HostBuffer, src kernels.Buffer, off int) error {
	d.enter("Download")
	defer d.leave()
	mustOwn("Download", d, src)
	if err := d.Err(); err != nil {
		return err
	}
	if recordings.Load() > 0 {
		d.notifyRead(d, "Download", []int{dst.Len()})
	}
	kernels.CopyHostBuffer(dst, 0, &src.(*goBuffer).HostBuffer, off, dst.Len())
	d.stats.Downloads++
	d.stats.DownloadBytes += int64(dst.Len() * dst.DType().Size())
	return nil
}

func (d *goDevice) gridOf(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) kernels.Grid {
	needHost(k, float)
	return k.Grid(args, d.target)
}

func (d *goDevice) launch(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	needHost(k, float)
	if grid := k.Grid(args, d.target); slices.Contains(grid.Global[:grid.Dims], 0) { // as Empty, without a copy
		return
	}
	onHost(args)
	d.run(k, float, args)
}

// onHost makes the buffers of arguments what host kernels see of them.
func onHost(args []kernels.Arg) {
	for i := range args {
		if b, ok := args[i].Buf.(*goBuffer); ok {
			args[i].Buf = &b.HostBuffer
		}
	}
}

// run runs the host kernel of k for floats of a type.
func (d *goDevice) run(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	var start time.Time
	if d.profile != nil {
		start = time.Now()
	}
	k.RunVectors(float, args)
	d.stats.Launches++
	if d.profile != nil {
		t := d.profile[k.Name]
		if t == nil {
			t = &KernelTime{Name: k.Name}
			d.profile[k.Name] = t
		}
		took, bytes := time.Since(start), movedBytes(k, args)
		t.Calls++
		t.Total += took
		t.Bytes += bytes
		if line := d.timeline; line != nil {
			line.add(&line.launches, timedEvent{k.Name, line.label, start.Sub(line.begin), took, bytes})
		}
	}
}

func (d *goDevice) matrixUnits(ops.Inner) bool { return false }

func (d *goDevice) Flush() {}

func (d *goDevice) Sync() error { return d.Err() }

func (d *goDevice) Stats() Stats {
	s := d.stats
	s.Collections = d.memory.runs
	s.LiveBytes, s.HeldBytes, s.PeakBytes = d.pool.Bytes()
	return s
}

func (d *goDevice) Profile() ([]KernelTime, error) {
	times := make([]KernelTime, 0, len(d.profile))
	for _, t := range d.profile {
		times = append(times, *t)
	}
	return longestFirst(times), d.Err()
}

func (d *goDevice) timed() ([]timedEvent, error) { return d.timeline.launches, d.Err() }

func (d *goDevice) Close() error {
	if err := Try(func() { d.enter("Close") }); err != nil {
		return err
	}
	defer d.leave()
	d.fail(errClosed)
	d.pool.Close()
	return nil
}

func longestFirst(times []KernelTime) []KernelTime {
	slices.SortFunc(times, func(a, b KernelTime) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return times
}
