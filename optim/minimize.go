package optim

import "github.com/clgrad/clgrad/autograd"

// Minimize does what follows a loss in a step of training: Backward, Step and ZeroGrad. The errors
// are theirs, after which the gradients are forgotten, too. Of a [LossScaler] the loss is scaled.
// What looks at gradients, clips or gathers them calls the three itself.
func Minimize(o Optimizer, loss *autograd.Node) error {
	defer o.ZeroGrad()
	backward := func() error { return loss.Backward() }
	if s, ok := o.(*LossScaler); ok {
		backward = func() error { return s.Backward(loss) }
	}
	if err := backward(); err != nil {
		return err
	}
	return o.Step()
}
