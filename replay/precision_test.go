package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestPrecisions: products on matrix units, of every form, of batches and with what follows them,
// replay with the bits of the eager step in every precision, and which of these it is shows in
// them.
func TestPrecisions(t *testing.T) {
	seen := map[string]tensor.Precision{}
	for p := tensor.PrecisionFloat32; p <= tensor.PrecisionFloat16; p++ {
		t.Run(p.String(), func(t *testing.T) {
			d := devtest.Open(t, "cpu", tensor.Options{Precision: p}) // others take a minute to build the kernels
			tensorapi.Impl.AsMatrixUnits(d, false)
			rng := tensor.NewRNG(6)
			draw := func(shape ...int) *tensor.Tensor { return rng.Normal(d, 0, 0.3, shape...).Retain() }
			x, batch := draw(160, 72), autograd.Const(draw(2, 100, 72))
			var params []*autograd.Node
			param := func(shape ...int) *autograd.Node {
				params = append(params, autograd.Param(draw(shape...), fmt.Sprint(shape)))
				return params[len(params)-1]
			}
			w1, b1, w2, w3, w4 := param(72, 96), param(96), param(96, 80), param(80, 160), param(2, 72, 80)
			step := func() ([]*tensor.Tensor, error) {
				for _, p := range params {
					p.ZeroGrad()
				}
				h := autograd.Const(x).Linear(w1, b1, fn.Softplus)
				y := h.MatMul(w2).AddScalar(0.1).Tanh()
				z := h.T().MatMul(w3.T()).Exp() // of two transposed matrices
				loss := y.Square().Sum().Add(z.Mean()).Add(batch.MatMul(w4).Square().Mean()).Retain()
				if err := loss.Backward(); err != nil {
					return nil, err
				}
				out := []*tensor.Tensor{loss.Value()}
				for _, p := range params {
					out = append(out, p.Grad())
				}
				return out, nil
			}
			read := func(out []*tensor.Tensor) (all []float64) {
				for _, y := range out {
					v, err := y.Float64s()
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, v...)
				}
				return all
			}
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				x.SetInPlace(rng.Normal(d, 0, 0.3, 160, 72))
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
				got := read(rec.Outputs())
				out, err := step()
				if err != nil {
					t.Fatal(err)
				}
				want := read(out)
				for i := range want {
					if got[i] != want[i] || want[i]-want[i] != 0 {
						t.Fatalf("number %d is %v replayed, %v in the step", i, got[i], want[i])
					}
				}
				key := fmt.Sprint(want[:1], slices.Max(want))
				if other, is := seen[key]; is {
					t.Errorf("the numbers of %v are those of %v", p, other)
				}
				seen[key] = p
			}
		})
	}
}
