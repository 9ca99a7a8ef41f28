package plot

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Panel is one plot of a figure: curves, or a histogram.
type Panel struct {
	Title, XLabel, YLabel string    // above, and at the axes
	LogX, LogY            bool      // logarithmic axes; numbers below 1e-300 are left out
	Curves                []Curve   // one has no legend unless it has a name
	Histogram             []float64 // numbers, of which it counts how many lie in each bar
	Bins                  int       // of the histogram; 0: 50
}

// Curve is a line of Y over X. Where a number is NaN, infinite or beyond 1e300 it has a gap.
type Curve struct {
	Name string    // in the legend
	X    []float64 // nil: 0, 1, 2, …
	Y    []float64
}

// Options says how panels become a figure.
type Options struct {
	Columns       int     // 0: 1
	Width, Height float64 // of a panel, in centimetres, 1 to 500; 0: 16 and 9
}

// Save draws panels, row by row, and writes the figure to a file whose name ends in .png or .svg. It returns an error for
// another name, for no panel, for a curve whose X is not as long as its Y, and for a file that cannot be written. The
// file is written whole or not at all.
func Save(path string, panels []Panel, opts ...Options) error {
	format := strings.TrimPrefix(filepath.Ext(path), ".")
	f, err := newFigure(format, panels, opts)
	if err != nil {
		return fmt.Errorf("plot: %s: %w", path, err)
	}
	return atomicfile.Write(path, f.write)
}

// Write is [Save] to a writer, in a format: "png" or "svg".
func Write(w io.Writer, format string, panels []Panel, opts ...Options) error {
	f, err := newFigure(format, panels, opts)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return f.write(w)
}

// figure is panels that are about to be drawn.
type figure struct {
	format string
	opt    Options
	plots  [][]*plot.Plot
}

func newFigure(format string, panels []Panel, opts []Options) (*figure, error) {
	f := &figure{format: strings.ToLower(format)}
	if f.format != "png" && f.format != "svg" {
		return nil, fmt.Errorf("the format is %q: it must be png or svg, as the end of the file's name", format)
	}
	if len(panels) == 0 {
		return nil, fmt.Errorf("there is no panel")
	}
	if len(opts) > 1 {
		return nil, fmt.Errorf("there are %d Options: pass one", len(opts))
	}
	for _, o := range opts {
		f.opt = o
	}
	if f.opt.Columns < 0 {
		return nil, fmt.Errorf("Options.Columns is %d: it is 0 or more", f.opt.Columns)
	}
	f.opt.Columns = min(max(f.opt.Columns, 1), len(panels))
	if f.opt.Width == 0 {
		f.opt.Width = 16
	}
	if f.opt.Height == 0 {
		f.opt.Height = 9
	}
	if err := f.checkSize(len(panels)); err != nil {
		return nil, err
	}
	for i, p := range panels {
		drawn, err := p.plot()
		if err != nil {
			return nil, fmt.Errorf("panel %d, %q: %w", i, p.Title, err)
		}
		if i%f.opt.Columns == 0 {
			f.plots = append(f.plots, make([]*plot.Plot, f.opt.Columns))
		}
		f.plots[i/f.opt.Columns][i%f.opt.Columns] = drawn
	}
	return f, nil
}

// checkSize returns an error for panels of a size that cannot be drawn, and for too many of them.
func (f *figure) checkSize(panels int) error {
	for _, cm := range []float64{f.opt.Width, f.opt.Height} {
		if !(cm >= 1 && cm <= 500) {
			return fmt.Errorf("a panel of %v × %v cm: Width and Height are 1 to 500, and 0 for 16 and 9", f.opt.Width, f.opt.Height)
		}
	}
	const perCentimetre = vgimg.DefaultDPI / 2.54
	rows := (panels + f.opt.Columns - 1) / f.opt.Columns
	width, height := perCentimetre*f.opt.Width*float64(f.opt.Columns), perCentimetre*f.opt.Height*float64(rows)
	if f.format == "png" && width*height > mostPixels {
		return fmt.Errorf("%d panels of %v × %v cm are over %d pixels: write svg, or smaller or fewer ones",
			panels, f.opt.Width, f.opt.Height, mostPixels)
	}
	return nil
}

// mostPixels is how many pixels a picture may have.
const mostPixels = 1 << 27

func (f *figure) write(w io.Writer) error {
	rows := len(f.plots)
	width := vg.Length(f.opt.Width*float64(f.opt.Columns)) * vg.Centimeter
	height := vg.Length(f.opt.Height*float64(rows)) * vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(width, height, f.format)
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: rows, Cols: f.opt.Columns, PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for row, canvases := range plot.Align(f.plots, tiles, draw.New(canvas)) {
		for column, c := range canvases {
			if p := f.plots[row][column]; p != nil {
				p.Draw(c)
			}
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

// plot returns what is drawn of a panel.
func (p Panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.XLabel, p.YLabel
	out.Title.Padding = vg.Millimeter
	out.Legend.Top, out.Legend.Padding = true, vg.Millimeter
	out.Add(plotter.NewGrid())
	var all bounds
	if p.Histogram != nil {
		if err := p.addHistogram(out, &all); err != nil {
			return nil, err
		}
	}
	for i, c := range p.Curves {
		if err := p.addCurve(out, i, c, &all); err != nil {
			return nil, err
		}
	}
	if all.n == 0 { // nothing can be drawn: the axes are
		all.add(0, 0)
		all.add(1, 1)
		if p.LogX || p.LogY {
			all = bounds{n: 1, x: [2]float64{1, 10}, y: [2]float64{1, 10}}
		}
	}
	all.set(&out.X, all.x, p.LogX)
	all.set(&out.Y, all.y, p.LogY)
	return out, nil
}

// addCurve adds a curve: a line between each two gaps, or a point.
func (p Panel) addCurve(out *plot.Plot, i int, c Curve, all *bounds) error {
	if c.X != nil && len(c.X) != len(c.Y) {
		return fmt.Errorf("curve %d, %q, has %d numbers X and %d numbers Y", i, c.Name, len(c.X), len(c.Y))
	}
	var part plotter.XYs
	named := false
	end := func() error {
		if len(part) == 0 {
			return nil
		}
		line, points, err := plotter.NewLinePoints(part)
		if err != nil {
			return err
		}
		line.Color, points.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width, points.Radius = vg.Points(1.2), vg.Points(1.5)
		if out.Add(line); len(part) == 1 {
			out.Add(points)
		}
		if c.Name != "" && !named {
			out.Legend.Add(c.Name, line)
			named = true
		}
		part = nil
		return nil
	}
	for k, y := range c.Y {
		x := float64(k)
		if c.X != nil {
			x = c.X[k]
		}
		if !drawable(x, p.LogX) || !drawable(y, p.LogY) {
			if err := end(); err != nil {
				return err
			}
			continue
		}
		part = append(part, plotter.XY{X: x, Y: y})
		all.add(x, y)
	}
	return end()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// drawable reports whether an axis has a place for x, from which there is room for computing with it.
func drawable(x float64, log bool) bool {
	const least, most = 1e-300, 1e300
	return math.Abs(x) <= most && (!log || x >= least)
}

// bounds is the range of what is drawn.
type bounds struct {
	n    int
	x, y [2]float64
}

func (b *bounds) add(x, y float64) {
	if b.n++; b.n == 1 {
		b.x, b.y = [2]float64{x, x}, [2]float64{y, y}
		return
	}
	b.x = [2]float64{min(b.x[0], x), max(b.x[1], x)}
	b.y = [2]float64{min(b.y[0], y), max(b.y[1], y)}
}

// set gives an axis a range: somewhat more than that of what is drawn.
func (b *bounds) set(axis *plot.Axis, span [2]float64, log bool) {
	axis.Min, axis.Max, axis.Tick.Marker = span[0], span[1], ticks{}
	switch {
	case log:
		axis.Min, axis.Max = span[0]/1.1, span[1]*1.1
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, logTicks{}
	case span[1]-span[0] <= 1e-15*max(math.Abs(span[0]), math.Abs(span[1]), 1e-285): // nothing is between them
		more := max(math.Abs(span[0])/10, 0.5)
		axis.Min, axis.Max = span[0]-more, span[1]+more
	}
}

// ticks marks about six multiples of 1, 2 or 5 times a power of ten.
type ticks struct{}

// Ticks returns the marks of an axis from low to high.
func (ticks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 6))))
	for _, m := range []float64{2, 2.5, 2} { // 2, 5 and 10 times the power
		if (high-low)/step <= 7 {
			break
		}
		step *= m
	}
	var list []plot.Tick
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := math.Ceil(low/step - 1e-9); i <= high/step+1e-9; i++ {
		v := i * step
		if v == 0 {
			v = 0 // not −0
		}
		label := strconv.FormatFloat(v, 'f', digits, 64)
		if digits > 5 || math.Abs(v) >= 1e7 {
			label = fmt.Sprintf("%.6g", v)
		}
		list = append(list, plot.Tick{Value: v, Label: label})
		if len(list) > 20 {
			break // numbers so near to each other that a step changes none
		}
	}
	return list
}

// logTicks marks 1, 2 and 5 times the powers of ten, over many decades the powers alone.
type logTicks struct{}

// Ticks returns the marks of an axis from low to high, both above 0.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	decades := math.Log10(high / low)
	every := max(1, int(math.Ceil(decades/8))) // decades that have a label
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(low))); math.Pow10(e) <= high; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow10(e)
			if v < low || v > high || m > 1 && decades > 8 {
				continue
			}
			label := ""
			if m == 1 && e%every == 0 || (m == 2 || m == 5) && decades < 3 {
				label = fmt.Sprintf("%.4g", v)
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}
