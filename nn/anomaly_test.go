package nn_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestAnomaliesInLayers: what comes up in a layer is named with the program's line, not with one of
// this package; so is what an activation of the program's own makes, with its own line.
func TestAnomaliesInLayers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := autograd.Const(tensor.Full(d, 1, 4, 2))
		var own string
		root := nn.Custom(func(x *autograd.Node) *autograd.Node {
			own = visited(1)
			return x.Square().Neg().Sqrt()
		})
		for name, c := range map[string]struct {
			weight float64
			by     []nn.Activation
			op     string
		}{
			"a layer":               {1e30, nil, "Linear"},
			"an activation":         {1, []nn.Activation{root}, "Sqrt"},
			"one of this package's": {1e38, []nn.Activation{nn.LeakyReLU(-1)}, "Linear"},
		} {
			net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 3, 1}, Activations: c.by})
			for _, p := range nn.Params(net) {
				p.Value().FillInPlace(c.weight)
			}
			var forward string
			err := autograd.DetectAnomalies(d, func() error {
				forward = visited(1)
				return net.Forward(x).Sum().Backward()
			})
			var e *autograd.AnomalyError
			if !errors.As(err, &e) {
				t.Fatalf("%s: err = %v", name, err)
			}
			want := forward
			if c.op == "Sqrt" {
				want = own
			}
			if e.Op != c.op || e.Place != want {
				t.Errorf("%s: %v, want %s at %s", name, e, c.op, want)
			}
		}
	})
}

// place returns file and line so many lines after its caller's.
func visited(after int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file, line+after)
}
