package autograd

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/tensor"
)

// foundGrad is called before something depends on whether a parameter has a gradient. In a step that is being recorded, replays are
// refused from then on where that is otherwise: they would add to a gradient that was forgotten, or write over one that was not.
// What the step itself made or forgot before says nothing.
func (n *Node) foundGrad() {
	d := n.value.Device()
	if !n.param || !plumbing.First(d, n) {
		return
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
