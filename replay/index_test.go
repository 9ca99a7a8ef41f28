package replay_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestIndexedSteps: what reads and writes by index, and what puts elements in another place,
// replays with the bits of the eager step: with indices that the caller sets again, those that the
// device makes in a known range, and their gradients. Indices that are none are refused before
// anything has changed.
func TestIndexedSteps(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		const words, wide = 90, 3
		rng := tensor.NewRNG(4)
		table := autograd.Param(rng.Normal(d, 0, 1, words, wide), "table")
		index := devtest.New(d, make([]int32, 200), 4, 50)
		labels := devtest.New(d, make([]int32, 4), 4, 1)
		step := func() ([]*tensor.Tensor, error) {
			table.ZeroGrad()
			x := table.Embedding(index, tensor.EmbeddingOptions{Padded: true, Padding: 1}) // [4 50 3]
			x = x.Pad([][2]int{{2, 1}, {0, 1}}, tensor.PadOptions{Mode: tensor.PadCircular}).Flip(1).Roll(1, -1)
			parts := x.Chunk(1, 2)
			x = autograd.Concat(1, parts[1].Tile(2), parts[0].Tile(1, 2))
			logits := x.Sum(1).Tril(3) // [4 8]
			places := tensor.ArangeOf(d, tensor.Int32, 3, -1, -1)
			loss := logits.Gather(1, labels).Sum().Add(logits.Index(places, places).Square().Sum())
			loss = loss.Add(logits.ScatterAdd(0, places.Unsqueeze(0).Tile(1, 2), logits).IndexSelect(1, places).Exp().Mean())
			loss = loss.Add(logits.Gather(1, logits.Value().ArgMax(1, tensor.Keepdims)).Sum()) // indices that the device makes
			top, at := logits.TopK(3, 0)
			_, middle := logits.Median(1, tensor.Keepdims)
			loss = loss.Add(logits.Scatter(0, at, top).Gather(1, logits.ArgSort(-1)).Gather(1, middle).Exp().Sum())
			loss.Retain()
			if err := loss.Backward(); err != nil {
				return nil, err
			}
			return []*tensor.Tensor{loss.Value(), table.Grad()}, nil
		}
		set := func(k int32) {
			v := make([]int32, 200)
			for i := range v {
				v[i] = (int32(i)*int32(i)*k + k) % words
			}
			tensor.Upload(index, v)
			tensor.Upload(labels, []int32{k, 0, 7, k / 2})
		}
		set(1)
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int32{1, 5, 7} {
			set(k)
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			var got, want [2][]float64
			for i, y := range rec.Outputs() {
				got[i], _ = y.Float64s()
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range eager {
				want[i], _ = y.Float64s()
				if !slices.Equal(got[i], want[i]) || len(got[i]) == 0 {
					t.Errorf("indices %d, output %d: the replay gives %v, the step %v", k, i, got[i], want[i])
				}
			}
		}
		tensor.Upload(index, slices.Repeat([]int32{words}, 200))
		refused(t, "an index past the end", rec.Run(), tensor.ErrIndex, "Embedding", "90")
		set(1)
		tensor.Upload(labels, []int32{0, 8, 0, 0})
		refused(t, "a label past the end", rec.Run(), tensor.ErrIndex, "Gather", "from 0 to 8, and axis 1 has 8")
		set(1)
		if err := rec.Run(); err != nil {
			t.Error(err)
		}
		copied, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			loss := autograd.CrossEntropy(table.Transpose(1, 0).Slice(0, 0, 2), index.Slice(1, 0, 2).Slice(0, 0, 1).Copy().Flatten(0, -1))
			return []*tensor.Tensor{table.Value().Embedding(index.T().Copy().Slice(0, 0, 2).Copy()), loss.Value()}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		tensor.Upload(index, slices.Repeat([]int32{words - 1}, 200))
		if err := copied.Run(); err != nil {
			t.Error(err)
		}
		tensor.Upload(index, slices.Repeat([]int32{words}, 200))
		refused(t, "a copy of an index past the end", copied.Run(), tensor.ErrIndex, "", "90")
		set(1)
		_, err = replay.Record(d, func() ([]*tensor.Tensor, error) {
			return one(table.Value().IndexSelect(0, labels.To(d.DefaultType()).To(tensor.Int32).Flatten(0, -1)))
		})
		refused(t, "indices that the step computes", err, replay.ErrHostRead, "IndexSelect")
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
