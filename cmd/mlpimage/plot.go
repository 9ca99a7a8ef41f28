package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/plot"
)

// plotCurves draws the reported losses, on a logarithmic axis, above the estimates of PSNR.
func plotCurves(w io.Writer, path string, history []imagefit.Progress) error {
	loss, psnr := plot.Curve{X: []float64{}}, plot.Curve{X: []float64{}}
	for _, h := range history { // an exact fit has no logarithm, and an infinite PSNR: it has gaps
		loss.X, loss.Y = append(loss.X, float64(h.Step)), append(loss.Y, h.Loss)
		psnr.X, psnr.Y = append(psnr.X, float64(h.Step)), append(psnr.Y, h.PSNR)
	}
	return plot.Write(w, strings.ToLower(filepath.Ext(path)[1:]), []plot.Panel{
		{Title: "Training loss", XLabel: "step", YLabel: "mean error of a value", LogY: true, Curves: []plot.Curve{loss}},
		{Title: "PSNR, estimated while training", XLabel: "step", YLabel: "dB", Curves: []plot.Curve{psnr}},
	})
}
