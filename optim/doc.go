// Package optim is update rules for parameters, and schedules for the learning rate.
//
// An optimizer moves its parameters into one flat buffer, so that [Optimizer.Step] is one kernel
// launch however many there are:
//
//	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(1e-3)))
//	loss := net.Forward(x).SquaredError(y)
//	loss.Backward()
//	opt.Step()
//	opt.ZeroGrad()
//
// [Minimize] is these three, with their errors.
//
// The rules are [AdamW], [SGD], [Adam], [RMSprop], [Adagrad], [Lion] and [LAMB]. Parameters that
// want other settings are a [Group]; frozen ones ([autograd.Node.Freeze]) stay as they are until
// they are unfrozen. A learning rate is a [Schedule] of the step; that of a [Plateau] depends on
// what was measured. [ClipNorm] and [ClipValue] stand between Backward and Step, and [EMA] averages
// the parameters. With a [LossScaler] gradients keep to the range of float16. Gradients of several
// calls of Backward add up until ZeroGrad: a large batch can come in parts.
//
// A constructor panics with tensor.ErrValue for no parameters, for a node that is nil, is no
// parameter, is listed twice or has an optimizer, and for two parameters of one tensor; with
// tensor.ErrDevice for parameters of several devices, and with tensor.ErrFreed for one whose tensor
// was freed. Then nothing has changed.
//
// A parameter that has no gradient when Step is called is left as it is, its moments too; where
// none has one, Step returns [ErrNoGradients] and counts no step. Where a rule reads the number of
// the step, it is the optimizer's: the first steps of a parameter that is unfrozen later differ in
// length from those in PyTorch, which counts the steps of each parameter.
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its
// release notes say by what.
package optim
