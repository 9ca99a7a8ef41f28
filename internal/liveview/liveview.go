// Package liveview serves a page that shows training while it runs: the curves, the reconstruction
// and its error. What it takes is bounded, however many watch: everything is encoded once, and what
// is sent is paced.
package liveview

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

//go:embed page
var assets embed.FS

// Run is what the page says of a run before it starts.
type Run struct {
	Image  string `json:"image"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Device string `json:"device"`
	Gain   int    `json:"gain"` // of the error map
}

// Point is a report of training.
type Point struct {
	Step       int      `json:"step"`
	Steps      int      `json:"steps"` // that will be done, as it is planned now; 0 if that is not known
	Loss       float64  `json:"loss"`  // mean over the values of the batch
	PSNR       *float64 `json:"psnr_db"`
	LR         float64  `json:"lr"`
	StepMicros float64  `json:"step_us"`
	Seconds    float64  `json:"seconds"`
}

// Picture is the state of the reconstruction. Its PNG files must not change once they are shown.
type Picture struct {
	Step           int     `json:"step"`
	PSNR           float64 `json:"psnr_db"`
	Reconstruction []byte  `json:"-"`
	Error          []byte  `json:"-"`
}

// The bounds of what serving takes. Sending over loopback takes about a nanosecond a byte and 100
// µs a request: at this pace each is less than a twentieth of a processor. Pictures do not keep
// requests waiting.
const (
	pictureRate    = 16 << 20 // bytes per second
	pictureBurst   = 48 << 20
	requestRate    = 300 // per second
	requestBurst   = 600
	requestHistory = 32 << 10 // bytes of history that count as a request
	maxWait        = 20 * time.Second
	writeTimeout   = 10 * time.Second // a reader that takes nothing for so long is dropped
	sendBuffer     = 256 << 10        // of a connection, in the kernel
	maxWatchers    = 1000
	farewell       = 2 * time.Second // for those who watch to fetch the last picture
)

// Server serves the page of one run. Its methods may be called from any goroutine.
type Server struct {
	listener net.Listener
	host     string // that was asked for
	server   *http.Server
	original func() ([]byte, error)
	pictures *rate.Limiter // in bytes
	requests *rate.Limiter

	mu       sync.Mutex
	run      Run
	curve    curve
	fresh    []Point // reported since the last broadcast
	picture  *Picture
	version  int    // of the picture: how many were shown
	sent     int    // the version that was broadcast
	fetched  bool   // the picture, by somebody
	ended    string // why, or ""
	over     bool   // this was broadcast
	history  []byte // the curve as an event; nil if there are new points
	watchers map[*watcher]bool

	changed chan struct{} // wakes broadcasting
	closing chan struct{} // closed for broadcasting to end
	gone    chan struct{} // closed when the last watcher left after the end
	bye     chan struct{} // closed for the streams to end
}

// CheckAddress returns the error of Listen for what cannot be an address.
func CheckAddress(address string) error {
	_, _, err := splitAddress(address)
	return err
}

func splitAddress(address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err != nil {
		host, port = "", address
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", fmt.Errorf("%s: an address is HOST:PORT, such as 127.0.0.1:8080", address)
	}
	return host, port, nil
}

// Listen starts serving at host:port; without a host, or with a port alone, to this machine only.
// original returns the image that is fitted, as a PNG; it is called once, when somebody looks.
func Listen(address string, run Run, original func() ([]byte, error)) (*Server, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %s is in use already: choose another, or 0 for one that is free", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %s needs rights that you lack: choose one above 1023", port)
	case err != nil:
		return nil, fmt.Errorf("%s is no address of this machine: an address is HOST:PORT, such as 127.0.0.1:8080", address)
	}
	s := &Server{
		listener: l, host: host, original: sync.OnceValues(original),
		pictures: rate.NewLimiter(pictureRate, pictureBurst), requests: rate.NewLimiter(requestRate, requestBurst),
		run: run, watchers: map[*watcher]bool{}, changed: make(chan struct{}, 1), closing: make(chan struct{}), gone: make(chan struct{}), bye: make(chan struct{}),
	}
	page, err := fs.Sub(assets, "page")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /original.png", func(w http.ResponseWriter, r *http.Request) {
		raw, err := s.original()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		s.sendPNG(w, r, func() []byte { return raw })
	})
	mux.HandleFunc("GET /reconstruction.png", s.latest(func(p *Picture) []byte { return p.Reconstruction }))
	mux.HandleFunc("GET /error.png", s.latest(func(p *Picture) []byte { return p.Error }))
	mux.HandleFunc("GET /events", s.events)
	s.server = &http.Server{
		Handler: s.guard(mux), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: maxWait + writeTimeout, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(sendBuffer) // only saves memory
			}
			return ctx
		},
	}
	go func() {
		_ = s.server.Serve(l) // it ends by Close
	}()
	go s.broadcast()
	return s, nil
}

// latest serves a part of the latest picture.
func (s *Server) latest(part func(*Picture) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.sendPNG(w, r, func() []byte {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.picture == nil {
				return nil
			}
			s.fetched = true
			return part(s.picture)
		})
	}
}

// sendPNG sends a picture when its turn has come. It is looked up only then: who waits holds no
// memory, and gets the latest.
func (s *Server) sendPNG(w http.ResponseWriter, r *http.Request, get func() []byte) {
	if !wait(r.Context(), s.pictures, len(get())) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many look at this page at once", http.StatusServiceUnavailable)
		return
	}
	raw := get()
	if raw == nil {
		http.NotFound(w, r)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw) // the reader went away
}

// wait waits until so much may be sent, and reports whether it may.
func wait(ctx context.Context, pace *rate.Limiter, much int) bool {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for much > 0 { // the limiter takes a burst at most
		n := min(much, pace.Burst())
		if pace.WaitN(ctx, n) != nil {
			return false
		}
		much -= n
	}
	return true
}

// URL returns the address of the page, for a browser on this machine.
func (s *Server) URL() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	if s.everywhere() {
		return "http://localhost:" + port + "/"
	}
	return "http://" + s.listener.Addr().String() + "/"
}

// everywhere reports whether the page is served at all addresses of this machine.
func (s *Server) everywhere() bool {
	tcp, ok := s.listener.Addr().(*net.TCPAddr)
	return ok && tcp.IP.IsUnspecified()
}

// Public returns the address of the page for other machines, "" if they cannot reach it.
func (s *Server) Public() string {
	tcp, ok := s.listener.Addr().(*net.TCPAddr)
	switch {
	case ok && tcp.IP.IsLoopback():
		return ""
	case s.everywhere():
		if name := hostname(); name != "" {
			return "http://" + net.JoinHostPort(name, strconv.Itoa(tcp.Port)) + "/"
		}
	}
	return s.URL()
}

// Watched reports whether somebody looks at the page.
func (s *Server) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers) > 0
}

// Wanted reports whether somebody waits for a new picture: not while nobody has fetched the last
// one.
func (s *Server) Wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers) > 0 && (s.picture == nil || s.fetched)
}

// Report adds a point to the curves.
func (s *Server) Report(p Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.curve.add(p)
	s.history = nil
	if len(s.watchers) > 0 {
		s.fresh = thin(append(s.fresh, p), maxFresh)
		s.wake()
	}
}

// Show replaces the pictures.
func (s *Server) Show(p Picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.picture, s.fetched = &p, false
	s.version++
	s.wake()
}

// wake makes broadcast look.
func (s *Server) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// Close sends those who watch the reason why training ended, waits a moment until they have the
// last picture, and stops serving.
func (s *Server) Close(why string) {
	s.pictures.SetLimit(rate.Inf) // nothing is slowed down by it now
	s.mu.Lock()
	s.ended = why
	if len(s.watchers) == 0 {
		close(s.gone)
	}
	s.mu.Unlock()
	close(s.closing)
	select {
	case <-s.gone:
	case <-time.After(farewell):
	}
	close(s.bye)
	ctx, cancel := context.WithTimeout(context.Background(), farewell/4)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		s.server.Close()
	}
}
