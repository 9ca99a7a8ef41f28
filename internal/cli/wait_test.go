package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestWait: what takes long is said, again and again, among what else is written, and nothing after
// its end. What is done soon is not said.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := NewWait(&out, "drawing")
		time.Sleep(waitFirst + waitEvery + time.Millisecond)
		if _, err := w.Write([]byte("beside\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(waitEvery)
		w.Done()
		time.Sleep(2 * waitEvery)
		if got, want := out.String(), "drawing\ndrawing: 11 s so far\nbeside\ndrawing: 21 s so far\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		out.Reset()
		w = NewWait(&out, "drawing")
		time.Sleep(waitFirst - time.Millisecond)
		w.Done()
		if out.Len() > 0 {
			t.Errorf("done soon: %q", out.String())
		}
	})
}
