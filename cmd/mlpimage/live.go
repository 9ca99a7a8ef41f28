package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/liveview"
)

// drawShare is how long training continues after a picture was drawn, in times that it took.
const drawShare = 19

// livePage feeds the page that shows a session; nil if there is none. Pictures are drawn on the
// training's goroutine, which the device belongs to, only while somebody watches, and in no more
// than a twentieth of the time, but in the first seconds. Sending them may take as much again.
type livePage struct {
	server *liveview.Server
	fit    *imagefit.Fit
	img    *imagefit.Image
	start  time.Time
	next   time.Time // of a picture
	first  time.Time // when the first picture was drawn; zero: none was
}

// serve starts the page, if one was asked for.
func (s *session) serve() (*livePage, error) {
	if s.http == "" {
		return nil, nil
	}
	server, err := liveview.Listen(s.http, liveview.Run{
		Image: s.name, Width: s.img.Width, Height: s.img.Height, Device: s.fit.Device().Name(), Gain: imagefit.ErrorGain,
	}, func() ([]byte, error) { return pngBytes(s.img) })
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	fmt.Fprintf(s.chatter, "live at %s\n", server.URL())
	if public := server.Public(); public != "" {
		fmt.Fprintf(s.chatter, "warning: everyone who can reach this machine can look at the image, at %s\n", public)
	}
	return &livePage{server: server, fit: s.fit, img: s.img, start: time.Now()}, nil
}

func (l *livePage) report(p imagefit.Progress) {
	if l == nil {
		return
	}
	point := liveview.Point{Step: p.Step, Loss: p.Loss, LR: p.LR, StepMicros: float64(p.StepTime.Nanoseconds()) / 1e3, Seconds: time.Since(l.start).Seconds()}
	if !l.fit.Config.UntilFlat {
		point.Steps = p.Steps
	}
	if !math.IsInf(p.PSNR, 0) {
		point.PSNR = &p.PSNR
	}
	l.server.Report(point)
}

// draw shows the reconstruction, if it is time to.
func (l *livePage) draw(ctx context.Context) error {
	if l == nil || time.Now().Before(l.next) || !l.server.Wanted() {
		return nil
	}
	begun := time.Now()
	out, err := l.fit.Model.Render(ctx, l.img.Width, l.img.Height)
	if err == nil {
		err = l.show(out)
	}
	if ctx.Err() != nil {
		return nil // training ends for that, not for this
	}
	now := time.Now()
	took := now.Sub(begun)
	if l.first.IsZero() {
		l.first, took = now, 0 // it builds the kernels that draw
	}
	l.next = now.Add(pause(took, now.Sub(l.first)))
	return err
}

// early is how long after the first picture others follow soon: a network learns most of an image
// in its first second, and the first picture is of what it draws before that.
const early = 2 * time.Second

// pause returns how long training continues after a picture that took some time, and came so long
// after the first.
func pause(took, after time.Duration) time.Duration {
	if after < early {
		return max(200*time.Millisecond, took)
	}
	return max(time.Second, drawShare*took)
}

func (l *livePage) show(out *imagefit.Image) error {
	if l == nil || !l.server.Watched() {
		return nil
	}
	reconstruction, err := pngBytes(out)
	if err != nil {
		return err
	}
	difference, err := pngBytes(imagefit.ErrorMap(l.img, out))
	if err != nil {
		return err
	}
	l.server.Show(liveview.Picture{Step: l.fit.Steps(), PSNR: min(imagefit.PSNR(l.img, out), 999), Reconstruction: reconstruction, Error: difference})
	return nil
}

// end says why training ended and stops serving.
func (l *livePage) end(why string) {
	if l != nil {
		l.server.Close(why)
	}
}

func pngBytes(img *imagefit.Image) ([]byte, error) {
	var b bytes.Buffer
	err := img.WritePNG(&b)
	return b.Bytes(), err
}
