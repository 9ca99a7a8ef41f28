package imagefit

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// View is a picture of a model: its size, and the part of it that is drawn, all of it if that is
// empty.
type View struct {
	Width, Height int             // of the whole picture
	Crop          image.Rectangle // the part; empty: all
}

// window returns the part that is drawn, or an error that wraps ErrConfig.
func (v View) window() (image.Rectangle, error) {
	whole := image.Rect(0, 0, v.Width, v.Height)
	if v.Width < 1 || v.Height < 1 || v.Width > math.MaxInt32 || v.Height > math.MaxInt32 {
		return whole, fmt.Errorf("%w: size %d×%d: sides are 1 to 2³¹−1", ErrConfig, v.Width, v.Height)
	}
	if v.Crop == (image.Rectangle{}) {
		return whole, nil
	}
	if v.Crop.Empty() || !v.Crop.In(whole) {
		return whole, fmt.Errorf("%w: the crop is %d×%d pixels at (%d, %d): it must lie in the picture of %d×%d", ErrConfig,
			v.Crop.Dx(), v.Crop.Dy(), v.Crop.Min.X, v.Crop.Min.Y, v.Width, v.Height)
	}
	return v.Crop, nil
}

// chunk is how many pixels are computed at once: enough to fill a device, little memory.
func (m *Model) chunk() int {
	if m.device.Target().CPU {
		return 1 << 15
	}
	return 1 << 18
}

// AllowRender returns an error that wraps ErrMemory if drawing a view takes more than the bounds,
// or what RenderTo refuses.
func (b Bounds) AllowRender(m *Model, v View) error {
	win, err := v.window()
	if err != nil {
		return err
	}
	units := 0
	for _, n := range m.sizes() {
		units += n
	}
	const float, ahead, filters = 4, 3, 6 // bands and rows that are in memory at once
	chunk, cols := int64(m.chunk()), int64(win.Dx())
	need := chunk*int64(units)*float + ahead*max(chunk, cols)*int64(m.Colour.Channels())*float + filters*cols*8
	return b.allow(fmt.Sprintf("drawing rows of %d pixels", cols), need)
}

// Render evaluates the model at the pixel centres of an image of the given size, and returns it
// whole. Details finer than the pixels of the image that was fitted were seen at their centres
// only: larger sizes show what the encoding makes of the places between.
func (m *Model) Render(ctx context.Context, width, height int) (*Image, error) {
	if width > 0 && height > 0 && width > mostElements/4/height {
		return nil, fmt.Errorf("imagefit: render: %w: %d×%d pixels are more than an image in memory has: use RenderTo", ErrConfig, width, height)
	}
	w, err := View{Width: width, Height: height}.window()
	if err != nil {
		return nil, fmt.Errorf("imagefit: render: %w", err)
	}
	img := &Image{Width: width, Height: height, Colour: m.Colour, Pixels: make([]float32, 0, width*height*m.Colour.Channels())}
	for y := 0; y < height; {
		rows, colours, err := m.band(ctx, w, y, width, height)
		if err != nil {
			return nil, fmt.Errorf("imagefit: render: %w", err)
		}
		img.Pixels = append(img.Pixels, colours...)
		y += rows
	}
	return img, nil
}

// RenderTo draws a view as a file in bounded memory: of a picture of any size, no more than a band
// of rows is held, but for gray JPEGs, which are held as a byte a pixel. progress, if not nil, is
// called with the rows that are done.
func (m *Model) RenderTo(ctx context.Context, w io.Writer, v View, f Format, progress func(rows int)) error {
	win, err := v.window()
	if err == nil {
		err = f.Check(m.Colour, win.Dx(), win.Dy())
	}
	if err != nil {
		return fmt.Errorf("imagefit: render: %w", err)
	}
	bands := &bandReader{next: make(chan band, 1), done: progress, compute: func(y int) (int, []float32, error) {
		return m.band(ctx, win, y, v.Width, v.Height)
	}, rows: win.Dy(), stride: win.Dx() * m.Colour.Channels()}
	bands.start(0)
	level := png.DefaultCompression
	if int64(win.Dx())*int64(win.Dy()) > quickPixels {
		level = png.BestSpeed
	}
	err = f.encode(stopper{w, &bands.failed}, newRaster(m.Colour, win.Dx(), win.Dy(), bands.row), level)
	bands.wait()
	if bands.failed != nil {
		return fmt.Errorf("imagefit: render: %w", bands.failed)
	}
	if err == nil && progress != nil {
		progress(win.Dy())
	}
	return err
}

// quickPixels is how large a picture may be to be compressed as well as can be: beyond, that takes
// most of the time.
const quickPixels = 1 << 24

// band is rows of a picture from one on, or why they could not be computed.
type band struct {
	from, rows int
	colours    []float32
	err        error
}

// bandReader hands out the rows of a picture from the top down. The next band is computed, on
// another goroutine, while an encoder is at work on the rows of this one; nobody else uses the
// device meanwhile.
type bandReader struct {
	compute      func(y int) (rows int, colours []float32, err error)
	done         func(rows int) // or nil
	rows, stride int            // of the picture

	next    chan band
	pending bool
	now     band
	failed  error // an image.Image cannot say so: a stopper does
}

func (b *bandReader) start(y int) {
	if b.pending = y < b.rows; b.pending {
		go func() {
			rows, colours, err := b.compute(y)
			b.next <- band{y, rows, colours, err}
		}()
	}
}

func (b *bandReader) row(y int) []float32 {
	if b.failed == nil && y >= b.now.from+b.now.rows {
		if b.done != nil {
			b.done(y)
		}
		b.now = <-b.next
		if b.pending, b.failed = false, b.now.err; b.failed == nil {
			b.start(y + b.now.rows)
		}
	}
	if b.failed != nil {
		return make([]float32, b.stride)
	}
	return b.now.colours[(y-b.now.from)*b.stride : (y-b.now.from+1)*b.stride]
}

// wait waits for what is still being computed.
func (b *bandReader) wait() {
	if b.pending {
		<-b.next
	}
}

// stopper is a writer that ends an encoder once something failed elsewhere.
type stopper struct {
	io.Writer
	failed *error
}

func (s stopper) Write(p []byte) (int, error) {
	if *s.failed != nil {
		return 0, *s.failed
	}
	return s.Writer.Write(p)
}

// band evaluates rows of a window of the picture from row y of the window on: about a chunk of
// pixels, in pieces of rows if a row has more.
func (m *Model) band(ctx context.Context, w image.Rectangle, y, width, height int) (rows int, colours []float32, err error) {
	chunk := m.chunk()
	rows = min(max(1, chunk/w.Dx()), w.Dy()-y)
	for x := 0; x < w.Dx(); x += chunk {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		cols := min(chunk, w.Dx()-x)
		part, err := m.colours(w.Min.X+x, w.Min.Y+y, cols, rows, width, height)
		if err != nil {
			return 0, nil, err
		}
		colours = append(colours, part...)
	}
	return rows, colours, nil
}

// colours evaluates a window of cols×rows pixels of the picture.
func (m *Model) colours(column, row, cols, rows, width, height int) (colours []float32, err error) {
	tensor.Scope(m.device, func() {
		autograd.NoGrad(m.device, func() {
			positions := pixelCentres(m.device, cols*rows, column, row, cols, width, height)
			colours, err = m.forward(autograd.Const(positions)).Value().Float32s()
		})
	})
	for i, v := range colours {
		if v-v != 0 { // an infinity or NaN, which no picture can hold
			at := i / m.Colour.Channels()
			return nil, fmt.Errorf("%w: what the network draws at (%d, %d) is %v", ErrDiverged, column+at%cols, row+at/cols, v)
		}
	}
	return colours, err
}
