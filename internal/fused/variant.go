package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"sync"
)

// cache is the kernels that were made of functions.
type cache struct {
	mu        sync.Mutex
	maps      map[mapKey]*kernels.Kernel
	epilogues map[epilogueKey]*kernels.Kernel
	variants  map[Variant]*kernels.Kernel
}

// cacheOf returns the kernels of functions.
func cacheOf(j *kernels.FusedElementwise) *cache { return j.Keep(newCache).(*cache) }

func newCache() any {
	return &cache{maps: map[mapKey]*kernels.Kernel{}, epilogues: map[epilogueKey]*kernels.Kernel{},
		variants: map[Variant]*kernels.Kernel{}}
}

// Variant identifies one of the kernels that compute a function on their way: by name, and the
// shape that they are built for.
type Variant struct {
	Kernel string // what the function is part of
	Shape  [5]int // what the kernel is built for
}

// KernelFor returns the kernel for a use of f. The first time, build makes it; it lives as long as
// f.
func KernelFor(f *kernels.Function, u Variant, build func() *kernels.Kernel) *kernels.Kernel {
	c := cacheOf(f.Alone())
	c.mu.Lock()
	k := c.variants[u]
	c.mu.Unlock()
	if k != nil {
		return k
	}
	k = build() // not under the lock: it asks f for more
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.variants[u]; first != nil {
		return first
	}
	c.variants[u] = k
	return k
}
