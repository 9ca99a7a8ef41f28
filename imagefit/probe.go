package imagefit

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// probe is pixels spread evenly over an image, on which the mean squared error is estimated.
type probe struct {
	positions, colours *tensor.Tensor // [n, 2], [n, channels]
}

// probePixels is how many there are, in an image of as many.
const probePixels = 4096

func newProbe(d tensor.Device, pixels *tensor.Tensor, width, height int) *probe {
	n := min(probePixels, width*height)
	index, centres := make([]int32, n), make([]float64, 0, 2*n)
	for i := range index {
		at := i * (width * height) / n
		index[i] = int32(at)
		centres = append(centres, (float64(at%width)+0.5)/float64(width), (float64(at/width)+0.5)/float64(height))
	}
	at := tensor.New(d, index)
	defer at.Free()
	return &probe{
		positions: tensor.NewOf(d, d.DefaultType(), centres, n, 2).Retain(),
		colours:   pixels.GatherRows(at).Retain(),
	}
}

// mse waits for the device and returns the mean squared error of a model.
func (p *probe) mse(m *Model) (v float64, err error) {
	tensor.Scope(m.device, func() {
		autograd.NoGrad(m.device, func() {
			diff := m.forward(autograd.Const(p.positions)).Sub(autograd.Const(p.colours))
			v, err = diff.Square().Mean().Item()
		})
	})
	return v, err
}

func (p *probe) free() {
	p.positions.Free()
	p.colours.Free()
}
