package tensor

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/goroutine"
	"github.com/clgrad/clgrad/kernels"
)

// recordings is how many steps are being recorded, on any device. Launches look at it first, and
// mostly no further.
var recordings = &capture.Recordings

func init() { capture.Own = ownListener }

// ownListener returns the listener of the step that the calling goroutine records, nil if there is
// none.
func ownListener() capture.Listener {
	caller := goroutine.ID()
	listeners.Lock()
	defer listeners.Unlock()
	for _, t := range listeners.on {
		if t.goroutine == caller {
			return t
		}
	}
	return nil
}

// listeners are those of the steps that are being recorded. A step may use one device alone: the
// others ask here whether it is the step that uses them.
var listeners struct {
	sync.Mutex
	on []*activeListener
}

// activeListener is the listener of a device during a recording.
type activeListener struct {
	capture.Listener
	goroutine uintptr // that records
	quiet     bool    // what is read on the host is read again before each replay
}

// listener returns the listener of the device for op; nil if no step is recorded. What another
// goroutine does on the device, and what the step does on another, is no part of a recording.
func (s *base) listener(d Device, op string) *activeListener {
	mine := s.recording.Load()
	if mine != nil && mine.goroutine == goroutine.ID() {
		return mine
	}
	if mine != nil {
		mine.Refuse(ErrGoroutine, op+" was called by another goroutine on the device meanwhile")
		return nil
	}
	if s.unrecorded {
		return nil
	}
	caller := goroutine.ID()
	listeners.Lock()
	defer listeners.Unlock()
	for _, t := range listeners.on {
		if t.goroutine == caller {
			t.Refuse(ErrDevice, fmt.Sprintf("%s inside the step is on %s", op, d.Name()))
		}
	}
	return nil
}

func (s *base) notifyLaunch(d Device, k *kernels.Kernel, args []kernels.Arg) {
	if t := s.listener(d, "a launch of "+k.Name); t != nil {
		t.Launch(k, args)
	}
}

func (s *base) notifyAlloc(d Device, b kernels.Buffer) {
	if t := s.listener(d, "an allocation"); t != nil {
		t.Alloc(b)
	}
}

// notifyRelease calls the listener whichever goroutine releases: memory comes back from any.
func (s *base) notifyRelease(b kernels.Buffer) {
	if t := s.recording.Load(); t != nil {
		t.Release(b)
	}
}

func (s *base) notifyUpload(d Device, b kernels.Buffer, off int, src *kernels.HostBuffer) {
	if t := s.listener(d, "an upload"); t != nil && src.Len() > 0 {
		t.Upload(b, off, src)
	}
}

func (api) Unrecorded(d Device) { d.core().unrecorded = true }

func (api) Forget(t *Tensor) {
	if recordings.Load() == 0 || t.st.buf == nil {
		return
	}
	if l := t.Device().core().listener(t.Device(), "a call"); l != nil {
		l.Forget(t.st.buf)
	}
}

func (api) State(d Device, key any, make func() capture.State) capture.State {
	if recordings.Load() == 0 {
		return nil
	}
	if l := d.core().listener(d, "a call"); l != nil {
		return l.State(key, make)
	}
	return nil
}

// notifyRead says that op reads elements on the host.
func (s *base) notifyRead(d Device, op string, shape []int) {
	if t := s.listener(d, op); t != nil && !t.quiet {
		t.Refuse(capture.ErrHostRead, fmt.Sprintf("%s of a tensor of shape %v: a step only computes; return the tensor, and read "+
			"it after Run", op, shape))
	}
}

// notifyIndex says that op checks indices along an axis of a shape on the host, and reports whether
// it did so. Indices that are inputs of the step are checked again before each replay, for their
// owner may have set others.
func (s *base) notifyIndex(op string, shape []int, axis int, index *Tensor, fromEnd bool) bool {
	d := index.Device()
	t := s.listener(d, op)
	if t == nil {
		return false
	}
	input := s.inputOf(op, index)
	if input == nil {
		least, bound := indexRange(shape[axis], fromEnd)
		if _, _, known := index.knownRange(least, bound); !known {
			t.Refuse(capture.ErrHostRead, fmt.Sprintf("%s of indices that the step computes, which may lie outside of axis %d, "+
				"of %d: limit them with Clamp(0, %d)", op, axis, bound, max(bound-1, 0)))
		}
		return false
	}
	t.quiet = true
	defer func() { t.quiet = false }()
	if t.Input(input.st.buf) {
		index = input
	} // or else the step has changed the input since index was copied from it
	index.mustBeIndices(op, shape, axis, fromEnd)
	again := *input // it does not keep the indices from being freed
	t.Again(func() error { return Try(func() { again.mustBeIndices(op, shape, axis, fromEnd) }) })
	return true
}

// inputOf returns an input of the step that is recorded which gives the range of t's elements
// before each replay: t, or what t was copied from. It is nil if there is none.
func (s *base) inputOf(op string, t *Tensor) *Tensor {
	l := s.listener(t.Device(), op)
	switch k := &t.st.ints; {
	case l == nil:
		return nil
	case l.Input(t.st.buf):
		input := *t
		return &input
	case k.known && k.version == t.st.version:
		return k.of
	}
	return nil
}

// captureDevice is a device as package replay sees it.
type captureDevice struct{ Device }

// busy returns why a step cannot be recorded, or replayed, now.
func (d captureDevice) busy(op string) error {
	if d.core().recording.Load() != nil {
		return &Error{Pkg: "replay", Op: op, Kind: capture.ErrRecording, Detail: "on " + d.Name()}
	}
	return nil
}

func (d captureDevice) Listen(t capture.Listener) (func(), error) {
	if err := d.busy("Record"); err != nil {
		return nil, err
	}
	s, mine := d.core(), &activeListener{Listener: t, goroutine: goroutine.ID()}
	listeners.Lock()
	defer listeners.Unlock()
	if !s.recording.CompareAndSwap(nil, mine) {
		return nil, d.busy("Record")
	}
	listeners.on = append(listeners.on, mine)
	recordings.Add(1)
	dev, defers := d.Device.(deferring)
	if defers {
		dev.inRun(true)
	}
	return func() {
		if defers {
			dev.inRun(false)
		}
		listeners.Lock()
		defer listeners.Unlock()
		at := slices.Index(listeners.on, mine)
		listeners.on = slices.Delete(listeners.on, at, at+1)
		recordings.Add(-1)
		s.recording.Store(nil)
	}, nil
}

func (d captureDevice) Defer() capture.Deferred {
	if dev, can := d.Device.(deferring); can {
		return dev.deferAs(d.Device)
	}
	return nil
}

// deferring is a device that can keep what it is asked, and do it later.
type deferring interface {
	deferAs(dev Device) capture.Deferred
	inRun(begins bool)
}

func (d captureDevice) Claim() error {
	s := d.core()
	if recordings.Load() > 0 {
		if err := d.busy("Run"); err != nil {
			return err
		}
		s.listener(d, "a replay")
	}
	err := Try(func() { s.enter("Run") })
	if e, ok := err.(*Error); ok {
		e.Pkg = "replay"
	} else {
		s.labelled("", "recorded step")
	}
	return err
}

func (d captureDevice) Leave() { d.core().leave() }

func (d captureDevice) Prepare(launches []capture.Launch, built func(kernel string, took time.Duration)) (capture.Program, error) {
	return d.prepare(launches, built)
}

func (d captureDevice) As(b kernels.Buffer, t kernels.DType) kernels.Buffer { return d.as(b, t) }

func (d captureDevice) Live(b kernels.Buffer) bool { return d.owns(b) }

func (d captureDevice) Memory(b kernels.Buffer) capture.Memory {
	if s := b.(deviceBuffer).owner(); s != nil {
		return s
	}
	return nil
}

func (d captureDevice) Tensor(t any) capture.Tensor {
	x := t.(*Tensor)
	return capture.Tensor{Buffer: x.st.buf, Off: x.off, Strides: x.strides}
}
