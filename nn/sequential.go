package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Sequential is modules one after the other; the paths of their parameters begin with their index.
// The zero value returns its input.
type Sequential []Module

// Forward returns what the last module makes of what the one before it makes, and so on, of x. An
// [Activation] that follows a [Linear] is computed in the launch of that. It panics with
// tensor.ErrValue for a module that is nil, and as the modules do.
func (s Sequential) Forward(x *autograd.Node) *autograd.Node {
	return traced(s, func() *autograd.Node {
		for i := 0; i < len(s); i++ {
			if s[i] == nil {
				misuse("Sequential", tensor.ErrValue, "module %d is nil", i)
			}
			if l, ok := s[i].(*Linear); ok && i+1 < len(s) {
				if a, ok := s[i+1].(Activation); ok {
					x = a.after(l, x)
					i++
					continue
				}
			}
			x = traced(s[i], func() *autograd.Node { return s[i].Forward(x) })
		}
		return x
	})
}
