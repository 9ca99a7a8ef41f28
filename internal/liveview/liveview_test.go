package liveview

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
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

// TestEvents: the stream replays what has happened and ends with the run; a reader that goes away
// is forgotten.
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
