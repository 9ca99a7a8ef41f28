package imagefit

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// BenchmarkStep is a training step of mlpimage's default network, the wait for the device included
// every 50 steps.
func BenchmarkStep(b *testing.B) {
	for _, sel := range devtest.Selected() {
		for _, batch := range []int{512, 8192} {
			b.Run(fmt.Sprintf("%s/batch%d", sel, batch), func(b *testing.B) {
				d := devtest.Open(b, sel, tensor.Options{})
				cfg := Defaults()
				cfg.Batch = batch
				f, err := New(d, smooth(512, 512), cfg)
				if err != nil {
					b.Fatal(err)
				}
				if err := f.Step(); err != nil {
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i++ {
					if err := f.Step(); err != nil {
						b.Fatal(err)
					}
					if i%50 == 49 {
						if err := d.Sync(); err != nil {
							b.Fatal(err)
						}
					}
				}
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
