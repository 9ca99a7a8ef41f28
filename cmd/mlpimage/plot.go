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
	"gonum.org/v1/plot/vg/draw"
)

// plotCurves draws the reported losses, on a logarithmic axis, above the estimates of PSNR. One
// loss at least is above 0.
func plotCurves(w io.Writer, path string, history []imagefit.Progress) error {
	var losses, psnrs plotter.XYs
	for _, h := range history {
		if h.Loss > 0 { // an exact fit has no logarithm
			losses = append(losses, plotter.XY{X: float64(h.Step), Y: h.Loss})
		}
		if !math.IsInf(h.PSNR, 0) {
			psnrs = append(psnrs, plotter.XY{X: float64(h.Step), Y: h.PSNR})
		}
	}
	loss, err := curve("Training loss", "mean error of a value", losses)
	if err != nil {
		return err
	}
	low, high := span(losses)
	loss.Y.Min, loss.Y.Max = low/1.1, high*1.1
	loss.Y.Scale, loss.Y.Tick.Marker = plot.LogScale{}, logTicks{}
	psnr, err := curve("PSNR, estimated while training", "dB", psnrs)
	if err != nil {
		return err
	}
	low, high = span(psnrs)
	psnr.Y.Min, psnr.Y.Max = low-0.5, high+0.5

	const width, height = 16 * vg.Centimeter, 18 * vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(width, height, strings.ToLower(filepath.Ext(path)[1:]))
	if err != nil {
		return err
	}
	plots := [][]*plot.Plot{{loss}, {psnr}}
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadX: vg.Millimeter, PadY: 4 * vg.Millimeter, PadTop: 2 * vg.Millimeter,
		PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for row, canvases := range plot.Align(plots, tiles, draw.New(canvas)) {
		plots[row][0].Draw(canvases[0])
	}
	_, err = canvas.WriteTo(w)
	return err
}

// curve returns a plot of one line over the steps.
func curve(title, unit string, points plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "step", unit
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	p.Add(plotter.NewGrid(), line)
	p.X.Min = 0 // round steps are marked, not those from 1 on
	return p, nil
}

func span(points plotter.XYs) (low, high float64) {
	low, high = points[0].Y, points[0].Y
	for _, q := range points {
		low, high = min(low, q.Y), max(high, q.Y)
	}
	return low, high
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
