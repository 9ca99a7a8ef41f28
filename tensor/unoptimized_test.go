//go:build opencl && cgo

package tensor

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/clrt"
)

// TestUnoptimized: an OpenCL CPU builds kernels without optimization where the option says so, and
// those for GPUs.
func TestUnoptimized(t *testing.T) {
	for opt, want := range map[Options]bool{{}: false, {Unoptimized: true}: true, {gpuKernels: true}: true} {
		d := openTried(t, opt)
		info := d.dev.Info()
		want = want && info.Type == clrt.CPU && !inLanes(info)
		if got := strings.Contains(d.options, "-cl-opt-disable"); got != want {
			t.Errorf("%+v: %v, for %q", opt, got, d.options)
		}
	}
}
