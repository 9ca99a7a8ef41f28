package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/trace"
)

// traced runs a layer, and tells [Summary] what it returns.
func traced(layer any, forward func() *autograd.Node) *autograd.Node {
	if !trace.On() {
		return forward()
	}
	trace.Enter(layer)
	y := forward()
	trace.Leave(y)
	return y
}

// tracedStates is traced of a recurrent layer.
func tracedStates(layer any, run func() (*autograd.Node, [][]*autograd.Node)) (*autograd.Node, [][]*autograd.Node) {
	var states [][]*autograd.Node
	y := traced(layer, func() (y *autograd.Node) {
		y, states = run()
		return y
	})
	return y, states
}
