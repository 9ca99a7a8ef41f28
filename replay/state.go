package replay

import (
	"errors"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/tensor"
)

// state is a capture.State of a run, and its key.
type state struct {
	key any
	capture.State
}

// leftoverTensor is a tensor that a run leaves on the host's side, but does not return: the gradient
// of a parameter, say.
type leftoverTensor struct {
	name string
	output
}

// stateOf returns the state under a key, nil if there is none.
func (n *trace) stateOf(key any) capture.State {
	for _, s := range n.states {
		if s.key == key {
			return s.State
		}
	}
	return nil
}

// endStates notes what the states are when the run is over.
func (n *trace) endStates(dev capture.Device) {
	for _, s := range n.states {
		for _, l := range s.End() {
			t := l.Tensor.(*tensor.Tensor)
			n.leftovers = append(n.leftovers, leftoverTensor{l.Name, newOutput(dev, t)})
		}
	}
}

// explained adds to an error about a difference from the run before what the states know of its cause.
func (n *trace) explained(err error) error {
	var e *tensor.Error
	if !errors.As(err, &e) || !errors.Is(err, ErrDiffers) {
		return err
	}
	for _, s := range n.states {
		if before := n.before.stateOf(s.key); before != nil {
			if why := s.Explain(before); why != "" {
				e.Detail += ". " + why
			}
		}
	}
	return err
}

// freeLeftovers frees the tensors that the states left.
func (n *trace) freeLeftovers() {
	for _, l := range n.leftovers {
		l.t.Free()
	}
}

// states checks what the two runs left on the host's side. A replay writes the memory of tensors
// among that as it writes outputs.
func (b *builder) states(p *pairs) error {
	for _, s := range b.run.states {
		before := b.run.before.stateOf(s.key)
		if before == nil {
			continue
		}
		if why := s.Differs(before); why != "" {
			return fault("Record", ErrDiffers, "%s", why)
		}
	}
	if n, m := len(b.run.before.leftovers), len(b.run.leftovers); n != m {
		return fault("Record", ErrDiffers, "%d gradients are there after the first, %d after the second", n, m)
	}
	for i, l := range b.run.leftovers {
		if why := p.sameOutput(b.run.before.leftovers[i].output, l.output); why != "" {
			return fault("Record", ErrDiffers, "%s is %s", l.name, why)
		}
		b.keep(l.place.Buffer)
	}
	return nil
}
