package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
)

// size is what --size says: one or both sides in pixels, or a factor on the size of the training
// image.
type size struct {
	width, height int // 0: by the other side and the aspect of the training image
	factor        float64
}

// A number before an x alone is a factor up to mostFactor, and a width from leastWidth on: 2x is
// twice the size, 512x is 512 pixels wide. What lies between is refused: it could be either.
const (
	mostFactor = 32
	leastWidth = 256
)

// parseSize reads "WxH", "Wx", "xH" or "Fx"; "" is the size of the training image.
func parseSize(text string) (size, error) {
	if text == "" {
		return size{factor: 1}, nil
	}
	w, h, both := strings.Cut(strings.ToLower(text), "x")
	bad := fmt.Errorf("--size %q: it must be WIDTHxHEIGHT, such as 640x480, WIDTHx or xHEIGHT, such as 640x, or a factor, such as 2x", text)
	if !both {
		if v, err := integers([]string{w}); err == nil && v[0] > 0 {
			return size{}, fmt.Errorf("--size %s: it must be %dx for that width, x%d for that height, or %dx%d for both", text, v[0], v[0], v[0], v[0])
		}
		return size{}, bad
	}
	width, errW := side(w)
	height, errH := side(h)
	if h == "" && !errors.Is(errW, strconv.ErrRange) && (width < leastWidth || errW != nil) {
		f, err := strconv.ParseFloat(w, 64)
		switch {
		case err != nil || strings.Contains(w, "_") || math.IsInf(f, 0) || !(f > 0):
			return size{}, bad
		case f > mostFactor:
			return size{}, fmt.Errorf("--size %s: a factor is at most %d, and a width without a height at least %d: give both sides in pixels, such as %.0fx%.0f, or the height, such as x%.0f",
				text, mostFactor, leastWidth, math.Ceil(f), math.Ceil(f), math.Ceil(f))
		}
		return size{factor: f}, nil
	}
	switch err := cmp.Or(errW, errH); {
	case errors.Is(err, strconv.ErrRange):
		return size{}, fmt.Errorf("--size %s: a side has at most %d pixels", text, math.MaxInt32)
	case err != nil || width == 0 && height == 0:
		return size{}, bad
	}
	return size{width: width, height: height}, nil
}

// side reads a number of pixels; "" is 0.
func side(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	v, err := integers([]string{text})
	if err != nil {
		return 0, err
	}
	if v[0] == 0 {
		return 0, strconv.ErrSyntax
	}
	return v[0], nil
}

// of returns the size of the picture of a model.
func (s size) of(m imagefit.Spec) (width, height int) {
	scale := func(side int, by float64) int { return max(1, int(math.Round(float64(side)*by))) }
	switch {
	case s.factor > 0:
		return scale(m.Width, s.factor), scale(m.Height, s.factor)
	case s.height == 0:
		return s.width, scale(m.Height, float64(s.width)/float64(m.Width))
	case s.width == 0:
		return scale(m.Width, float64(s.height)/float64(m.Height)), s.height
	}
	return s.width, s.height
}

// remarks returns what to say of a picture of a model at a size.
func remarks(m imagefit.Spec, width, height int) []string {
	var lines []string
	_, byWidth := size{width: width}.of(m)
	byHeight, _ := size{height: height}.of(m)
	if height != byWidth && width != byHeight {
		w, h := size{width: max(width, leastWidth)}.of(m) // a smaller number would be no width
		lines = append(lines, fmt.Sprintf("the picture is stretched: the training image has %dx%d pixels, --size %dx draws it %dx%d",
			m.Width, m.Height, w, w, h))
	}
	if m.Aliases() && (width != m.Width || height != m.Height) {
		lines = append(lines, fmt.Sprintf("the encoding %s was seen at the pixels of the training image only: at another size the picture may be "+
			"a grid of dots; draw it at its own, %dx%d, or train with --preset good", m.Encoding.Kind, m.Width, m.Height))
	}
	return lines
}

// mostPixels is how many are drawn unless --max-pixels says more: minutes of work, and a file that
// most programs open.
const mostPixels = 1 << 28

// tooMany returns the error for a view of more pixels than most, with an estimate of what it would
// take: that of a small part of it, times as many pixels.
func tooMany(ctx context.Context, m *imagefit.Model, v imagefit.View, most int64) error {
	win := v.Crop
	if win == (image.Rectangle{}) {
		win = image.Rect(0, 0, v.Width, v.Height)
	}
	pixels := float64(win.Dx()) * float64(win.Dy())
	if pixels <= float64(most) {
		return nil
	}
	part := image.Rect(0, 0, min(win.Dx(), 512), min(win.Dy(), 256)).Add(win.Min).Add(image.Pt(win.Dx()/2, win.Dy()/2)).Intersect(win)
	sample := imagefit.View{Width: v.Width, Height: v.Height, Crop: part}
	var bytes counter
	var took time.Duration
	for range 2 { // the first builds kernels
		bytes = 0
		start := time.Now()
		if err := m.RenderTo(ctx, &bytes, sample, imagefit.Format{}, nil); err != nil {
			return err
		}
		took = time.Since(start)
	}
	times := pixels / (float64(part.Dx()) * float64(part.Dy()))
	return cli.Usage(fmt.Errorf("%dx%d pixels would take about %s and a file of %s: render draws at most %d pixels unless --max-pixels allows more; "+
		"--size makes the picture smaller, --crop draws a part of it", win.Dx(), win.Dy(), formatTime(took.Seconds()*times),
		imagefit.FormatBytes(int64(min(float64(bytes)*times, math.MaxInt64/2))), most))
}

// counter is a writer that counts bytes.
type counter int64

// Write is part of io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// formatTime writes a time for people who decide whether to wait that long.
func formatTime(seconds float64) string {
	for _, u := range []struct {
		name string
		of   float64
	}{{"years", 365 * 24 * 3600}, {"days", 24 * 3600}, {"hours", 3600}, {"minutes", 60}} {
		if seconds >= 2*u.of {
			return fmt.Sprintf("%.0f %s", seconds/u.of, u.name)
		}
	}
	return fmt.Sprintf("%.0f seconds", seconds)
}
