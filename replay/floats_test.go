package replay_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestBothFloats: a recorded step on both float types has the bits of the eager one, whichever type most
// of it is of, where the two meet in one formula, mask, sum or product.
func TestBothFloats(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, mostly := range []tensor.Type{tensor.Float32, tensor.Float64} {
			other := tensor.Float64
			if mostly == tensor.Float64 {
				other = tensor.Float32
			}
			data := make([]float64, 12)
			for i := range data {
				data[i] = 1 / float64(i+3)
			}
			x := tensor.NewOf(d, mostly, data, 3, 4).Retain()
			y := tensor.NewOf(d, other, data, 3, 4).Retain()
			step := func() ([]*tensor.Tensor, error) {
				a, b := autograd.Const(x), autograd.Const(y)
				mask := a.GtScalar(0.2)
				p, q := a.Exp().MulScalar(2).Sub(a), b.Exp().MulScalar(2).Sub(b) // the same kernels
				masked, others := p.Where(mask, a), q.Where(mask, b)             // of one mask
				mixed := p.Add(q).Tanh()
				var results []*tensor.Tensor
				for _, n := range []*autograd.Node{masked.Sum(0), others.Sum(0), mixed, p.MatMul(q.T()).Tanh(), mixed.Softmax(-1),
					masked.Square(), others.Square(), q.To(mostly).Mul(p).Sum(1)} {
					results = append(results, n.Value())
				}
				return results, nil
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for _, n := range eager {
				want += fmt.Sprintln(n.Type(), devtest.Float64s(t, n))
			}
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, n := range rec.Outputs() {
					got += fmt.Sprintln(n.Type(), devtest.Float64s(t, n))
				}
				if got != want {
					t.Errorf("mostly %v: recorded\n%seager\n%s", mostly, got, want)
				}
			}
			rec.Free()
		}
	})
}
