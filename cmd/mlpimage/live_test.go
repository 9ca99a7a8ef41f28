package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/tensor"
)

// TestLive: a run shows itself to whoever looks, draws pictures only then, and is the same run
// whether somebody looks, goes away, or never comes.
func TestLive(t *testing.T) {
	t.Setenv(tensor.DeviceEnv, "cpu")
	dir := t.TempDir()
	if err := drawInputs(dir); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(dir, "good.png")
	args := func(name string, more ...string) []string {
		return append([]string{"train", image, "-o", filepath.Join(dir, name+".png"), "--model", filepath.Join(dir, name+".npz"),
			"--steps", "1000", "--batch", "64"}, more...)
	}
	if code := run(args("alone"), io.Discard, io.Discard); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	r, w := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(args("watched", "--http", "127.0.0.1:0"), io.Discard, w)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "live at ")
	}
	events, err := http.Get(url + "events")
	if err != nil {
		t.Fatal(err)
	}
	// Somebody else looks and goes away.
	other, err := http.Get(url + "events")
	if err != nil {
		t.Fatal(err)
	}
	other.Body.Close()
	go io.Copy(io.Discard, r) // the program must not wait for us to read
	stream, err := io.ReadAll(events.Body)
	if err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, want := range []string{`"image":"good.png","width":24,"height":16`, "event: points", `"step":1000,"psnr_db":`, `event: end` + "\n" + `data: "all steps done"`} {
		if !bytes.Contains(stream, []byte(want)) {
			t.Errorf("the stream says nothing of %q", want)
		}
	}
	for _, ext := range []string{".png", ".npz"} {
		a, err := os.ReadFile(filepath.Join(dir, "alone"+ext))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "watched"+ext))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("being watched changed the %s", ext)
		}
	}
}

// TestPause: pictures take a twentieth of the time at most, but in the first seconds, in which a
// network learns most.
func TestPause(t *testing.T) {
	for _, c := range []struct{ took, after, want time.Duration }{
		{0, 0, 200 * time.Millisecond}, {time.Second, time.Second, time.Second}, {3 * time.Second, 4 * time.Second, 57 * time.Second},
		{time.Millisecond, 2 * time.Second, time.Second},
	} {
		if got := pause(c.took, c.after); got != c.want {
			t.Errorf("after %v, %v after the first, it pauses %v, want %v", c.took, c.after, got, c.want)
		}
	}
}
