package imagefit

import (
	"errors"
	"maps"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// ErrModel is what a file is that does not hold a model.
var ErrModel = errors.New("not a model file of mlpimage")

// Model is a network from positions to colours.
type Model struct {
	Spec
	device  tensor.Device
	encoder encoder
	net     *nn.MLP
}

// newModel draws a model's weights and biases: those of SIREN as its authors do, else normal with
// variance 1/fan-in, the last layer without bias.
func newModel(d tensor.Device, spec Spec, rng *tensor.RNG) *Model {
	m := &Model{Spec: spec, device: d}
	if n := spec.Network; n.Activation == "sine" {
		m.net = siren(d, rng, spec.sizes(), n.Parameter)
	} else {
		m.net = nn.NewMLP(d, rng, nn.MLPConfig{Sizes: spec.sizes(), Activations: []nn.Activation{nn.LeakyReLU(n.Parameter)},
			Weight: nn.NormalFanIn, Bias: nn.NormalFanIn, NoOutputBias: true})
	}
	m.encoder = spec.Encoding.encoder(d, rng, spec.Width, spec.Height)
	return m
}

// siren returns a network whose hidden layers are sines of omega times their sums. Source: Sitzmann
// et al., "Implicit Neural Representations with Periodic Activation Functions", NeurIPS 2020, §3.2.
func siren(d tensor.Device, rng *tensor.RNG, sizes []int, omega float64) *nn.MLP {
	first, later := nn.SIREN(omega)
	return nn.NewMLP(d, rng, nn.MLPConfig{Sizes: sizes, Activations: []nn.Activation{nn.Sine(omega)}, First: first,
		Weight: later, Bias: nn.UniformFanIn})
}

// Params returns what training changes: the parameters of the network, then those of the encoding.
func (m *Model) Params() []*autograd.Node { return append(nn.Params(m.net), m.encoder.params()...) }

// Size returns the number of trained weights.
func (m *Model) Size() int {
	n := 0
	for _, p := range m.Params() {
		n += p.Value().Len()
	}
	return n
}

// tensors returns what the model consists of, by name, as parameters and encodings hold it.
func (m *Model) tensors() tensor.Dict {
	dict := tensor.Dict{}
	for _, p := range m.Params() {
		dict[p.Name()] = p.Value()
	}
	maps.Copy(dict, m.encoder.fixed())
	return dict
}

// forward returns the colours [n, channels] of positions [n, 2].
func (m *Model) forward(positions *autograd.Node) *autograd.Node {
	return m.net.Forward(m.encoder.encode(positions))
}

// Free releases the model.
func (m *Model) Free() {
	for _, p := range nn.Params(m.net) {
		p.Free()
	}
	m.encoder.free()
}
