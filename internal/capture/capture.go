// Package capture is what package tensor offers package replay: a listener hears what a device does
// during a step, and a program runs prepared launches again. It is internal.
package capture

import (
	"errors"
	"time"

	"github.com/clgrad/clgrad/kernels"
)

// What package replay returns of what package tensor finds.
var (
	ErrHostRead  = errors.New("the step reads on the host")
	ErrRecording = errors.New("a step is being recorded")
)

// Listener hears what a device does while a step is recorded. One goroutine at a time calls it.
type Listener interface {
	// Launch gets the arguments of a launch that was checked, for the time of the call.
	Launch(k *kernels.Kernel, args []kernels.Arg)
	// Alloc and Release get the memory that was handed out and comes back.
	Alloc(b kernels.Buffer)
	Release(b kernels.Buffer)
	// Label says which operation later launches are part of, and of which layer that is: "" for none.
	Label(operation, layer string)
	// Named says that the elements of a buffer from off on are a tensor of a name, such as a parameter.
	Named(b kernels.Buffer, off int, shape []int, name string)
	// Upload gets what is written from the host over the elements from off on, for the time of the
	// call.
	Upload(b kernels.Buffer, off int, src *kernels.HostBuffer)
	// Forget says that nobody looks any more at what b holds now.
	Forget(b kernels.Buffer)
	// Input reports whether b holds what it held before the step: it was there before the
	// recording, and the step has not written to it so far.
	Input(b kernels.Buffer) bool
	// State returns the state that the run of the step has under a key. The first call makes it.
	State(key any, make func() State) State
	// Again notes what is to be checked before each replay.
	Again(check func() error)
	// Refuse notes why the step cannot be recorded. The first reason counts.
	Refuse(kind error, detail string)
}

// Launch is one launch of a Program. The numbers of its arguments that are step scalars may be set between
// runs.
type Launch struct {
	Kernel *kernels.Kernel
	Args   []kernels.Arg
}

// Program is launches that were prepared once.
type Program interface {
	// Run does all launches, in order. A failure is a sticky error of the device. The caller has
	// claimed the device.
	Run()
	// Loop does all launches n times over as they are, and nothing else: what a benchmark compares
	// Run with.
	Loop(n int) error
	// Free gives back what preparing took.
	Free()
}

// Deferred is what a device was asked and has not done. Nobody else uses the device meanwhile.
type Deferred interface {
	// Pending reports whether all of it waits still. Where the host reads what it writes, it is done.
	Pending() bool
	// Place gives memory to b, which was handed out without.
	Place(b kernels.Buffer) error
	// Do does it, and Drop forgets it. Another call does nothing.
	Do()
	Drop()
}

// Memory is the storage of a tensor.
type Memory interface {
	// Shape is that of the tensor that it was made for.
	Shape() []int
	// Changed counts a write.
	Changed()
	// Moves counts the tensors that left it for another storage.
	Moves() int
	// MadeRecorded says that a tensor was made in a step that was recorded. It must not be used.
	MadeRecorded()
}

// Capturer is implemented by every tensor.Device.
type Capturer interface{ Capture() Device }

// Device is what a tensor.Device does for recordings.
type Device interface {
	// Listen calls t for every act of the device, until stop is called. It fails while another step
	// is recorded.
	Listen(t Listener) (stop func(), err error)
	// Defer lets the device keep what it is asked while somebody listens, and do it later: where
	// kernels have to be built, those that it never launches need not be. It is nil where the device
	// does everything at once.
	Defer() Deferred
	// Claim claims the device for the calling goroutine until Leave. The error says why that cannot
	// be: another has it, or a step is being recorded.
	Claim() error
	Leave()
	// Prepare makes a program of launches, which it keeps. It calls built with each kernel that it had to build.
	Prepare(launches []Launch, built func(kernel string, took time.Duration)) (Program, error)
	// As returns the memory of b as elements of type t. It lasts as long as b.
	As(b kernels.Buffer, t kernels.DType) kernels.Buffer
	// Live reports whether b was not released.
	Live(b kernels.Buffer) bool
	// Memory returns the storage that b is the memory of, nil if that is no tensor's.
	Memory(b kernels.Buffer) Memory
	// Tensor says how a *tensor.Tensor lies in memory.
	Tensor(t any) Tensor
}

// Tensor is how a tensor lies in memory.
type Tensor struct {
	Buffer  kernels.Buffer // nil if the device had failed
	Off     int
	Strides []int
}

// Loop does the launches of a *replay.Recording n times over, and no more: a benchmark compares
// Recording.Run with it.
var Loop func(recording any, n int) error
