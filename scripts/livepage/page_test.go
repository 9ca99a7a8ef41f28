package main

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/clgrad/clgrad/internal/liveview"
)

func picture(t *testing.T, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 32, 20))
	for i := range 32 * 20 {
		m.Set(i%32, i/32, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPage: a browser shows what is published, as it is published: the words, the pictures, the
// curves and the end. It asks nobody but this server. CLGRAD_SCREENSHOT names a file for a picture
// of the page.
func TestPage(t *testing.T) {
	white := picture(t, color.White)
	s, err := liveview.Listen("127.0.0.1:0", liveview.Run{Image: "<b>lake</b>.png", Width: 32, Height: 20, Device: "cpu", Gain: 16},
		func() ([]byte, error) { return white, nil })
	if err != nil {
		t.Fatal(err)
	}
	psnr := 12.5
	s.Report(liveview.Point{Step: 1, Steps: 1000, Loss: 900, PSNR: &psnr, LR: 0.01})
	ctx, cancel, err := browser(1280, 1000)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no chromium here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	do(t, ctx, chromedp.Navigate(s.URL()))
	do(t, ctx, chromedp.WaitVisible("#psnr polyline"))
	const numbers = `["state", "steps", "step", "psnr-now", "loss-now", "rate", "pace", "time"].map((id) => document.getElementById(id).textContent).join("; ")`
	name, now := do(t, ctx, chromedp.Text("#name")), do(t, ctx, chromedp.Evaluate[string](numbers))
	if name != "<b>lake</b>.png" || now != "training; step of 1,000; 1; 12.50 dB; 900.0; 0.0100; –; 0 s" {
		t.Errorf("the page says %q and %q", name, now)
	}
	if !s.Watched() {
		t.Error("nobody watches")
	}
	for step := 100; step <= 500; step += 100 {
		p := 12 + float64(step)/50
		s.Report(liveview.Point{Step: step, Steps: 1000, Loss: 90000 / float64(step), PSNR: &p, LR: 0.01, StepMicros: 350, Seconds: 3})
	}
	s.Show(liveview.Picture{Step: 500, PSNR: 21.987, Reconstruction: picture(t, color.RGBA{200, 40, 40, 255}), Error: picture(t, color.Black)})
	do(t, ctx, chromedp.WaitVisible(`#error[src^="blob:"]`))
	const drawn = `["psnr", "loss"].every((id) => document.querySelector("#" + id + " polyline")?.getAttribute("points").split(" ").length === 6) && document.getElementById("reconstruction-caption").textContent.includes("step")`
	do(t, ctx, chromedp.Poll[bool](drawn))
	const points = `["psnr", "loss"].map((id) => document.querySelector("#" + id + " polyline").getAttribute("points").split(" ").length).join(" ")`
	for what, c := range map[string][2]string{
		"caption":   {do(t, ctx, chromedp.Text("#reconstruction-caption")), "reconstruction at step 500, 21.99 dB"},
		"numbers":   {do(t, ctx, chromedp.Evaluate[string](numbers)), "training; step of 1,000; 500; 22.00 dB; 180.0; 0.0100; 350 µs; 3 s"},
		"points":    {do(t, ctx, chromedp.Evaluate[string](points)), "6 6"},
		"widths":    {do(t, ctx, chromedp.Evaluate[string](`["original", "reconstruction", "error"].map((id) => document.getElementById(id).naturalWidth).join(" ")`)), "32 32 32"},
		"elsewhere": {do(t, ctx, chromedp.Evaluate[string](`performance.getEntriesByType("resource").map((r) => new URL(r.name)).filter((u) => u.protocol !== "data:" && u.protocol !== "blob:" && u.host !== location.host).join(" ")`)), ""},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %q, want %q", what, c[0], c[1])
		}
	}
	if path := os.Getenv("CLGRAD_SCREENSHOT"); path != "" {
		if err := os.WriteFile(path, do(t, ctx, chromedp.FullScreenshot(100)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A page that is opened late knows everything.
	do(t, ctx, chromedp.Reload())
	do(t, ctx, chromedp.WaitVisible(`#error[src^="blob:"]`))
	do(t, ctx, chromedp.Poll[bool](drawn))
	// The picture of the end is there, though the server goes at once.
	s.Show(liveview.Picture{Step: 501, PSNR: 22.5, Reconstruction: picture(t, color.Black), Error: picture(t, color.Black)})
	s.Close("the gain flattened")
	do(t, ctx, chromedp.Poll[bool](`document.getElementById("state").textContent === "ended: the gain flattened"`))
	if caption := do(t, ctx, chromedp.Text("#reconstruction-caption")); caption != "reconstruction at step 501, 22.50 dB" {
		t.Errorf("at the end: %q", caption)
	}
	if s.Watched() {
		t.Error("somebody watches still")
	}
}

// do runs an action, which ends within a minute, and returns its result.
func do[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	timeout := time.AfterFunc(time.Minute, func() { panic("the browser hangs") })
	defer timeout.Stop()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
