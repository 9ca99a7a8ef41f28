package imagefit

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/hashgrid"
)

// Spec says what a model is; it is stored in the model file as JSON under the name "metadata".
type Spec struct {
	Format   int      `json:"format"`   // of the file
	Width    int      `json:"width"`    // of the image that was fitted
	Height   int      `json:"height"`   // of the image, too
	Colour   Colour   `json:"colour"`   // channels, and how they are stored
	Encoding Encoding `json:"encoding"` // of positions
	Network  Network  `json:"network"`  // from encoded positions to colours
	Weights  string   `json:"weights"`  // how they are stored: FP32, FP16 or Int8
	Steps    int      `json:"steps"`    // that it was trained
}

// Network says what a perceptron is: Layers hidden layers of Hidden units, each followed by the
// activation, and an output layer.
type Network struct {
	Hidden     int     `json:"hidden"`
	Layers     int     `json:"layers"`
	Activation string  `json:"activation"`  // leaky_relu or sine
	Parameter  float64 `json:"parameter"`   // the slope of leaky_relu, the omega of sine
	OutputBias bool    `json:"output_bias"` // the output layer has one
}

const (
	format       = 2
	metadataName = "metadata"
)

// slope is that of the leaky ReLU after every hidden layer.
const slope = 0.1

// network returns the perceptron that goes with an encoding.
func (e Encoding) network(hidden, layers int) Network {
	if e.Kind == SIREN {
		return Network{hidden, layers, "sine", e.Omega, true}
	}
	return Network{hidden, layers, "leaky_relu", slope, false}
}

// newSpec returns what a fit of an image makes.
func newSpec(img *Image, c Config) (Spec, error) {
	e := c.Encoding
	if e.Kind == Hash && e.Finest == 0 {
		e.Finest = min(max(img.Width, img.Height, e.Coarsest), hashgrid.MaxCells)
	}
	s := Spec{format, img.Width, img.Height, img.Colour, e, e.network(c.Hidden, c.Layers), FP32, 0}
	return s, s.checkTable()
}

// checkTable refuses a hash table that kernels could not index.
func (s Spec) checkTable() error {
	if s.Encoding.Kind != Hash {
		return nil
	}
	if n := s.Encoding.entries(s.Width, s.Height); n > mostElements/2/s.Encoding.PerEntry {
		return fmt.Errorf("%w: a hash table of %d entries of %d features is more than clgrad indexes: lower table or levels",
			ErrConfig, n, s.Encoding.PerEntry)
	}
	return nil
}

// sizes returns the inputs of the network and the outputs of each layer.
func (s Spec) sizes() []int {
	sizes := []int{s.Encoding.inputs()}
	for range s.Network.Layers {
		sizes = append(sizes, s.Network.Hidden)
	}
	return append(sizes, s.Colour.Channels())
}

// shapes returns the arrays that a model has, by name, with their shapes.
func (s Spec) shapes() map[string][]int {
	all := map[string][]int{}
	sizes := s.sizes()
	for l := range len(sizes) - 1 {
		all[fmt.Sprintf("layer%d.weight", l)] = []int{sizes[l], sizes[l+1]}
		if l < len(sizes)-2 || s.Network.OutputBias {
			all[fmt.Sprintf("layer%d.bias", l)] = []int{sizes[l+1]}
		}
	}
	switch s.Encoding.Kind {
	case Fourier:
		all[wavesName] = []int{2, s.Encoding.Features / 2}
	case Hash:
		for l, g := range s.Encoding.levels(s.Width, s.Height) {
			all[levelName(l)] = []int{g.Entries, s.Encoding.PerEntry}
		}
	}
	return all
}

// Aliases reports whether the encoding has waves that are finer than the pixels of the image that
// was fitted. They were seen at the centres of those pixels only: between them, at any other size,
// the network draws noise.
func (s Spec) Aliases() bool {
	var finest float64 // cycles per picture
	switch s.Encoding.Kind {
	case Frequency:
		finest = math.Exp2(float64(s.Encoding.Features/4 - 1))
	case Fourier:
		finest = 3 * s.Encoding.Sigma // one wave in four hundred is finer
	}
	return finest > float64(min(s.Width, s.Height))/2
}

// levelName is the name of a grid's part of the hash table in a model file.
func levelName(l int) string { return fmt.Sprintf("encoding.level%d", l) }

// check finds what no model is, in a file of so many arrays, before anything is allocated for it.
func (s Spec) check(arrays int) error {
	if s.Format != format {
		return fmt.Errorf("format %d: this program reads format %d", s.Format, format)
	}
	if s.Width < 1 || s.Height < 1 || s.Width > mostElements/4/s.Height {
		return fmt.Errorf("image size %d×%d", s.Width, s.Height)
	}
	if s.Steps < 0 {
		return fmt.Errorf("steps is %d: no training has fewer than 0", s.Steps)
	}
	if !slices.Contains(WeightFormats, s.Weights) {
		return fmt.Errorf("there are no weights %q: there are %v", s.Weights, WeightFormats)
	}
	// A small array is all that absurd numbers of layers or levels would have to show.
	cfg := Defaults()
	cfg.Encoding, cfg.Hidden, cfg.Layers, cfg.Batch = s.Encoding, s.Network.Hidden, s.Network.Layers, 1
	if err := cfg.Validate(); err != nil {
		return err
	}
	if s.Encoding.Kind == Hash && s.Encoding.Finest == 0 {
		return fmt.Errorf("%w: finest is 0", ErrConfig)
	}
	if want := s.Encoding.network(s.Network.Hidden, s.Network.Layers); s.Network != want {
		return fmt.Errorf("the network is %+v: with encoding %s it is %+v", s.Network, s.Encoding.Kind, want)
	}
	if s.Network.Layers > arrays || s.Encoding.Levels > arrays {
		return fmt.Errorf("%d layers and %d levels in %d arrays", s.Network.Layers+1, s.Encoding.Levels, arrays)
	}
	return s.checkTable()
}
