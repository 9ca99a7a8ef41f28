package tensor

import (
	"fmt"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/goroutine"
	"github.com/clgrad/clgrad/internal/recorder"
	"github.com/clgrad/clgrad/kernels"
)

// recordings is how many steps are being recorded, on any device. Launches look at it first, and mostly no further.
var recordings = &recorder.Recordings

func init() { recorder.Own = ownTap }

// ownTap returns the tap of the step that the calling goroutine records, nil if there is none.
func ownTap() recorder.Tap {
	caller := goroutine.ID()
	taps.Lock()
	defer taps.Unlock()
	for _, t := range taps.on {
		if t.goroutine == caller {
			return t
		}
	}
	return nil
}

// taps are those of the steps that are being recorded. A step may use one device alone: the others ask here whether it
// is the step that uses them.
var taps struct {
	sync.Mutex
	on []*tapped
}

// tapped is the tap of a device.
type tapped struct {
	recorder.Tap
	goroutine uintptr // that records
	quiet     bool    // what is read on the host is read again before each replay
}

// told returns the tap of a device for what op tells it, nil if there is none. What another goroutine does on the
// device, and what the step does on another, is no part of a recording.
func (s *base) told(d Device, op string) *tapped {
	mine := s.tap.Load()
	if mine != nil && mine.goroutine == goroutine.ID() {
		return mine
	}
	if mine != nil {
		mine.Refuse(ErrGoroutine, op+" was called by another goroutine on the device meanwhile")
		return nil
	}
	caller := goroutine.ID()
	taps.Lock()
	defer taps.Unlock()
	for _, t := range taps.on {
		if t.goroutine == caller {
			t.Refuse(ErrDevice, fmt.Sprintf("%s inside the step is on %s", op, d.Name()))
		}
	}
	return nil
}

func (s *base) tellLaunch(d Device, k *kernels.Kernel) {
	if t := s.told(d, "a launch of "+k.Name); t != nil {
		t.Launch(k, s.args)
	}
}

func (s *base) tellAlloc(d Device, b kernels.Buffer) {
	if t := s.told(d, "an allocation"); t != nil {
		t.Alloc(b)
	}
}

// tellRelease tells who is asked, whichever goroutine releases: memory comes back from any.
func (s *base) tellRelease(b kernels.Buffer) {
	if t := s.tap.Load(); t != nil {
		t.Release(b)
	}
}

func (s *base) tellUpload(d Device, b kernels.Buffer, off int, src *kernels.Mem) {
	if t := s.told(d, "an upload"); t != nil && src.Len() > 0 {
		t.Upload(b, off, src)
	}
}

// Forget is that of package plumbing.
func (s *base) Forget(t *Tensor) {
	if recordings.Load() == 0 || t.st.buf == nil {
		return
	}
	if told := s.told(t.Device(), "a call"); told != nil {
		told.Forget(t.st.buf)
	}
}

// State is that of package plumbing.
func (s *base) State(d Device, key any, make func() recorder.State) recorder.State {
	if told := s.told(d, "a call"); told != nil {
		return told.State(key, make)
	}
	return nil
}

// tellRead tells that op reads elements on the host.
func (s *base) tellRead(d Device, op string, shape []int) {
	if t := s.told(d, op); t != nil && !t.quiet {
		t.Refuse(recorder.ErrHostRead, fmt.Sprintf("%s of a tensor of shape %v", op, shape))
	}
}

// tellIndex tells that op checks indices along an axis of a shape on the host, and reports whether it did so. Indices that
// are inputs of the step are checked again before each replay, for their owner may have set others.
func (s *base) tellIndex(op string, shape []int, axis int, index *Tensor, fromEnd bool) bool {
	d := index.Device()
	t := s.told(d, op)
	if t == nil {
		return false
	}
	if index = s.inputOf(op, index); index == nil {
		return false
	}
	t.quiet = true
	defer func() { t.quiet = false }()
	index.mustBeIndices(op, shape, axis, fromEnd)
	again := *index // it does not keep the indices from being freed
	t.Again(func() error { return Maybe(func() { again.mustBeIndices(op, shape, axis, fromEnd) }) })
	return true
}

// inputOf returns an input of the step that is recorded which tells the range of t's elements before each replay: t, or what t was
// copied from. It is nil if there is none.
func (s *base) inputOf(op string, t *Tensor) *Tensor {
	told := s.told(t.Device(), op)
	switch k := &t.st.ints; {
	case told == nil:
		return nil
	case told.Input(t.st.buf):
		input := *t
		return &input
	case k.known && k.version == t.st.version:
		return k.of
	}
	return nil
}

// tapDevice is a device as package replay sees it.
type tapDevice struct{ Device }

// busy returns why a step cannot be recorded, or replayed, now.
func (d tapDevice) busy(op string) error {
	if d.core().tap.Load() != nil {
		return &Error{Pkg: "replay", Op: op, Kind: recorder.ErrRecording, Detail: "on " + d.Name()}
	}
	return nil
}

func (d tapDevice) Tap(t recorder.Tap) (func(), error) {
	if err := d.busy("Record"); err != nil {
		return nil, err
	}
	s, mine := d.core(), &tapped{Tap: t, goroutine: goroutine.ID()}
	taps.Lock()
	defer taps.Unlock()
	if !s.tap.CompareAndSwap(nil, mine) {
		return nil, d.busy("Record")
	}
	taps.on = append(taps.on, mine)
	recordings.Add(1)
	return func() {
		taps.Lock()
		defer taps.Unlock()
		at := slices.Index(taps.on, mine)
		taps.on = slices.Delete(taps.on, at, at+1)
		recordings.Add(-1)
		s.tap.Store(nil)
	}, nil
}

func (d tapDevice) Claim() error {
	s := d.core()
	if recordings.Load() > 0 {
		if err := d.busy("Run"); err != nil {
			return err
		}
		s.told(d, "a replay")
	}
	err := Maybe(func() { s.enter("Run") })
	if e, ok := err.(*Error); ok {
		e.Pkg = "replay"
	}
	return err
}

func (d tapDevice) Leave() { d.core().leave() }

func (d tapDevice) Prepare(launches []recorder.Launch) (recorder.Program, error) {
	return d.prepare(launches)
}

func (d tapDevice) As(b kernels.Buffer, t kernels.DType) kernels.Buffer { return d.as(b, t) }

func (d tapDevice) Live(b kernels.Buffer) bool { return d.owns(b) }

func (d tapDevice) Memory(b kernels.Buffer) recorder.Memory {
	if s := b.(deviceBuffer).owner(); s != nil {
		return s
	}
	return nil
}

func (d tapDevice) Tensor(t any) recorder.Tensor {
	x := t.(*Tensor)
	return recorder.Tensor{Buffer: x.st.buf, Off: x.off, Strides: x.strides}
}
