package tensor

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Launch runs a kernel on d, for packages that bring kernels of their own. It may return before the
// kernel has run; a failure is a sticky error of the device. Tensors are passed with [Tensor.Arg],
// numbers with [kernels.IntArg] and [kernels.FloatArg]. It panics with ErrArgument unless the arguments are
// those that the kernel's Params ask for, in number, kind and element type, and lie within their
// buffers; with ErrDevice if memory is not d's; and with ErrGoroutine if another goroutine is using
// d.
func Launch(d Device, k *kernels.Kernel, args ...kernels.Arg) { launch(d, k, args...) }

// launch copies the arguments to the device's scratch, so that they stay on the caller's stack.
func launch(d Device, k *kernels.Kernel, args ...kernels.Arg) {
	mustDevice("Launch", d)
	s := d.core()
	if s.failure.Load() != nil {
		return
	}
	float := checkArgs(d, k, args)
	s.enter("Launch")
	s.args = append(s.args[:0], args...)
	s.launch(d, k, float, s.args)
}

// launch does a launch of checked arguments, which it may change, and leaves the device. It drops the
// memory that they name, so that it can be collected.
func (s *base) launch(d Device, k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	defer func() {
		clear(args)
		s.leave()
	}()
	if recordings.Load() > 0 {
		d.gridOf(k, float, args) // what is recorded can be launched
		s.notifyLaunch(d, k, args)
	}
	if s.nrecent < recentLaunches {
		s.recent[s.nrecent] = k
		s.nrecent++
	}
	d.launch(k, float, args)
}

// argList is memory for the arguments of a launch that are not known when the code is compiled,
// which would be made for every launch.
type argList struct {
	args  []kernels.Arg
	loops stridedLoops // of launchMap: memory that need not be zero
}

// list returns an empty list. Its launch gives it back to the device; whoever asks before then,
// another goroutine too, gets another.
func (s *base) list() *argList {
	if l := s.spare.Swap(nil); l != nil {
		return l
	}
	return new(argList)
}

// launch runs a kernel with arguments that were appended to l.args, where they are.
func (l *argList) launch(d Device, k *kernels.Kernel, args []kernels.Arg) {
	s := d.core()
	if s.failure.Load() != nil {
		return
	}
	float := checkArgs(d, k, args)
	s.enter("Launch")
	s.launch(d, k, float, args)
	l.args = args[:0]
	s.spare.Store(l)
}

// launchTyped is launch of the form of a kernel for the types of the buffers: see [ops.OfTypes].
func launchTyped(d Device, k *kernels.Kernel, args ...kernels.Arg) {
	launch(d, ops.OfTypes(k, args), args...)
}

// launchTyped is [argList.launch] of that form.
func (l *argList) launchTyped(d Device, k *kernels.Kernel, args []kernels.Arg) {
	l.launch(d, ops.OfTypes(k, args), args)
}

// checkArgs panics unless args fit the parameters of k. It returns the type of the launch's floats.
func checkArgs(d Device, k *kernels.Kernel, args []kernels.Arg) kernels.DType {
	mustLaunch(k)
	if len(args) != len(k.Params) {
		names := make([]string, len(k.Params))
		for i, p := range k.Params {
			names[i] = p.Name
		}
		badArg(k, "takes %d arguments (%s), not %d", len(names), strings.Join(names, ", "), len(args))
	}
	float := k.FloatOf(args, d.DefaultType())
	for i := range args {
		a, p := &args[i], &k.Params[i]
		if want := p.Mode.Kind(); a.Kind != want {
			badArg(k, "argument %d, %s, is %v, not %v", i, p.Name, want, a.Kind)
		}
		if p.Mode == kernels.IntParam && a.Int != int64(int32(a.Int)) {
			badArg(k, "argument %d, %s, is %d, which is no int of 32 bits", i, p.Name, a.Int)
		}
		if a.Kind != kernels.ArgBuffer {
			continue
		}
		if a.Buf == nil || !d.owns(a.Buf) {
			panic(&Error{Op: "Launch", Kind: ErrDevice, Detail: fmt.Sprintf("%s: argument %d, %s, is no memory of %s, or was released",
				k.Name, i, p.Name, d.Name())})
		}
		if got, want := a.Buf.DType(), p.Mode.Elements(float); got != want && !k.Takes(i, got, float) {
			badArg(k, "argument %d, %s, has elements of type %v, not %v", i, p.Name, want, got)
		}
		if n := a.Buf.Len(); a.Off < 0 || a.N < 0 || a.Off > n || a.N > n-a.Off {
			badArg(k, "argument %d, %s, is %d elements from %d on, of memory that has %d", i, p.Name, a.N, a.Off, n)
		}
	}
	return float
}

// mustLaunch panics unless there is a kernel that can be launched.
func mustLaunch(k *kernels.Kernel) {
	switch {
	case k == nil:
		panic(&Error{Op: "Launch", Kind: ErrArgument, Detail: "the kernel is nil"})
	case k.Grid == nil:
		panic(&Error{Op: "Launch", Kind: ErrArgument, Detail: k.Name +
			": the kernel has no Grid, which says how many work-items there are: see kernels.Grid1D"})
	}
}

func badArg(k *kernels.Kernel, format string, args ...any) {
	panic(&Error{Op: "Launch", Kind: ErrArgument, Detail: k.Name + ": " + fmt.Sprintf(format, args...)})
}

// needHost panics if k has no host kernel for floats of a type.
func needHost(k *kernels.Kernel, float kernels.DType) {
	if !k.Host.For(float) {
		badArg(k, "has no host kernel for %v, which cpu and check mode run", float)
	}
}

// recentLaunches is how many launches are remembered for the graph node that asked for them: as
// many as an operation needs, a copy of each operand included.
const recentLaunches = 4
