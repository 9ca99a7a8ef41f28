package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLog: a line is an object with the step, the time and the values in their order; each is valid JSON,
// NaN and infinities too.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l := open(t, path)
	l.now = func() time.Time { return time.Date(2026, 3, 1, 13, 0, 0, 5e6, time.FixedZone("", 3600)) }
	for _, values := range [][]any{
		{},
		{"loss", &counted{value: 0.1}, "rate", float32(0.5), "images", uint64(math.MaxUint64), "left", int64(math.MinInt64)},
		{"loss", math.NaN(), "top", math.Inf(1), "low", math.Inf(-1), "large", math.MaxFloat64, "small", 5e-324, "negative zero", math.Copysign(0, -1)},
		{`"quoted"` + "\n", 1},
	} {
		if err := l.Write(7, values...); err != nil {
			t.Fatal(err)
		}
	}
	const start = `{"step":7,"time":"2026-03-01T12:00:00.005Z"`
	want := start + "}\n" +
		start + `,"loss":0.1,"rate":0.5,"images":18446744073709551615,"left":-9223372036854775808}` + "\n" +
		start + `,"loss":"NaN","top":"Infinity","low":"-Infinity","large":1.7976931348623157e+308,"small":5e-324,"negative zero":-0}` + "\n" +
		start + `,"\"quoted\"\n":1}` + "\n"
	if got := content(t, path); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for line := range strings.Lines(content(t, path)) {
		if err := json.Unmarshal([]byte(line), &map[string]any{}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, name := range []string{"step", "time"} {
		if err := tensor.Try(func() { _ = l.Write(1, name, 2) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("the name %s: %v", name, err)
		}
	}
	lost := errors.New("the device is lost")
	if err := l.Write(8, "loss", &counted{err: lost}); err != lost || content(t, path) != want {
		t.Errorf("%v, and the file is\n%s", err, content(t, path))
	}
}

// TestLogResumes: a log is continued, without the part of a line that a killed program left.
func TestLogResumes(t *testing.T) {
	whole := `{"step":1,"time":"2026-03-01T12:00:00.000Z","loss":1}` + "\n"
	for _, torn := range []string{"", "{", `{"step":2`, strings.TrimSuffix(whole, "\n")} {
		for _, before := range []string{"", whole, whole + whole} {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			if err := os.WriteFile(path, []byte(before+torn), 0o644); err != nil {
				t.Fatal(err)
			}
			l := open(t, path)
			if got := content(t, path); got != before {
				t.Errorf("%q was opened and has %q, want %q", before+torn, got, before)
			}
			if err := l.Write(3); err != nil {
				t.Fatal(err)
			}
			if got := content(t, path); !strings.HasPrefix(got, before+`{"step":3,`) || !strings.HasSuffix(got, "}\n") {
				t.Errorf("%q was continued as %q", before+torn, got)
			}
		}
	}
}

// TestLogOfOthers: a file that is no log stays as it is.
func TestLogOfOthers(t *testing.T) {
	folder := t.TempDir()
	for i, text := range []string{"notes without an end", "notes\n", `{"name":1}`, "\x00\x01", `{"step":` + strings.Repeat("1", mostLine)} {
		path := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLog(path); err == nil || !strings.Contains(err.Error(), "no log") || content(t, path) != text {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, path := range []string{folder, filepath.Join(folder, "absent", "log")} {
		if _, err := OpenLog(path); err == nil || !strings.Contains(err.Error(), "cannot write "+path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestLogOfMany: lines of several goroutines, and of two logs of one file, stay whole.
func TestLogOfMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	logs := []*Log{open(t, path), open(t, path)}
	const each = 200
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			for i := range each {
				if err := logs[w%2].Write(i, "worker", w, strings.Repeat("x", 10*w+1), 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	next := [4]int{}
	for line := range strings.Lines(content(t, path)) {
		var got struct{ Step, Worker int }
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if got.Step != next[got.Worker] {
			t.Fatalf("worker %d: step %d after %d lines", got.Worker, got.Step, next[got.Worker])
		}
		next[got.Worker]++
	}
	if next != [4]int{each, each, each, each} {
		t.Errorf("%v lines", next)
	}
}

// killedEnv names the log that the process of TestLogKilled writes until it is killed.
const killedEnv = "CLGRAD_TEST_LOG"

// TestLogKilled: programs that are killed while they write leave whole lines and perhaps the beginning of one, and each
// continues the log behind the last whole one.
func TestLogKilled(t *testing.T) {
	if path := os.Getenv(killedEnv); path != "" {
		l := open(t, path)
		for i := 0; ; i++ {
			if err := l.Write(i, "loss", 1/float64(i+1), strings.Repeat("x", 5000), i); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	lines := 0
	for range 5 {
		program := devtest.Command(t, os.Args[0], "-test.run=^TestLogKilled$")
		program.Env = append(os.Environ(), killedEnv+"="+path)
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		for wait := 0; wait < 1000; wait++ {
			if text, _ := os.ReadFile(path); strings.Count(string(text), "\n") > lines+20 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := program.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = program.Wait() // it was killed
		text := content(t, path)
		text = text[:strings.LastIndex(text, "\n")+1] // not all systems write all of what they are given, then
		for line := range strings.Lines(text) {
			if err := json.Unmarshal([]byte(line), &map[string]any{}); err != nil {
				t.Fatalf("%.100q: %v", line, err)
			}
		}
		n := strings.Count(text, "\n")
		if n < lines+20 {
			t.Fatalf("%d lines after %d", n, lines)
		}
		lines = n
	}
	open(t, path) // which drops what is not whole
	if text := content(t, path); strings.Count(text, "\n") != lines || !strings.HasSuffix(text, "}\n") {
		t.Errorf("%d lines after %d, the last %.100q", strings.Count(text, "\n"), lines, text[max(0, len(text)-100):])
	}
}
