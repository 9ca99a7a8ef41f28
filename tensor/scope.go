package tensor

import (
	"slices"
	"sync"
)

// scopes are the open scopes of a device, the innermost last. They have a lock of their own: a scope must
// be closed whatever another goroutine does.
type scopes struct {
	mu   sync.Mutex
	open []*scope
}

// scope collects the tensors made while it is open.
type scope struct{ made []*Tensor }

func (s *scopes) push() *scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	top := &scope{}
	s.open = append(s.open, top)
	return top
}

// pop closes a scope and reports whether it was the innermost.
func (s *scopes) pop(own *scope) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.open, own)
	s.open = slices.Delete(s.open, at, at+1)
	return at == len(s.open)
}

func (s *scopes) add(t *Tensor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) > 0 {
		top := s.open[len(s.open)-1]
		top.made = append(top.made, t)
	}
}

// Scope runs f and then frees every tensor that was made on d in it, views included, but those on which
// [Tensor.Keep] was called. Scopes nest. It is how inference frees its intermediates; Backward frees
// those of training. It panics with ErrGoroutine if another goroutine opened a scope meanwhile that is still
// open: its tensors may have come into this one.
func Scope(d Device, f func()) {
	there("Scope", d)
	open := &d.core().scopes
	own := open.push()
	defer func() {
		innermost := open.pop(own)
		for _, t := range own.made {
			if !t.kept {
				t.Free()
			}
		}
		if !innermost {
			panic(&Error{Op: "Scope", Kind: ErrGoroutine, Detail: "a scope of another goroutine is still open: open a device for each"})
		}
	}()
	f()
}

// Keep exempts t from the end of the [Scope] it was made in and returns it.
func (t *Tensor) Keep() *Tensor {
	t.kept = true
	return t
}

// register adds t to the innermost open scope of its device.
func (t *Tensor) register() *Tensor {
	t.st.dev.core().scopes.add(t)
	return t
}
