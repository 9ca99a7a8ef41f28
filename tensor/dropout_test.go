package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestDropout: elements are dropped by the numbers that Uniform has of the same call, the rest is
// scaled; a view is dropped in its order; the next call drops others, and what is not training
// none.
func TestDropout(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		const p = 0.375
		x := tensor.NewRNG(1).Uniform(d, 1, 2, 7, 301)
		rng, same := tensor.NewRNG(5), tensor.NewRNG(5)
		for call := range 2 {
			v := x.T()
			got, of, u := devtest.Float64s(t, v.Dropout(p, rng, true)), devtest.Float64s(t, v), devtest.Float64s(t, same.Uniform(d, 0, 1, 301, 7))
			dropped := 0
			for i, g := range got {
				want := of[i] / (1 - p)
				if u[i] < p {
					want = 0
					dropped++
				}
				if math.Abs(g-want) > 1e-6 {
					t.Fatalf("call %d, element %d is %v, want %v", call, i, g, want)
				}
			}
			if n := float64(len(got)); math.Abs(float64(dropped)-n*p) > 4*math.Sqrt(n*p*(1-p)) {
				t.Errorf("call %d drops %d of %d", call, dropped, len(got))
			}
		}
		if y := x.Dropout(p, nil, false); !slices.Equal(devtest.Float64s(t, y), devtest.Float64s(t, x)) {
			t.Error("evaluation changes something")
		}
		for _, v := range devtest.Float64s(t, x.Dropout(1, rng, true)) {
			if v != 0 {
				t.Fatalf("%v is left of what is dropped whole", v)
			}
		}
		if y := tensor.Zeros(d, 0, 3).Dropout(p, rng, true); !slices.Equal(y.Shape(), []int{0, 3}) {
			t.Error(y.Shape())
		}
		for _, train := range []bool{true, false} {
			if y := tensor.FullOf(d, tensor.Uint8, 3).Dropout(0, rng, train); y.Type() != d.DefaultType() {
				t.Errorf("of a byte, training %v: %v", train, y.Type())
			}
		}
		expectNumbers(t, "an int", devtest.Float64s(t, tensor.FullOf(d, tensor.Int32, 3).Dropout(0, rng, true)), []float64{3})
		for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
			fails(t, func() { x.Dropout(bad, rng, true) }, tensor.ErrValue)
			fails(t, func() { x.Dropout(bad, rng, false) }, tensor.ErrValue)
		}
		fails(t, func() { x.Dropout(p, nil, true) }, tensor.ErrValue)
	})
}
