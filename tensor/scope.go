package tensor

// scope collects the tensors made while it is open.
type scope struct{ made []*Tensor }

// Scope runs f and then frees every tensor that was made on d in it, views included, but those on which
// [Tensor.Keep] was called. Scopes nest. It is how inference frees its intermediates; Backward frees
// those of training.
func Scope(d Device, f func()) {
	st := d.core()
	st.scopes = append(st.scopes, &scope{})
	defer func() {
		top := st.scopes[len(st.scopes)-1]
		st.scopes = st.scopes[:len(st.scopes)-1]
		for _, t := range top.made {
			if !t.kept {
				t.Free()
			}
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
	if scopes := t.st.dev.core().scopes; len(scopes) > 0 {
		top := scopes[len(scopes)-1]
		top.made = append(top.made, t)
	}
	return t
}
