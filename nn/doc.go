// Package nn is layers, initialisers and activations over package autograd. A layer is a struct of parameters with a
// method Forward; Params lists them for an optimizer, and [StateDict] for a file.
//
//	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 40, 1}, Activations: []nn.Activation{nn.Tanh}})
//	y := net.Forward(x)
//
// Stability: the API stays within a minor version; what goes in the next one is replaced, and its release notes say by
// what.
package nn
