package nn

import "github.com/clgrad/clgrad/autograd"

// Sequential is modules one after the other; the paths of their parameters begin with their index. The zero value returns
// its input.
type Sequential []Module

// Forward returns what the last module makes of what the one before it makes, and so on, of x. An [Activation] that follows
// a [Linear] is computed in the launch of that.
func (s Sequential) Forward(x *autograd.Node) *autograd.Node {
	for i := 0; i < len(s); i++ {
		if l, ok := s[i].(*Linear); ok && i+1 < len(s) {
			if a, ok := s[i+1].(Activation); ok {
				x = a.after(l, x)
				i++
				continue
			}
		}
		x = s[i].Forward(x)
	}
	return x
}
