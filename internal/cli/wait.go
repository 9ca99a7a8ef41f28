package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Wait prints what a program is doing while that takes long. It is a writer for what is said
// meanwhile.
type Wait struct {
	mu    sync.Mutex
	w     io.Writer
	ended chan struct{}
	gone  chan struct{}
}

// The times of a Wait: until it says something, and between that and the next.
const (
	waitFirst = time.Second
	waitEvery = 10 * time.Second
)

// NewWait says on w what is being done, after a second, and how long it has taken every ten
// seconds, until Done.
func NewWait(w io.Writer, what string) *Wait {
	a := &Wait{w: w, ended: make(chan struct{}), gone: make(chan struct{})}
	begun := time.Now()
	go func() {
		defer close(a.gone)
		for next, text := waitFirst, what; ; next, text = waitEvery, "" {
			select {
			case <-a.ended:
				return
			case <-time.After(next):
			}
			if text == "" {
				text = fmt.Sprintf("%s: %.0f s so far", what, time.Since(begun).Seconds())
			}
			fmt.Fprintln(a, text)
		}
	}()
	return a
}

// Write is part of io.Writer.
func (a *Wait) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.w.Write(p)
}

// Done ends it: nothing is said any more. It may be called once.
func (a *Wait) Done() {
	close(a.ended)
	<-a.gone
}
