//go:build opencl && cgo

package tensor_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

type buildLog struct {
	begun []string
	done  int
}

func (b *buildLog) Building(kernel string) { b.begun = append(b.begun, kernel) }
func (b *buildLog) Built()                 { b.done++ }

// TestBuilding says which kernels a device builds: each once, before its first launch.
func TestBuilding(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue
		}
		t.Run(sel, func(t *testing.T) {
			var builds buildLog
			d := devtest.Open(t, sel, tensor.Options{Builds: &builds})
			x := devtest.New(d, []float32{1, 2, 3}, 3)
			x.Exp()
			x.Exp()
			if err := d.Sync(); err != nil {
				t.Fatal(err)
			}
			if n := len(builds.begun); n == 0 || builds.done != n || slices.Index(builds.begun, "k_exp") != n-1 {
				t.Errorf("builds of %q, %d done; want k_exp once, last", builds.begun, builds.done)
			}
		})
	}
}
