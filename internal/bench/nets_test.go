package bench

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
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

// TestSlowestLaunches: the slowest launches of a net come last, the slowest first, by their layers.
func TestSlowestLaunches(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	rng := tensor.NewRNG(1)
	m := struct{ Up *nn.Linear }{nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 4})}
	x, labels := autograd.Const(tensor.Full(d, 1, 6, 8)), rng.Ints(d, 4, 6)
	var list []Result
	s := &Suite{Device: d, Budget: time.Millisecond, Type: tensor.Float32, Launches: 2, Report: func(r Result) { list = append(list, r) }}
	if err := s.net(context.Background(), classifier("tiny", &m, func() *node { return m.Up.Forward(x) }, labels)); err != nil {
		t.Fatal(err)
	}
	last := list[len(list)-2:]
	if last[0].Median < last[1].Median || last[1].Median <= 0 || list[len(list)-3].Name != "net tiny recorded" {
		t.Errorf("%+v", list)
	}
	for _, r := range last {
		if !strings.HasPrefix(r.Name, "net tiny ") || !strings.Contains(r.Name, " → k_") {
			t.Errorf("%+v", r)
		}
	}
}
