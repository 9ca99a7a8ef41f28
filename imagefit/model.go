package imagefit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// slope is that of the leaky ReLU after every hidden layer.
const slope = 0.1

// ErrModel is what a file is that does not hold a model.
var ErrModel = errors.New("not a model file of mlpimage")

// Model is a network from positions to colours.
type Model struct {
	Spec
	device tensor.Device
	net    *nn.MLP
}

// Spec says what a model is; it is stored in the model file as JSON under the name "metadata".
type Spec struct {
	Format   int `json:"format"` // of the file: 1
	Width    int `json:"width"`  // of the image that was fitted
	Height   int `json:"height"`
	Features int `json:"features"`
	Hidden   int `json:"hidden"`
	Layers   int `json:"layers"` // hidden ones
}

const (
	format       = 1
	metadataName = "metadata"
)

// newModel draws a model's weights and biases: normal with variance 1/fan-in, the last layer without
// bias.
func newModel(d tensor.Device, spec Spec, rng *tensor.RNG) *Model {
	sizes := []int{spec.Features}
	for range spec.Layers {
		sizes = append(sizes, spec.Hidden)
	}
	return &Model{spec, d, nn.NewMLP(d, rng, nn.MLPConfig{
		Sizes: append(sizes, Channels), Activations: []nn.Activation{nn.LeakyReLU(slope)}, NoOutputBias: true,
	})}
}

// Params returns the parameters of the network.
func (m *Model) Params() []*autograd.Node { return m.net.Params() }

// Size returns the number of weights and biases.
func (m *Model) Size() int {
	n := 0
	for _, p := range m.Params() {
		n += p.Value().Len()
	}
	return n
}

// renderChunk is how many pixels are rendered at once: enough to fill a device, little memory.
const renderChunk = 1 << 14

// Render evaluates the model at the pixel centres of an image of the given size. Octaves of the encoding
// above the training image's resolution were seen at its pixels only: larger sizes show them as noise.
func (m *Model) Render(ctx context.Context, width, height int) (*Image, error) {
	if width < 1 || height < 1 || width > mostPixels/height {
		return nil, fmt.Errorf("imagefit: render: %w: size %d×%d: sides are at least 1, pixels at most %d", ErrConfig, width, height, mostPixels)
	}
	img := &Image{Width: width, Height: height, Pixels: make([]float32, 0, width*height*Channels)}
	rows := max(1, renderChunk/width)
	for row := 0; row < height; row += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		colours, err := m.colours(min(rows, height-row)*width, row, width, height)
		if err != nil {
			return nil, fmt.Errorf("imagefit: render: %w", err)
		}
		img.Pixels = append(img.Pixels, colours...)
	}
	return img, nil
}

func (m *Model) colours(n, row, width, height int) (colours []float32, err error) {
	tensor.Scope(m.device, func() {
		autograd.NoGrad(m.device, func() {
			centres := pixelCentres(m.device, n, 0, row, width, width, height)
			x := encode(centres, m.Features/4)
			y := m.net.Forward(autograd.Const(x))
			x.Free()
			colours, err = y.Value().Float32s()
		})
	})
	return colours, err
}

// Write writes the model as a NumPy archive: the weights by name, and its Spec.
func (m *Model) Write(w io.Writer) error {
	spec, err := json.Marshal(m.Spec)
	if err != nil {
		return fmt.Errorf("imagefit: write model: %w", err)
	}
	arrays := map[string]npz.Array{metadataName: {Shape: []int{len(spec)}, Data: spec}}
	for _, p := range m.Params() {
		data, err := p.Value().Float32s()
		if err != nil {
			return fmt.Errorf("imagefit: write model: %w", err)
		}
		arrays[p.Name()] = npz.Array{Shape: p.Shape(), Data: data}
	}
	return npz.Write(w, arrays)
}

// ReadModel reads a model file onto a device. Errors of the contents wrap ErrModel.
func ReadModel(d tensor.Device, path string) (*Model, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("imagefit: read model: %w", err)
	}
	m, err := decodeModel(d, raw)
	if err != nil {
		return nil, fmt.Errorf("imagefit: %s: %w", path, err)
	}
	return m, nil
}

func decodeModel(d tensor.Device, raw []byte) (*Model, error) {
	arrays, err := npz.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	meta, ok := arrays[metadataName].Data.([]uint8)
	if !ok {
		return nil, fmt.Errorf("%w: it has no %q", ErrModel, metadataName)
	}
	delete(arrays, metadataName)
	var spec Spec
	if err := json.Unmarshal(meta, &spec); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrModel, metadataName, err)
	}
	if err := spec.check(arrays); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	m := newModel(d, spec, tensor.NewRNG(0))
	dict := tensor.Dict{}
	for name, a := range arrays {
		dict[name] = tensor.New(d, a.Data.([]float32), a.Shape...)
	}
	defer func() {
		for _, t := range dict {
			t.Free()
		}
	}()
	if err := nn.LoadStateDict(m.Params(), dict); err != nil {
		m.free()
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return m, d.Err()
}

// check compares what the metadata says with the arrays that are there, before anything is allocated for
// it.
func (s Spec) check(arrays map[string]npz.Array) error {
	if s.Format != format {
		return fmt.Errorf("format %d: this program reads format %d", s.Format, format)
	}
	cfg := Defaults()
	cfg.Features, cfg.Hidden, cfg.Layers = s.Features, s.Hidden, s.Layers
	if err := cfg.Validate(); err != nil {
		return err
	}
	if s.Width < 1 || s.Height < 1 || s.Width > mostPixels/s.Height {
		return fmt.Errorf("image size %d×%d", s.Width, s.Height)
	}
	if want := 2*s.Layers + 1; len(arrays) != want {
		return fmt.Errorf("%d layers have %d arrays, the file has %d", s.Layers+1, want, len(arrays))
	}
	for name, a := range arrays {
		if _, ok := a.Data.([]float32); !ok {
			return fmt.Errorf("array %q holds %T, not []float32", name, a.Data)
		}
	}
	first := arrays["layer0.weight"].Shape
	if len(first) != 2 || first[0] != s.Features || first[1] != s.Hidden {
		return fmt.Errorf("array %q has shape %v, the metadata says [%d %d]", "layer0.weight", first, s.Features, s.Hidden)
	}
	return nil
}

// free releases the parameters.
func (m *Model) free() {
	for _, p := range m.Params() {
		p.Free()
	}
}
