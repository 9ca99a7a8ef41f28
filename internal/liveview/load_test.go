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
	"syscall"
	"testing"
	"time"
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

// crowd is 200 viewers: half follow the stream and fetch each picture, as the page does; a quarter asks for the stream, and
// a quarter for pictures, and never reads. It ends with its standard input, and says how many pictures came.
func crowd(address string) {
	const viewers = 200
	transport := &http.Transport{MaxIdleConnsPerHost: viewers, DisableCompression: true}
	client := &http.Client{Transport: transport}
	var mu sync.Mutex
	pictures, most := 0, 0
	for i := range viewers {
		if i%2 == 0 {
			go func() {
				r, err := client.Get("http://" + address + "/events")
				if err != nil {
					return
				}
				lines := bufio.NewScanner(r.Body)
				lines.Buffer(nil, 1<<20)
				mine := 0
				for lines.Scan() {
					if lines.Text() != "event: picture" {
						continue
					}
					for _, name := range []string{"reconstruction", "error"} {
						p, err := client.Get("http://" + address + "/" + name + ".png")
						if err != nil {
							return
						}
						n, _ := io.Copy(io.Discard, p.Body)
						p.Body.Close()
						if p.StatusCode == 200 && n > 1000 {
							mine++
						}
					}
					mu.Lock()
					pictures++
					most = max(most, mine/2)
					mu.Unlock()
				}
			}()
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
	fmt.Println("here")
	io.Copy(io.Discard, os.Stdin)
	mu.Lock()
	fmt.Println(pictures, most)
}

// processorTime returns what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestCrowd: 200 viewers, half of whom never read, take at most a tenth of one processor and 64 MB, though training
// reports and draws as fast as it may.
func TestCrowd(t *testing.T) {
	if os.Getenv("CLGRAD_MORE") == "" {
		t.Skip("it asserts processor time: scripts/test-more.sh runs it")
	}
	s := listen(t)
	noise := make([]byte, 1<<20)
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
	if err := viewers.Start(); err != nil {
		t.Fatal(err)
	}
	defer viewers.Process.Kill()
	said := bufio.NewScanner(out)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	used, begun := processorTime(t), time.Now()
	said.Scan()
	most, shown := uint64(0), 0
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		s.Report(Point{Step: 50000 + shown, Loss: 1})
		if s.Wanted() && time.Since(begun) > time.Duration(shown)*time.Second {
			picture := append([]byte(nil), noise...) // drawn anew: the last may be on its way still
			s.Show(Picture{Step: shown, Reconstruction: picture, Error: picture})
			shown++
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys-m.HeapReleased)
	}
	share := float64(processorTime(t)-used) / float64(time.Since(begun))
	s.mu.Lock()
	watching := len(s.watchers)
	s.mu.Unlock()
	in.Close()
	said.Scan()
	var pictures, best int
	fmt.Sscan(said.Text(), &pictures, &best)
	grown := float64(most-min(most, before.Sys-before.HeapReleased)) / (1 << 20)
	t.Logf("%d watch; %.1f %% of a processor, %.1f MB; %d pictures shown, %d came to somebody, at most %d to one", watching, 100*share, grown, shown, pictures, best)
	if share > 0.10 {
		t.Errorf("%.1f %% of a processor", 100*share)
	}
	if grown > 64 {
		t.Errorf("%.1f MB", grown)
	}
	if watching < 140 || pictures == 0 || shown < 2 {
		t.Errorf("%d watch, %d pictures came, %d were shown: nothing was measured", watching, pictures, shown)
	}
	s.Close("done")
}

// TestSlowReader: a reader that is behind is dropped and holds nothing, and another gets everything.
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
		s.tell()
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
