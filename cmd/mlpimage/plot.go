package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/imagefit"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// plotLoss draws the reported losses over the steps, on a logarithmic axis.
func plotLoss(w io.Writer, path string, history []imagefit.Progress) error {
	points := make(plotter.XYs, 0, len(history))
	for _, h := range history {
		if h.Loss > 0 { // an exact fit has no logarithm
			points = append(points, plotter.XY{X: float64(h.Step), Y: h.Loss})
		}
	}
	if len(points) == 0 {
		return fmt.Errorf("no loss above 0 to draw")
	}
	p := plot.New()
	p.Title.Text = "Training loss"
	p.X.Label.Text = "step"
	p.Y.Label.Text = "sum of squared errors over the batch"
	low, high := points[0].Y, points[0].Y
	for _, q := range points {
		low, high = min(low, q.Y), max(high, q.Y)
	}
	low, high = low/1.1, high*1.1
	p.Y.Min, p.Y.Max = low, high
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = logTicks{}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	p.Add(plotter.NewGrid(), line)
	p.Y.Min, p.Y.Max = low, high
	to, err := p.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, strings.ToLower(filepath.Ext(path)[1:]))
	if err != nil {
		return err
	}
	_, err = to.WriteTo(w)
	return err
}

// logTicks marks 1, 2 and 5 times the powers of ten: a loss curve often spans less than a decade.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for decade := math.Pow10(int(math.Floor(math.Log10(low)))); decade <= high; decade *= 10 {
		for m := 1.0; m < 10; m++ {
			v := m * decade
			if v < low || v > high {
				continue
			}
			label := ""
			if m == 1 || m == 2 || m == 5 {
				label = fmt.Sprintf("%.4g", v)
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}
