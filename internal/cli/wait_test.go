package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestWait: what takes long is said, again and again, among what else is written, and nothing after its end. What is done
// soon is not said.
func TestWait(t *testing.T) {
	var out bytes.Buffer
	w := newWait(&out, "drawing", time.Millisecond, time.Millisecond)
	said := func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return out.String()
	}
	for strings.Count(said(), "so far") < 2 { // it is ended from outside if nothing comes
		time.Sleep(time.Millisecond)
	}
	if _, err := w.Write([]byte("beside\n")); err != nil {
		t.Fatal(err)
	}
	w.Done()
	text := out.String()
	if !strings.HasPrefix(text, "drawing\ndrawing: 0 s so far\n") || strings.Count(text, "beside\n") != 1 {
		t.Errorf("%q", text)
	}
	time.Sleep(5 * time.Millisecond)
	if out.String() != text {
		t.Errorf("after the end: %q", out.String())
	}
	out.Reset()
	newWait(&out, "drawing", time.Hour, time.Hour).Done()
	if out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
}
