package nn

import (
	"github.com/clgrad/clgrad/autograd"
	_ "github.com/clgrad/clgrad/fusedmlp" // recorded steps of perceptrons are one launch
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// MLPConfig describes a multi-layer perceptron.
type MLPConfig struct {
	Sizes []int // inputs, then the outputs of each layer; required
	// Activations follow the layers. The last one given serves the hidden layers after it too; the
	// output layer has none unless one is given for it.
	Activations  []Activation
	Weight, Bias Initializer // nil: UniformFanIn, as PyTorch does
	First        Initializer // of the first layer's weights; nil: Weight
	NoOutputBias bool        // the last layer has no bias
}

// MLP is a perceptron: Layers, from the input on, with activations between.
type MLP struct {
	Layers      []*Linear `nn:"layer#"` // layer0.weight, layer0.bias, …
	activations []Activation
}

// NewMLP returns a perceptron. It panics with tensor.ErrValue for fewer than two sizes, or more
// activations than layers.
func NewMLP(d tensor.Device, rng *tensor.RNG, cfg MLPConfig) *MLP {
	defer tensorapi.Rename("nn", "NewMLP")
	layers := len(cfg.Sizes) - 1
	if layers < 1 || len(cfg.Activations) > layers {
		misuse("NewMLP", tensor.ErrValue, "sizes %v make %d layers, with %d activations", cfg.Sizes, max(layers, 0), len(cfg.Activations))
	}
	m := &MLP{}
	for i := range layers {
		layer := LinearConfig{In: cfg.Sizes[i], Out: cfg.Sizes[i+1], Weight: cfg.Weight, Bias: cfg.Bias,
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
	mustBeMade("MLP", m != nil && len(m.activations) > 0)
	if len(m.Layers) > len(m.activations) {
		misuse("MLP", tensor.ErrValue, "it has %d layers, and was made with %d: a Sequential takes any", len(m.Layers), len(m.activations))
	}
	return traced(m, func() *autograd.Node {
		for i, l := range m.Layers {
			x = m.activations[i].after(l, x)
		}
		return x
	})
}
