package nn

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Linear is y = x·W + b, for x [batch, in], W [in, out], b [out].
type Linear struct {
	W *autograd.Node
	B *autograd.Node // nil for a layer without bias
}

// NewLinear returns a layer whose parameters are named name.weight and name.bias, drawn by weight and
// bias. A nil weight is NormalFanIn; a nil bias makes a layer without one. It panics with tensor.ErrShape
// for negative sizes.
func NewLinear(d tensor.Device, rng *tensor.RNG, name string, in, out int, weight, bias Initializer) *Linear {
	if weight == nil {
		weight = NormalFanIn
	}
	l := &Linear{W: autograd.Param(weight(d, rng, in, out, in, out), name+".weight")}
	if bias != nil {
		l.B = autograd.Param(bias(d, rng, in, out, out), name+".bias")
	}
	return l
}

// Forward returns x·W + b. It panics with tensor.ErrShape unless x is [batch, in].
func (l *Linear) Forward(x *autograd.Node) *autograd.Node { return Identity.after(l, x) }

// Params returns the weight and, if there is one, the bias.
func (l *Linear) Params() []*autograd.Node {
	if l.B == nil {
		return []*autograd.Node{l.W}
	}
	return []*autograd.Node{l.W, l.B}
}

// MLPConfig describes a multi-layer perceptron.
type MLPConfig struct {
	Sizes []int // inputs, then the outputs of each layer
	// Activations follow the layers. The last one given serves the hidden layers after it too; the output
	// layer has none unless one is given for it.
	Activations  []Activation
	Weight, Bias Initializer // nil: NormalFanIn
	First        Initializer // of the first layer's weights; nil: Weight
	NoOutputBias bool        // the last layer has no bias
}

// MLP is layers of Linear with activations between.
type MLP struct {
	Layers      []*Linear
	activations []Activation
}

// NewMLP returns a perceptron whose parameters are named layer0.weight, layer0.bias, … It panics with
// tensor.ErrValue for fewer than two sizes, or more activations than layers.
func NewMLP(d tensor.Device, rng *tensor.RNG, cfg MLPConfig) *MLP {
	layers := len(cfg.Sizes) - 1
	if layers < 1 || len(cfg.Activations) > layers {
		panic(&tensor.Error{Pkg: "nn", Op: "NewMLP", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("sizes %v make %d layers, with %d activations", cfg.Sizes, max(layers, 0), len(cfg.Activations))})
	}
	m := &MLP{}
	for i := range layers {
		bias := cfg.Bias
		if bias == nil {
			bias = NormalFanIn
		}
		if cfg.NoOutputBias && i == layers-1 {
			bias = nil
		}
		weight := cfg.Weight
		if i == 0 && cfg.First != nil {
			weight = cfg.First
		}
		m.Layers = append(m.Layers, NewLinear(d, rng, fmt.Sprint("layer", i), cfg.Sizes[i], cfg.Sizes[i+1], weight, bias))
		m.activations = append(m.activations, cfg.activation(i, layers))
	}
	return m
}

func (cfg MLPConfig) activation(i, layers int) Activation {
	switch given := len(cfg.Activations); {
	case i < given:
		return cfg.Activations[i]
	case i == layers-1 || given == 0:
		return Identity
	default:
		return cfg.Activations[given-1]
	}
}

// Forward returns the output [batch, last size] for x [batch, first size].
func (m *MLP) Forward(x *autograd.Node) *autograd.Node {
	for i, l := range m.Layers {
		x = m.activations[i].after(l, x)
	}
	return x
}

// Params returns the parameters of all layers, in their order.
func (m *MLP) Params() []*autograd.Node {
	var params []*autograd.Node
	for _, l := range m.Layers {
		params = append(params, l.Params()...)
	}
	return params
}
