package kernels

import (
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/x448/float16"
)

// HostKernel is a kernel in Go, which the cpu device runs: F32 for devices with floats of float32, F64
// for devices with floats of float64. One may be nil.
type HostKernel struct {
	F32 func(HostArgs[float32])
	F64 func(HostArgs[float64])

	foreign bool // it calls functions of another module
}

// For reports whether there is a function for floats of type t.
func (w HostKernel) For(t DType) bool {
	if t == Float64 {
		return w.F64 != nil
	}
	return w.F32 != nil
}

// HostArgs is the arguments of one launch of a host kernel, in the order of Kernel.Params: c.Floats(0) is
// the memory of the first, c.Int(1) the second. T is the device's float type; kernels of ours that only
// move elements have their type.
//
// It has four words, the most that the compiler passes and keeps in registers.
type HostArgs[T Element] struct {
	args []Arg
	run  *hostRun // nil: the zero hostRun
}

// hostRun is how a host kernel runs.
type hostRun struct {
	vectors bool
	alone   bool                           // it is a part of a launch, which other goroutines share
	stored  func(from, rows, n, apart int) // nil: nobody waits for it
}

// partOfLaunch holds the run of a part of a launch, without and with vector instructions; wholeLaunch that of a launch.
var (
	wholeLaunch  = [2]hostRun{{}, {vectors: true}}
	partOfLaunch = [2]hostRun{{alone: true}, {vectors: true, alone: true}}
)

// Run runs the host kernel of k in plain loops: the reference that devices, and vector instructions, are
// compared with. Every buffer of args must be a *HostBuffer, floats of type t.
func (k *Kernel) Run(t DType, args []Arg) { k.RunStored(t, args, false, nil) }

// RunVectors is Run with the vector instructions of the processor, as far as the host kernel has loops of
// them, unless the environment variable CLGRAD_VECTORS is off. Its results are those of Run within
// the kernel's tolerance.
func (k *Kernel) RunVectors(t DType, args []Arg) { k.RunStored(t, args, true, nil) }

// RunStored is Run or RunVectors, with what is to be done with parts of the result, which may be nil:
// see [HostArgs.Stored].
func (k *Kernel) RunStored(t DType, args []Arg, vectors bool, stored func(from, rows, n, apart int)) {
	run := &wholeLaunch[index(vectors)]
	if stored != nil {
		run = &hostRun{vectors: vectors, stored: stored}
	}
	if t == Float64 {
		k.Host.F64(HostArgs[float64]{args, run})
	} else {
		k.Host.F32(HostArgs[float32]{args, run})
	}
}

// Stored says that elements of a stored result have their values: some rows of n, the first
// from one on and each so many elements from the one before. A map of them is computed at once,
// while they are in the cache. It is said of each element once, or of none.
func (c HostArgs[T]) Stored(from, rows, n, apart int) {
	if c.run != nil && c.run.stored != nil {
		c.run.stored(from, rows, n, apart)
	}
}

// Args returns the arguments of the launch.
func (c HostArgs[T]) Args() []Arg { return c.args }

// With returns c with other arguments. If it is a part that one of several goroutines computes, or
// c is one, its Parallel does not share out.
func (c HostArgs[T]) With(args []Arg, part bool) HostArgs[T] {
	if part || c.alone() {
		return HostArgs[T]{args, &partOfLaunch[index(c.Vectors())]}
	}
	return HostArgs[T]{args, &wholeLaunch[index(c.Vectors())]}
}

// index returns 1 for true.
func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// alone reports whether c is a part of a launch.
func (c HostArgs[T]) alone() bool { return c.run != nil && c.run.alone }

// Vectors reports whether the host kernel may use vector instructions: not where it is the reference.
func (c HostArgs[T]) Vectors() bool { return c.run != nil && c.run.vectors }

// Floats returns the elements of buffer argument i.
func (c HostArgs[T]) Floats(i int) []T {
	a := &c.args[i]
	return Slice[T](a.Buf.(*HostBuffer), a.Off, a.N)
}

// Ints returns the elements of int32 buffer argument i.
func (c HostArgs[T]) Ints(i int) []int32 { return Elements[int32](c, i) }

// Bytes returns the elements of uint8 buffer argument i.
func (c HostArgs[T]) Bytes(i int) []uint8 { return Elements[uint8](c, i) }

// Halves returns the elements of float16 buffer argument i.
func (c HostArgs[T]) Halves(i int) []float16.Float16 { return Elements[float16.Float16](c, i) }

// Elements returns those of buffer argument i.
func Elements[E, T Element](c HostArgs[T], i int) []E {
	a := &c.args[i]
	return Slice[E](a.Buf.(*HostBuffer), a.Off, a.N)
}

// Len returns how many elements buffer argument i has.
func (c HostArgs[T]) Len(i int) int { return c.args[i].N }

// Int returns int argument i.
func (c HostArgs[T]) Int(i int) int { return int(c.args[i].Int) }

// Long returns long argument i.
func (c HostArgs[T]) Long(i int) int64 { return c.args[i].Int }

// Float returns float argument i, rounded to the device's type as a launch rounds it.
func (c HostArgs[T]) Float(i int) T { return T(c.args[i].Float) }

// Parallel runs f over pieces of [0, n), on several cores where that is worth it: cost is the work
// of one of n, 1 being an addition or the like. The pieces write apart, and an element's value must
// not depend on where its piece ends: then the result does not depend on how many there are.
func (c HostArgs[T]) Parallel(n, cost int, f func(lo, hi int)) {
	if c.alone() {
		f(0, n)
		return
	}
	parallel.For(n, grain(cost), f)
}

// Serial reports whether Parallel calls f(0, n) itself: a host kernel then needs no function on the heap.
func (c HostArgs[T]) Serial(n, cost int) bool {
	return c.alone() || parallel.Workers(n, grain(cost)) == 1
}

// grain returns how many pieces of a cost are worth a goroutine.
func grain(cost int) int { return max(1, parallel.Grain/max(cost, 1)) }

// ElementHostKernel is the host kernel of a kernel whose buffers hold elements of type E, and no floats.
func ElementHostKernel[E Element](f func(HostArgs[E])) HostKernel {
	return HostKernel{func(c HostArgs[float32]) { f(HostArgs[E](c)) }, func(c HostArgs[float64]) { f(HostArgs[E](c)) },
		isForeign(f)}
}
