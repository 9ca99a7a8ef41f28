package replay

import (
	"cmp"
	"slices"
	"time"
)

// Times is how long the parts of [Record] took.
type Times struct {
	Tracing  time.Duration // the two runs of the step, in which an OpenCL device launches nothing
	Passes   []PassTime    // in their order; trials of kernels count to Kernels
	Planning time.Duration // of memory
	Kernels  []KernelTime  // that were built or tried, the slowest first: ten at most
	// Running is doing what the two runs of the step asked for. PoCL compiles a kernel at its first launch: that is here.
	Running time.Duration
}

// PassTime is how long a pass took, without the kernels that it had built.
type PassTime struct {
	Pass string        // of [Passes]
	Took time.Duration // how long it took
}

// KernelTime is how long a kernel took to build and to be tried beside its host kernel.
type KernelTime struct {
	Kernel string        // its name
	Took   time.Duration // how long it took
}

// slowest is how many kernels Times has.
const slowest = 10

// Times returns how long the parts of Record took.
func (r *Recording) Times() Times {
	t := r.times
	t.Passes, t.Kernels = slices.Clone(t.Passes), slices.Clone(t.Kernels)
	return t
}

// kernel adds a kernel that was built.
func (t *Times) kernel(name string, took time.Duration) {
	at, _ := slices.BinarySearchFunc(t.Kernels, took, func(k KernelTime, took time.Duration) int { return cmp.Compare(took, k.Took) })
	if at < slowest {
		t.Kernels = slices.Insert(t.Kernels, at, KernelTime{name, took})
		t.Kernels = t.Kernels[:min(len(t.Kernels), slowest)]
	}
}
