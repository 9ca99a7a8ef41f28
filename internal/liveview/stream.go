package liveview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	tick         = 250 * time.Millisecond // between two broadcasts
	tickPerHead  = 2 * time.Millisecond   // more for each who watches
	maxBehind    = 4                      // broadcasts that one may be behind before it is dropped
	maxFresh     = 256                    // points of a broadcast
	maxCurve     = 1000                   // points of the history: about as many as a curve has columns
	keepAliveGap = 15 * time.Second       // a reader that is gone is found by writing to it
)

// watcher is somebody who reads the stream of events.
type watcher struct {
	events chan []byte // shared by all; closed for one who is too far behind
}

// curve is the history of a run, with at most maxCurve points: evenly thinned, and the last.
type curve struct {
	points []Point
	last   Point
	every  int // report that is kept
	seen   int
}

func (c *curve) add(p Point) {
	c.every = max(c.every, 1)
	if c.seen%c.every == 0 {
		if len(c.points) == maxCurve {
			c.points = thin(c.points, maxCurve-1)
			c.every *= 2
		}
		if c.seen%c.every == 0 {
			c.points = append(c.points, p)
		}
	}
	c.seen++
	c.last = p
}

func (c *curve) all() []Point {
	if n := len(c.points); n > 0 && c.points[n-1].Step != c.last.Step {
		return append(c.points[:n:n], c.last)
	}
	return c.points
}

// thin drops every second point if there are more than most, never the first.
func thin(points []Point, most int) []Point {
	if len(points) <= most {
		return points
	}
	kept := points[:0]
	for i := 0; i < len(points); i += 2 {
		kept = append(kept, points[i])
	}
	return kept
}

// event encodes an event of the stream.
func event(name string, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil { // a value that JSON lacks, such as NaN
		text, name = []byte(`""`), "unknown"
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}

// broadcast sends those who watch what is new, all the same bytes, until the server closes.
func (s *Server) broadcast() {
	for {
		select {
		case <-s.changed:
		case <-s.closing:
			s.send()
			return
		}
		pause := time.NewTimer(tick + time.Duration(s.send())*tickPerHead)
		select {
		case <-pause.C:
		case <-s.closing:
		}
		pause.Stop()
	}
}

// send sends one broadcast and returns how many watch.
func (s *Server) send() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	if len(s.fresh) > 0 {
		// The last report is the one to show, thinned away or not.
		if s.fresh[len(s.fresh)-1].Step != s.curve.last.Step {
			s.fresh = append(s.fresh, s.curve.last)
		}
		b.Write(event("points", s.fresh))
		s.fresh = nil
	}
	if s.version != s.sent {
		b.Write(s.pictureEvent())
		s.sent = s.version
	}
	if s.ended != "" && !s.over {
		b.Write(event("end", s.ended))
		s.over = true
	}
	if b.Len() > 0 {
		for w := range s.watchers {
			select {
			case w.events <- b.Bytes():
			default:
				delete(s.watchers, w)
				close(w.events)
			}
		}
	}
	return len(s.watchers)
}

func (s *Server) pictureEvent() []byte {
	return event("picture", struct {
		Version int `json:"version"`
		*Picture
	}{s.version, s.picture})
}

// join registers a watcher and returns what has happened so far, nil if too many watch. Points that
// come between the history and the next broadcast are in both: the page tells them by their step.
func (s *Server) join(w *watcher) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.watchers) >= maxWatchers || s.ended != "" {
		return nil
	}
	s.watchers[w] = true
	so := [][]byte{event("run", s.run)}
	if points := s.curve.all(); len(points) > 0 {
		if s.history == nil {
			s.history = event("points", points)
		}
		so = append(so, s.history)
	}
	if s.picture != nil {
		so = append(so, s.pictureEvent())
	}
	return so
}

func (s *Server) leave(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers[w] {
		delete(s.watchers, w)
		if len(s.watchers) == 0 && s.ended != "" {
			close(s.gone)
		}
	}
}

// events streams what has happened and what happens: points, versions of the picture, and the end.
// After the end it waits for the reader to leave, which it does when it has the last picture.
func (s *Server) events(rw http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(rw)
	write := func(text []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := rw.Write(text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	w := &watcher{events: make(chan []byte, maxBehind)}
	so := s.join(w)
	if so == nil {
		rw.Header().Set("Retry-After", "5")
		http.Error(rw, "too many look at this page at once, or it has ended", http.StatusServiceUnavailable)
		return
	}
	defer s.leave(w)
	_ = out.SetReadDeadline(time.Time{}) // to see it leave, however late
	rw.Header().Set("Content-Type", "text/event-stream")
	text := bytes.Join(so, nil)
	if !wait(r.Context(), s.requests, len(text)/requestHistory) || !write(text) {
		return
	}
	alive := time.NewTicker(keepAliveGap)
	defer alive.Stop()
	for {
		select {
		case text, ok := <-w.events:
			if !ok || !write(text) {
				return
			}
		case <-alive.C:
			if !write([]byte(": still here\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.bye:
			return
		}
	}
}
