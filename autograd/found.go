package autograd

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/tensor"
)

// foundGrad is called before something depends on whether a parameter has a gradient. In a step that is being recorded, replays are
// refused from then on where that is otherwise: they would add to a gradient that was forgotten, or write over one that was not.
func (n *Node) foundGrad() {
	d := n.value.Device()
	if !n.param || !plumbing.First(d, n) {
		return // the step has asked before, or says itself whether there is one
	}
	had := n.grad != nil
	plumbing.Again(d, func() error {
		detail := ""
		switch has := n.grad != nil; {
		case has == had:
			return nil
		case had:
			detail = "parameter %q has no gradient, and had one when the step that was recorded began: forget it within the step, or record it anew"
		default:
			detail = "parameter %q has a gradient, and had none when the step that was recorded began: call ZeroGrad first, or record it anew"
		}
		return &tensor.Error{Pkg: "replay", Op: "Run", Kind: tensor.ErrValue, Detail: fmt.Sprintf(detail, n.label())}
	})
}

// ownGrad is called where a parameter is made, or its gradient forgotten: in the rest of a step that is being recorded, the step
// itself says whether there is one.
func (n *Node) ownGrad() { plumbing.First(n.value.Device(), n) }
