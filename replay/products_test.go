package replay_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestProductSteps: batches of products, sums of products, cross-entropy with labels that the
// caller sets again, and gradients that are clipped replay with the bits of the eager step. Labels
// that are none are refused before anything has changed.
func TestProductSteps(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(4)
		x := rng.Normal(d, 0, 1, 6, 5, 8)
		w := autograd.Param(rng.Normal(d, 0, 0.3, 8, 2, 4), "w")
		out := autograd.Param(rng.Normal(d, 0, 0.3, 8, 3), "out")
		labels := devtest.New(d, make([]int32, 30), 6, 5)
		params := []*autograd.Node{w, out}
		step := func() ([]*tensor.Tensor, error) {
			for _, p := range params {
				p.ZeroGrad()
			}
			q := autograd.Einsum("btc,chd->bhtd", autograd.Const(x), w)
			heads := q.MatMul(q.Transpose(0, 1, 3, 2)).Softmax(-1).MatMul(q).Transpose(0, 2, 1, 3).Reshape(6, 5, 8)
			logits := heads.Linear(out, nil, nil).Transpose(0, 2, 1) // [6 3 5]
			loss := autograd.CrossEntropy(logits, labels, autograd.LabelOptions{Smoothing: 0.1})
			loss.Retain()
			if err := loss.Backward(); err != nil {
				return nil, err
			}
			norm := optim.ClipNorm(params, 0.01)
			return []*tensor.Tensor{loss.Value(), w.Grad(), out.Grad(), norm}, nil
		}
		set := func(k int32) {
			v := make([]int32, 30)
			for i := range v {
				v[i] = (int32(i)*k + k) % 3
			}
			v[k] = -100
			tensor.Upload(labels, v)
		}
		set(1)
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int32{1, 2, 5} {
			set(k)
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			var got [4][]float64
			for i, y := range rec.Outputs() {
				got[i], _ = y.Float64s()
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range eager {
				if want, _ := y.Float64s(); !slices.Equal(got[i], want) || len(want) == 0 {
					t.Errorf("labels %d, output %d: the replay gives %v, the step %v", k, i, got[i], want)
				}
			}
		}
		tensor.Upload(labels, slices.Repeat([]int32{3}, 30))
		refused(t, "a label past the classes", rec.Run(), tensor.ErrIndex, "CrossEntropy", "these reach from 3 to 3")
	})
}
