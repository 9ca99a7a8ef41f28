package plot

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
)

// usualBins is how many bars a histogram has.
const usualBins = 50

// mostBins bounds them.
const mostBins = 1 << 16

// Histogram returns a panel of how often numbers occur in a tensor. The title tells how many elements are not finite,
// or beyond 1e300, which have no bar. The error is the device's.
func Histogram(title string, t *tensor.Tensor) (Panel, error) {
	values, err := t.Float64s()
	if err != nil {
		return Panel{}, err
	}
	return Panel{Title: title, Histogram: append([]float64{}, values...), YLabel: "elements"}, nil
}

// Parameters returns two panels for each parameter, for a figure of two columns: histograms of its elements and of its
// gradient, in the order of params. Of a parameter without a gradient the second is empty, and says so:
// call it between Backward and ZeroGrad, which optim.Minimize ends with.
func Parameters(params []*autograd.Node) ([]Panel, error) {
	var panels []Panel
	for _, p := range params {
		weights, err := Histogram(p.Name(), p.Value())
		if err != nil {
			return nil, err
		}
		gradient := Panel{Title: "no gradient of " + p.Name()}
		if g := p.Grad(); g != nil {
			if gradient, err = Histogram("gradient of "+p.Name(), g); err != nil {
				return nil, err
			}
		}
		panels = append(panels, weights, gradient)
	}
	return panels, nil
}

// addHistogram adds the bars.
func (p Panel) addHistogram(out *plot.Plot, all *bounds) error {
	if p.LogX {
		return fmt.Errorf("a histogram has no logarithmic X")
	}
	bins := p.Bins
	if bins < 0 || bins > mostBins {
		return fmt.Errorf("%d Bins: they are 1 to %d, and 0 for %d", bins, mostBins, usualBins)
	}
	if bins == 0 {
		bins = usualBins
	}
	var values plotter.Values
	for _, v := range p.Histogram {
		if drawable(v, false) {
			values = append(values, v)
		}
	}
	if other := len(p.Histogram) - len(values); other > 0 {
		out.Title.Text += fmt.Sprintf(" (%d of %d are not finite, or beyond 1e300)", other, len(p.Histogram))
	}
	if len(values) == 0 {
		return nil
	}
	h, err := plotter.NewHist(values, bins)
	if err != nil {
		return err
	}
	h.FillColor = plotutil.SoftColors[2]
	h.LineStyle.Width = 0
	h.LogY = p.LogY
	for _, b := range h.Bins {
		if !p.LogY || b.Weight > 0 {
			all.add(b.Min, b.Weight)
			all.add(b.Max, b.Weight)
		}
	}
	if !p.LogY {
		all.y[0] = 0
	}
	out.Add(h)
	return nil
}
