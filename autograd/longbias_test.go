package autograd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestLongBiasGradients: over a million rows, gradients of a bias, of one that is broadcast and of
// a weight, whose terms are of one sign, are those of float64 to a part in a million. Sums one term
// after the other are off by a part in a thousand.
func TestLongBiasGradients(t *testing.T) {
	const rows, columns = 1_000_003, 3
	rng := rand.New(rand.NewPCG(1, 2))
	g, x := make([]float32, rows*columns), make([]float32, rows)
	var sums, products [columns]float64
	for r := range rows {
		x[r] = float32(2 + rng.NormFloat64()/10)
		for c := range columns {
			v := float32(2000 + 10*rng.NormFloat64())
			g[r*columns+c] = v
			sums[c] += float64(v)
			products[c] += float64(v) * float64(x[r])
		}
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		w := autograd.Param(tensor.Full(d, 0.5, 1, columns), "w")
		b := autograd.Param(tensor.Full(d, 0.5, columns), "b")
		added := autograd.Param(tensor.Full(d, 0.5, columns), "added")
		in := autograd.Const(devtest.New(d, x, rows, 1))
		weights := autograd.Const(devtest.New(d, g, rows, columns))
		if err := in.Linear(w, b, nil).Add(added).Mul(weights).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		for _, p := range []struct {
			n    *autograd.Node
			want [columns]float64
		}{{w, products}, {b, sums}, {added, sums}} {
			got, err := p.n.Grad().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for c, v := range got {
				if math.Abs(v-p.want[c]) > 1e-6*p.want[c] {
					t.Errorf("%s: gradient %d is %v, want %v", p.n.Name(), c, v, p.want[c])
				}
			}
		}
	})
}
