package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// iteration runs f, one iteration of a loop, and returns its values. Of a runner that is scoped, the other tensors
// that f makes are freed: a long loop needs the memory of one iteration. The values are then the loop's, until
// release or adopt.
func (r *runner) iteration(f func() []*Value) (out []*Value) {
	if !r.scoped {
		return f()
	}
	before := len(r.copies)
	tensor.Scope(r.s.dev, func() {
		tensor.Scope(r.s.host, func() {
			for _, v := range f() {
				out = append(out, r.alias(v, true))
			}
		})
	})
	for _, c := range r.copies[before:] {
		*c = nil // its tensor is gone
	}
	r.copies = r.copies[:before]
	return out
}

// adopt makes what iteration returned values of the scope around.
func (r *runner) adopt(values []*Value) []*Value {
	if !r.scoped {
		return values
	}
	own := make([]*Value, len(values))
	for i, v := range values {
		own[i] = r.alias(v, false)
	}
	r.release(values)
	return own
}

// release frees what iteration returned.
func (r *runner) release(values []*Value) {
	if !r.scoped {
		return
	}
	for _, v := range values {
		if v == nil || v.kept {
			continue
		}
		for _, n := range []*autograd.Node{v.node, v.host} {
			if n != nil {
				n.Value().Free()
				delete(r.held, n.Value())
			}
		}
		r.release(v.list)
	}
}

// hold keeps a tensor beyond its scope, until the run ends or it is freed.
func (r *runner) hold(t *tensor.Tensor) {
	if r.held == nil {
		r.held = map[*tensor.Tensor]bool{}
	}
	r.held[t.Retain()] = true
}

// end frees what is held still, and forgets copies: values may be those of another run, too.
func (r *runner) end() {
	for _, c := range r.copies {
		*c = nil
	}
	for t := range r.held {
		t.Free()
	}
}

// alias returns v with views in the place of its tensors, but for those that the session keeps. Views that are held
// outlive their scope.
func (r *runner) alias(v *Value, hold bool) *Value {
	if v == nil || v.kept {
		return v
	}
	view := func(n *autograd.Node) *autograd.Node {
		if n == nil {
			return nil
		}
		t := n.Value().Expand(n.Shape()...)
		if hold {
			r.hold(t)
		}
		return autograd.Const(t)
	}
	w := &Value{kind: v.kind, shape: v.shape, strings: v.strings, node: view(v.node), host: view(v.host)}
	for _, e := range v.list {
		w.list = append(w.list, r.alias(e, hold))
	}
	return w
}
