package terminal

import (
	"strings"
	"testing"
)

// TestClearWrapped: of a line that a narrower terminal wraps, all rows are cleared, and of no
// other.
func TestClearWrapped(t *testing.T) {
	line := "\r" + strings.Repeat("█", 119) + "\x1b[0K"
	for _, c := range []struct {
		was, now int
		want     string
	}{
		{120, 120, ""}, {120, 200, ""}, {120, 119, ""}, {200, 150, ""}, {120, 0, ""},
		{120, 118, "\r\x1b[1A\x1b[J"}, {120, 80, "\r\x1b[1A\x1b[J"}, {120, 60, "\r\x1b[1A\x1b[J"}, {120, 59, "\r\x1b[2A\x1b[J"}, {120, 20, "\r\x1b[5A\x1b[J"},
	} {
		if got := clearWrapped(line, c.was, c.now); got != c.want {
			t.Errorf("from %d to %d columns: %q, want %q", c.was, c.now, got, c.want)
		}
	}
	if got := clearWrapped("", 120, 20); got != "" {
		t.Errorf("nothing shown: %q", got)
	}
}
