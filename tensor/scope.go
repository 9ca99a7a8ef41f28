package tensor

// scope collects the tensors made while it is open.
type scope struct{ made []*Tensor }

// Scope runs f and then frees every tensor that was made on d in it, views included, but those on
// which [Tensor.Retain] was called. Scopes nest. It is how inference frees its intermediates;
// Backward frees those of training.
//
// Scope claims d for f: whatever another goroutine begins on d meanwhile panics with ErrGoroutine,
// and so does Scope if another goroutine has claimed d. That holds for goroutines that f starts and
// waits for, too: call Scope in the goroutine that computes.
func Scope(d Device, f func()) {
	const op = "Scope"
	mustDevice(op, d)
	s := d.core()
	defer api{}.Unclaim(d, api{}.Claim(d, "", op))
	own := &scope{}
	s.scopes = append(s.scopes, own)
	defer func() {
		last := len(s.scopes) - 1
		s.scopes[last] = nil
		s.scopes = s.scopes[:last]
		for _, t := range own.made {
			if !t.kept {
				t.free(byScope)
			}
		}
	}()
	f()
}

// Retain exempts t from the end of the [Scope] it was made in and returns it.
func (t *Tensor) Retain() *Tensor {
	t.kept = true
	return t
}

// register adds t to the innermost open scope of its device, if that is of this goroutine.
func (t *Tensor) register() *Tensor {
	if s := t.st.dev.core(); s.claimed() && len(s.scopes) > 0 {
		top := s.scopes[len(s.scopes)-1]
		top.made = append(top.made, t)
	}
	return t
}
