package bench

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestFirstLoss: the loss of a net that has not learned is near the logarithm of its classes.
func TestFirstLoss(t *testing.T) {
	classes := map[string]float64{"lenet": 10, "mlp784": 10, "gpt": 65, "gptsmall": 65, "resnet18": 10, "unet": 2}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, row := range netRows() {
			tensor.Scope(d, func() {
				n := row(d)
				loss, err := n.loss().Value().Item()
				if want := math.Log(classes[n.name]); err != nil || !(math.Abs(loss-want) < 0.5) {
					t.Errorf("%s: loss %g, error %v, want about %g", n.name, loss, err, want)
				}
			})
		}
	})
}
