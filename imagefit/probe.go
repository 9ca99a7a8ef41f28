package imagefit

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// probe is pixels spread evenly over an image, on which the mean squared error is estimated.
type probe struct {
	positions, colours *tensor.Tensor // [n, 2], [n, channels]
}

// probePixels is how many: their sampling error is about 0.1 dB.
const probePixels = 4096

func newProbe(d tensor.Device, pixels *tensor.Tensor, width, height int) *probe {
	n := min(probePixels, width*height)
	index := make([]int, n)
	for i := range index {
		index[i] = i * (width * height) / n
	}
	p := &probe{}
	tensor.Scope(d, func() {
		at := tensor.NewInts(d, index)
		defer at.Free()
		p.colours = pixels.GatherRows(at).Keep()
		p.positions = pixelCentres(d, width*height, 0, 0, width, width, height).GatherRows(at).Keep()
	})
	return p
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
