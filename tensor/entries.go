//go:build opencl && cgo

package tensor

import (
	"cmp"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// entries are the entry points, of type E, that a device has built. Kernels of the same source,
// options and name share one, unless their host kernels are of other modules: the trial of one says
// nothing of another then. There are at most `most`: then those that were launched least recently
// are released.
type entries[E any] struct {
	target  kernels.Target
	build   func(k *kernels.Kernel, float kernels.DType) (E, error)
	release func(E)

	most   int
	clock  uint64 // launches so far
	of     map[typedKernel]*entry[E]
	byText map[entryKey]*entry[E]
}

// typedKernel is a kernel for floats of a type.
type typedKernel struct {
	*kernels.Kernel
	float kernels.DType
}

type entry[E any] struct {
	built E
	used  uint64 // clock at the last launch

	tried       uint64          // the size classes, as bits, in which the kernel was tried
	replacement *kernels.Kernel // what was built, if another has taken the place of one that failed its trial
	target      kernels.Target  // that it was built for
}

// entryKey is what an entry point is built from.
type entryKey struct {
	file, text, defines, name string
	float                     kernels.DType
	kernel                    *kernels.Kernel // nil if its host kernel is of this module
}

// mostEntries is more than any program launches in a step: our own kernels are about 120, with one
// more for each tile of products and each shape of a fused network.
const mostEntries = 1024

func newEntries[E any](l kernels.Target, build func(*kernels.Kernel, kernels.DType) (E, error), release func(E)) *entries[E] {
	return &entries[E]{l, build, release, mostEntries, 0, map[typedKernel]*entry[E]{}, map[entryKey]*entry[E]{}}
}

// has reports whether the entry point of k for floats of a type is built, and was asked for by this
// Kernel.
func (es *entries[E]) has(k *kernels.Kernel, float kernels.DType) bool {
	return es.of[typedKernel{k, float}] != nil
}

// get returns the entry point of k for floats of a type, which is built if it has to be.
func (es *entries[E]) get(k *kernels.Kernel, float kernels.DType) (*entry[E], error) {
	es.clock++
	if e, ok := es.of[typedKernel{k, float}]; ok {
		e.used = es.clock
		return e, nil
	}
	key := entryKey{file: k.Source(es.target), text: k.TextOn(es.target), defines: k.Defines, name: k.Name, float: float}
	if k.Host.Foreign() {
		key.kernel = k
	}
	e, ok := es.byText[key]
	if !ok {
		built, err := es.build(k, float)
		if err != nil {
			return nil, err
		}
		if len(es.byText) >= es.most {
			es.releaseHalf()
		}
		e = &entry[E]{built: built}
		es.byText[key] = e
	}
	if len(es.of) >= es.most { // many Kernels of few sources: they are found again by their text
		clear(es.of)
	}
	es.of[typedKernel{k, float}] = e
	e.used = es.clock
	return e, nil
}

// releaseHalf releases the half of the entry points that was launched least recently.
func (es *entries[E]) releaseHalf() {
	keys := make([]entryKey, 0, len(es.byText))
	for key := range es.byText {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b entryKey) int { return cmp.Compare(es.byText[a].used, es.byText[b].used) })
	for _, key := range keys[:(len(keys)+1)/2] {
		es.release(es.byText[key].built)
		delete(es.byText, key)
	}
	clear(es.of)
}
