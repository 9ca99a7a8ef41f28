// Package clgrad has the version of the module, and an example of training. The other packages do
// the work. One step of training is:
//
//	loss := net.Forward(x).SquaredError(y)
//	err := optim.Minimize(opt, loss) // Backward, Step and ZeroGrad
//
// The packages:
//
//	tensor      arrays on a device, and eager operations on them
//	autograd    gradients of any order
//	nn, optim   layers and models; optimizers and schedules
//	data        data sets, and loaders of batches
//	checkpoint  runs that resume
//	replay      steps that are recorded once and run again in few launches
//	onnx        models that others trained
//	kernels     kernels of your own, also from outside this module
//
// docs/getting-started.md in the repository goes from an empty module to a served model.
//
// Stability: before version 1 a minor version may rename or remove what is exported; CHANGELOG.md
// has the old names and the new ones. The documentation of each package says what is meant to stay.
package clgrad

// Version is the version of the module, by semantic versioning.
const Version = "0.1.0"
