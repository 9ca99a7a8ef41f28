package liveview

import (
	"bufio"
	"fmt"
	"image/color"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// viewersEnv makes this test's program a crowd at an address: what they take is not the server's.
const viewersEnv = "CLGRAD_TEST_VIEWERS"

func TestMain(m *testing.M) {
	if address := os.Getenv(viewersEnv); address != "" {
		crowd(address)
		return
	}
	os.Exit(m.Run())
}

// crowd is 200 viewers: half follow the stream and fetch the pictures that it tells of, as the page
// does; a quarter asks for the stream, and a quarter for pictures, and never reads. It says how
// many pictures came and how many were refused, and ends with its standard input.
func crowd(address string) {
	const viewers = 200
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: viewers, DisableCompression: true}}
	var came, refused atomic.Int32
	var followers sync.WaitGroup
	for i := range viewers {
		if i%2 == 0 {
			followers.Go(func() {
				r, err := client.Get("http://" + address + "/events")
				if err != nil {
					return
				}
				lines := bufio.NewScanner(r.Body)
				lines.Buffer(nil, 1<<20)
				for lines.Scan() && lines.Text() != "event: picture" {
				}
				for _, name := range []string{"reconstruction", "error"} {
					p, err := client.Get("http://" + address + "/" + name + ".png")
					if err != nil {
						return
					}
					n, err := io.Copy(io.Discard, p.Body)
					p.Body.Close()
					switch {
					case p.StatusCode == http.StatusServiceUnavailable && p.Header.Get("Retry-After") != "":
						refused.Add(1)
					case p.StatusCode == http.StatusOK && n == p.ContentLength && err == nil:
						came.Add(1)
					}
				}
			})
			continue
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		defer c.Close()
		path := "events"
		if i%4 == 3 {
			path = "reconstruction.png"
		}
		fmt.Fprintf(c, "GET /%s HTTP/1.1\r\nHost: %s\r\n\r\n", path, address)
	}
	followers.Wait()
	fmt.Println(came.Load(), refused.Load())
	io.Copy(io.Discard, os.Stdin)
}

// TestCrowd: 200 viewers, half of whom never read, get as many bytes of pictures as the bound
// allows, and take 64 MB at most, though training reports as fast as it may.
func TestCrowd(t *testing.T) {
	const size, allowed, unread = 2 << 20, 150, 50
	s := listen(t)
	s.requests.SetLimit(rate.Inf)
	s.pictures.SetBurst(allowed * size)
	s.pictures.SetLimit(rate.Inf)
	s.pictures.SetLimitAt(time.Now().Add(time.Second), 0) // the burst is full by then
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for i := range 50000 { // a long history
		s.Report(Point{Step: i, Loss: 1})
	}
	s.Show(Picture{Reconstruction: noise, Error: noise})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	viewers := exec.Command(self)
	viewers.Env = append(os.Environ(), viewersEnv+"="+s.listener.Addr().String())
	in, err := viewers.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := viewers.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.Sys-m.HeapReleased, uint64(0)
	if err := viewers.Start(); err != nil {
		t.Fatal(err)
	}
	defer viewers.Process.Kill()
	var came, refused int
	said := make(chan error, 1)
	go func() {
		_, err := fmt.Fscan(out, &came, &refused)
		said <- err
	}()
	for step, waiting := 50000, true; waiting; step++ {
		select {
		case err := <-said:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		case <-time.After(20 * time.Millisecond):
		}
		s.Report(Point{Step: step, Loss: 1})
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys-m.HeapReleased)
	}
	grown := float64(most-min(most, before)) / (1 << 20)
	t.Logf("%d pictures came and %d were refused; %.1f MB", came, refused, grown)
	if grown > 64 {
		t.Errorf("%.1f MB", grown)
	}
	if came < allowed-unread || came > allowed || came+refused != 200 {
		t.Errorf("%d pictures came and %d were refused of 200, want %d to %d", came, refused, allowed-unread, allowed)
	}
	in.Close()
	s.Close("done")
}

// TestPace: what is asked for beyond the bounds is refused.
func TestPace(t *testing.T) {
	s := listen(t)
	defer s.Close("done")
	s.requests.SetBurst(3)
	s.requests.SetLimit(0)
	for i, want := range []int{200, 200, 200, 503} {
		if code, _, _ := get(t, s.URL(), ""); code != want {
			t.Errorf("request %d: status %d, want %d", i+1, code, want)
		}
	}
}

// TestSlowReader: a reader that is behind is dropped and holds nothing, and another gets
// everything.
func TestSlowReader(t *testing.T) {
	s := listen(t)
	slow, fast := &watcher{events: make(chan []byte, maxBehind)}, &watcher{events: make(chan []byte, 100)}
	s.join(slow)
	s.join(fast)
	for i := range maxBehind + 2 {
		s.mu.Lock()
		s.fresh = []Point{{Step: i}}
		s.curve.add(Point{Step: i})
		s.mu.Unlock()
		s.send()
	}
	if s.watchers[slow] || !s.watchers[fast] || len(fast.events) != maxBehind+2 {
		t.Errorf("slow is watching: %v; fast: %v, with %d events", s.watchers[slow], s.watchers[fast], len(fast.events))
	}
	s.leave(slow)
	s.leave(fast)
	s.Close("done")
}

// TestCurve: the history of a run of any length is short, and has its first and its last point.
func TestCurve(t *testing.T) {
	var c curve
	for i := range 1_000_003 {
		c.add(Point{Step: i})
		if i == 10 && len(c.all()) != 11 {
			t.Errorf("%d of 11 points", len(c.all()))
		}
	}
	all := c.all()
	if len(all) < maxCurve/2 || len(all) > maxCurve+1 || all[0].Step != 0 || all[len(all)-1].Step != 1_000_002 {
		t.Fatalf("%d points from %d to %d", len(all), all[0].Step, all[len(all)-1].Step)
	}
	for i := 2; i < len(all)-1; i++ {
		if all[i].Step-all[i-1].Step != all[1].Step-all[0].Step {
			t.Fatalf("point %d is uneven", i)
		}
	}
}

// TestWanted: nobody is drawn for who does not fetch.
func TestWanted(t *testing.T) {
	s := listen(t)
	defer s.Close("done")
	if s.Wanted() {
		t.Error("wanted by nobody")
	}
	w := &watcher{events: make(chan []byte, maxBehind)}
	s.join(w)
	defer s.leave(w)
	if !s.Wanted() {
		t.Error("the first picture is not wanted")
	}
	s.Show(Picture{Step: 1, Reconstruction: picture(t, color.White), Error: nil})
	if s.Wanted() {
		t.Error("wanted though nobody fetched the last")
	}
	if code, _, body := get(t, s.URL()+"reconstruction.png?v=1", ""); code != 200 || !strings.HasPrefix(body, "\x89PNG") {
		t.Errorf("the picture: %d", code)
	}
	if !s.Wanted() {
		t.Error("not wanted after the last was fetched")
	}
}
