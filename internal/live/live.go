// Package live serves a page that shows training while it runs: the curves, the reconstruction and its error.
package live

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"
)

//go:embed page
var assets embed.FS

// Run is what the page says of a run before it starts.
type Run struct {
	Image  string `json:"image"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Device string `json:"device"`
	Steps  int    `json:"steps"` // that it will do; 0 if that is not known
	Gain   int    `json:"gain"`  // of the error map
}

// Point is a report of training.
type Point struct {
	Step       int      `json:"step"`
	Loss       float64  `json:"loss"` // mean over the values of the batch
	PSNR       *float64 `json:"psnr_db"`
	LR         float64  `json:"lr"`
	StepMicros float64  `json:"step_us"`
	Seconds    float64  `json:"seconds"`
}

// Picture is the state of the reconstruction, as PNG files.
type Picture struct {
	Step           int     `json:"step"`
	PSNR           float64 `json:"psnr_db"`
	Reconstruction []byte  `json:"reconstruction"`
	Error          []byte  `json:"error"`
}

// Server serves the page of one run. Its methods may be called from any goroutine.
type Server struct {
	address  string
	server   *http.Server
	original []byte

	mu       sync.Mutex
	run      Run
	points   []Point
	picture  *Picture
	pictures int    // published so far
	ended    string // why, or ""
	watchers map[chan struct{}]bool
}

// Listen starts serving at host:port; without a host, or with a port alone, to this machine only. original is the image
// that is fitted, as a PNG.
func Listen(address string, run Run, original []byte) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "", address
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("%w: an address is HOST:PORT, such as 127.0.0.1:8080", err)
	}
	s := &Server{address: l.Addr().String(), run: run, original: original, watchers: map[chan struct{}]bool{}}
	page, err := fs.Sub(assets, "page")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /original.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(s.original) // the reader went away
	})
	mux.HandleFunc("GET /events", s.events)
	s.server = &http.Server{Handler: s.guard(mux, l.Addr()), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_ = s.server.Serve(l) // it ends by Close
	}()
	return s, nil
}

// guard lets the page load nothing from elsewhere and, on a loopback address, refuses requests under other names: a
// page on the internet whose name was made to resolve to this machine must not read the image.
func (s *Server) guard(next http.Handler, addr net.Addr) http.Handler {
	tcp, ok := addr.(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); loopback && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this page is served to this machine only", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// URL returns the address of the page.
func (s *Server) URL() string { return "http://" + s.address + "/" }

// Watched reports whether somebody looks at the page.
func (s *Server) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers) > 0
}

// Report adds a point to the curves.
func (s *Server) Report(p Point) { s.change(func() { s.points = append(s.points, p) }) }

// Show replaces the pictures.
func (s *Server) Show(p Picture) {
	s.change(func() {
		s.picture = &p
		s.pictures++
	})
}

// change runs f and wakes everybody who watches.
func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default: // it is awake already
		}
	}
}

// Close tells those who watch why training ended, waits a moment until they have heard it, and stops serving.
func (s *Server) Close(why string) {
	s.change(func() { s.ended = why })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		s.server.Close()
	}
}

// events streams what has happened and what happens: points, the latest pictures, and the end.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	wake := make(chan struct{}, 1)
	s.mu.Lock()
	s.watchers[wake] = true
	run := s.run
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watchers, wake)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	if send(w, "run", run) != nil {
		return
	}
	seen, pictures := 0, 0
	for {
		s.mu.Lock()
		points, picture, version, ended := s.points[seen:], s.picture, s.pictures, s.ended
		s.mu.Unlock()
		if len(points) > 0 && send(w, "points", points) != nil {
			return
		}
		seen += len(points)
		if version != pictures && send(w, "picture", picture) != nil {
			return
		}
		pictures = version
		if ended != "" && send(w, "end", ended) != nil {
			return
		}
		if out.Flush() != nil || ended != "" {
			return
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		}
	}
}

// send writes one event.
func send(w http.ResponseWriter, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, text)
	_, err = w.Write(b.Bytes())
	return err
}
