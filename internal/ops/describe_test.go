package ops

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestLargePictures: a launch on a picture with more pixels than float32 can count is opaque.
func TestLargePictures(t *testing.T) {
	for _, c := range []struct {
		width, height int
		opaque        bool
	}{{4096, 4096, false}, {4096, 4097, true}, {1 << 24, 1, false}, {1, 1<<24 + 1, true}} {
		o := kernels.NewOperands(kernels.Float32, 1, 1).In(3, 0, 1).Out(2).Out(3).Int(1, c.width, c.height, 3, 1, 2, 3)
		if got := len(SamplePixels.Describe(o.Args)) == 0; got != c.opaque {
			t.Errorf("%d×%d: opaque: %v", c.width, c.height, got)
		}
	}
}
