// Package nn is layers, initialisers and activations over package autograd.
//
//	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 40, 1}, Activations: []nn.Activation{nn.Tanh}})
//	y := net.Forward(x)
package nn
