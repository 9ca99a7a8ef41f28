// Package replay records a step, such as one of training, and runs it again without the Go code
// that launched it: all launches in one crossing into C, numbers set, memory planned. Before that
// it makes fewer launches of them: element-wise functions become one with others and with the
// reductions and products beside them, fusions that packages registered with [fusion.Register] are
// done, such as that of a perceptron's training step, what nobody reads is left out. What a replay
// computes has the bits of the eager step, but for such fusions, which may add in another order.
//
//	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
//		loss := net.Forward(autograd.Const(x)).SquaredError(autograd.Const(y))
//		return []*tensor.Tensor{loss.Value()}, optim.Minimize(opt, loss)
//	})
//	tensor.Upload(x, batch) // before each run
//	err = rec.Run()
//
// A step is recorded as it runs on a device, whichever packages made the launches. Its inputs are
// tensors that are older than [Record], whose contents the caller sets between runs, with
// tensor.Upload or SetInPlace. Its results are in tensors that are older, such as parameters, and
// in those that the step returns. Numbers that change from run to run are
// [kernels.StepScalars]: optimizers and random streams have them. docs/recording.md says more.
package replay
