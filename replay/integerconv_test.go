package replay_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestConvInteger: a recorded step of convolutions and products of integers of 8 bits gives those of inputs that
// changed, with zero points that changed too.
func TestConvInteger(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(6)
		draw := func(typ tensor.Type, shape ...int) *tensor.Tensor { return rng.Uniform(d, 0, 100, shape...).To(typ) }
		x, zero := draw(tensor.Uint8, 2, 6, 9, 7), draw(tensor.Uint8, 1)
		w, deep := draw(tensor.Int8, 6, 3, 3, 3), draw(tensor.Int8, 6, 1, 3, 3)
		matrix := draw(tensor.Int8, 7, 5)
		step := func() ([]*tensor.Tensor, error) {
			two, each := tensor.ConvIntegerOptions{ZeroX: zero}, tensor.ConvIntegerOptions{ZeroX: zero}
			two.Padding, two.Groups, each.Groups = []int{1}, 2, 6
			y := tensor.ConvInteger(x, w, two)
			return []*tensor.Tensor{y.Add(y), tensor.ConvInteger(x, deep, each), tensor.MatMulInteger(x, matrix)}, nil
		}
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			x.SetInPlace(draw(tensor.Uint8, 2, 6, 9, 7))
			zero.SetInPlace(draw(tensor.Uint8, 1))
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			for _, y := range rec.Outputs() {
				got = append(got, devtest.Float64s(t, y))
			}
			eager, _ := step()
			for i, y := range eager {
				if want := devtest.Float64s(t, y); !slices.Equal(got[i], want) {
					t.Errorf("output %d: the replay gives %v, the step %v", i, got[i][:3], want[:3])
				}
			}
		}
	})
}
