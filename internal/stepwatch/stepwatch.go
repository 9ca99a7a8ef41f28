// Package stepwatch lets package replay see which step scalars a step advances: see kernels.StepScalars.
package stepwatch

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/goroutine"
)

type watcher struct {
	goroutine uintptr
	notify    func(scalars any)
}

var (
	watching atomic.Int32 // how many watchers there are: mostly none
	mu       sync.Mutex
	watchers []*watcher
)

// Watch calls see with what the calling goroutine advances, until stop is called.
func Watch(see func(scalars any)) (stop func()) {
	w := &watcher{goroutine.ID(), see}
	mu.Lock()
	defer mu.Unlock()
	watchers = append(watchers, w)
	watching.Add(1)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		at := slices.Index(watchers, w)
		watchers = slices.Delete(watchers, at, at+1)
		watching.Add(-1)
	}
}

// Notify says that step scalars were advanced.
func Notify(scalars any) {
	if watching.Load() == 0 {
		return
	}
	mine := goroutine.ID()
	mu.Lock()
	defer mu.Unlock()
	for _, w := range watchers {
		if w.goroutine == mine {
			w.notify(scalars)
		}
	}
}
