package optim

import "github.com/clgrad/clgrad/autograd"

// Minimize does what follows a loss in a step of training: Backward, Step and ZeroGrad. The errors are theirs, after which
// the gradients are forgotten, too. What looks at gradients, clips or gathers them calls the three itself.
func Minimize(o Optimizer, loss *autograd.Node) error {
	defer o.ZeroGrad()
	if err := loss.Backward(); err != nil {
		return err
	}
	return o.Step()
}
