package nn

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Linear is y = x·W + b, for x […, in], whose leading axes are rows, W [in, out], b [out].
type Linear struct {
	W *autograd.Node
	B *autograd.Node // nil for a layer without bias
}

// LinearConfig describes a layer.
type LinearConfig struct {
	Name    string // of the parameters: Name.weight and Name.bias
	In, Out int    // columns of x and of y; required
	// Weight and Bias draw the parameters; nil: NormalFanIn.
	Weight, Bias Initializer
	NoBias       bool // y = x·W
}

// NewLinear returns a layer, with its parameters drawn from rng. It panics with tensor.ErrShape for negative sizes.
func NewLinear(d tensor.Device, rng *tensor.RNG, cfg LinearConfig) *Linear {
	draw := func(what string, by Initializer, shape ...int) *autograd.Node {
		if by == nil {
			by = NormalFanIn
		}
		return autograd.Param(by(d, rng, cfg.In, cfg.Out, shape...), cfg.Name+what)
	}
	l := &Linear{W: draw(".weight", cfg.Weight, cfg.In, cfg.Out)}
	if !cfg.NoBias {
		l.B = draw(".bias", cfg.Bias, cfg.Out)
	}
	return l
}

// Forward returns x·W + b, […, out]. It panics with tensor.ErrShape unless x is […, in].
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
	Sizes []int // inputs, then the outputs of each layer; required
	// Activations follow the layers. The last one given serves the hidden layers after it too; the output
	// layer has none unless one is given for it.
	Activations  []Activation
	Weight, Bias Initializer // nil: NormalFanIn
	First        Initializer // of the first layer's weights; nil: Weight
	NoOutputBias bool        // the last layer has no bias
}

// MLP is a perceptron: Layers, from the input on, with activations between.
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
		layer := LinearConfig{Name: fmt.Sprint("layer", i), In: cfg.Sizes[i], Out: cfg.Sizes[i+1], Weight: cfg.Weight, Bias: cfg.Bias,
			NoBias: cfg.NoOutputBias && i == layers-1}
		if i == 0 && cfg.First != nil {
			layer.Weight = cfg.First
		}
		m.Layers = append(m.Layers, NewLinear(d, rng, layer))
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

// Forward returns the output […, last size] for x […, first size].
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
