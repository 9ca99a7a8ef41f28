package cli

import (
	"strings"
	"testing"
	"time"
)

// TestBuildLine builds three kernels. The first is silent, since it may be in the driver's cache,
// and each line goes again.
func TestBuildLine(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(0, 0)
	line := &BuildLine{w: &out, now: func() time.Time { return clock }}
	for i, k := range []struct {
		name  string
		takes time.Duration
		want  string
	}{
		{"k_add", buildingAfter, ""},
		{"k_gemm_nn", time.Second, "\r\x1b[Kbuilding kernel 2: gemm_nn\r\x1b[K"},
		{"own", 0, "\r\x1b[Kbuilding kernel 3: own\r\x1b[K"},
	} {
		out.Reset()
		line.Building(k.name)
		clock = clock.Add(k.takes)
		line.Built()
		if out.String() != k.want {
			t.Errorf("build %d wrote %q, want %q", i+1, out.String(), k.want)
		}
	}
	out.Reset()
	if quiet := NewBuildLine(&out); quiet.w != nil {
		t.Error("a file that is no terminal gets the line of builds")
	} else {
		quiet.spent = buildingAfter
		quiet.Building("k_add")
		quiet.Built()
	}
}
