package fusedmlp

import "github.com/clgrad/clgrad/kernels"

// Kernels returns kernels of fused training steps as devices with floats of type t and the limits l
// run them, for tests and for a person who doubts a device: of one shape in the blocks of samples
// that fit, and on matrix units of several shapes.
func Kernels(t kernels.DType, l kernels.Target) []*kernels.Kernel {
	all := []*kernels.Kernel{MLPLoss(ExampleMLP, t, ExampleMLP.tile(t, mlpBlock), false), MLPLoss(ExampleMLP, t, ExampleMLP.tile(t, mlpBlock), true)}
	if l.CPU {
		return all
	}
	if ExampleMLP.tile(t, mlpLarge) == mlpLarge {
		all = append(all, MLPLoss(ExampleMLP, t, mlpLarge, false))
	}
	if t == kernels.Float32 {
		all = append(all, mlpsOnMatrixUnits()...)
	}
	return all
}
