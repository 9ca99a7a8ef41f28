package live

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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

func listen(t *testing.T) *Server {
	t.Helper()
	white := picture(t, color.White)
	s, err := Listen("127.0.0.1:0", Run{Image: "<b>lake</b>.png", Width: 32, Height: 20, Device: "cpu", Gain: 16},
		func() ([]byte, error) { return white, nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// browser returns a context of a headless Chromium, or skips the test where there is none. CLGRAD_REQUIRE_CHROMIUM
// makes that a failure.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CLGRAD_REQUIRE_CHROMIUM") != "" {
			t.Fatal(err)
		}
		t.Skip("no chromium here")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1280, 1000), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-quic", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// TestPage: a browser shows what is published, as it is published: the words, the pictures, the curves and the end. It
// asks nobody but this server. CLGRAD_SCREENSHOT names a file for a picture of the page.
func TestPage(t *testing.T) {
	s := listen(t)
	psnr := 12.5
	s.Report(Point{Step: 1, Steps: 1000, Loss: 900, PSNR: &psnr, LR: 0.01})
	ctx := browser(t)
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
		s.Report(Point{Step: step, Steps: 1000, Loss: 90000 / float64(step), PSNR: &p, LR: 0.01, StepMicros: 350, Seconds: 3})
	}
	s.Show(Picture{Step: 500, PSNR: 21.987, Reconstruction: picture(t, color.RGBA{200, 40, 40, 255}), Error: picture(t, color.Black)})
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
	s.Show(Picture{Step: 501, PSNR: 22.5, Reconstruction: picture(t, color.Black), Error: picture(t, color.Black)})
	begun := time.Now()
	s.Close("the gain flattened")
	if took := time.Since(begun); took > farewell*9/10 {
		t.Errorf("it took %v to close", took)
	}
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

func get(t *testing.T, url, host string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(body)
}

// TestServer: what is served, to whom, and under which names.
func TestServer(t *testing.T) {
	s := listen(t)
	for path, want := range map[string]string{"": "<title>", "page.js": "EventSource", "style.css": "figure", "original.png": "PNG"} {
		code, header, body := get(t, s.URL()+path, "")
		if code != 200 || !strings.Contains(body, want) || !strings.Contains(header.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			header.Get("X-Frame-Options") != "DENY" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %v", path, code, header)
		}
	}
	for host, want := range map[string]int{"localhost:80": 200, "[::1]:1": 200, "127.0.0.1": 200, "evil.example": 403, "192.0.2.1:80": 403} {
		if code, _, _ := get(t, s.URL()+"original.png", host); code != want {
			t.Errorf("as %s: %d, want %d", host, code, want)
		}
	}
	if code, _, _ := get(t, s.URL()+"../live.go", ""); code != 404 {
		t.Errorf("a file beside the page: %d", code)
	}
	s.Close("done")
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("it answers after Close")
	}
	for _, address := range []string{"0", ":0", "localhost:0"} {
		s, err := Listen(address, Run{}, func() ([]byte, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") && !strings.HasPrefix(s.URL(), "http://[::1]:") {
			t.Errorf("%q is served at %s", address, s.URL())
		}
		s.Close("done")
	}
	if _, err := Listen("nowhere.invalid:http:80", Run{}, func() ([]byte, error) { return nil, nil }); err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
		t.Errorf("err = %v", err)
	}
}

// TestEvents: the stream replays what has happened and ends with the run; a reader that goes away is forgotten.
func TestEvents(t *testing.T) {
	s := listen(t)
	s.Report(Point{Step: 1, Loss: 5})
	s.Show(Picture{Step: 1, PSNR: 3})
	gone, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	for !s.Watched() {
		time.Sleep(time.Millisecond)
	}
	gone.Body.Close()
	for s.Watched() {
		time.Sleep(time.Millisecond)
	}
	stream, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	go s.Close("done")
	text, err := io.ReadAll(stream.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"event: run\ndata: {\"image\":", `event: points` + "\n" + `data: [{"step":1,"steps":0,"loss":5,"psnr_db":null`, "event: picture\n", "event: end\ndata: \"done\"\n\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
