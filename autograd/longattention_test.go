package autograd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestSumsOfLongAttention: the mean of 300,000 values that equal scores give, and the gradients of
// values and keys that as many queries share, are off by a few units in the last place, not by as
// many as there are terms.
func TestSumsOfLongAttention(t *testing.T) {
	const many, few, features = 300_000, 33, 4
	r := rand.New(rand.NewPCG(3, 9))
	data := make([]float32, many*features)
	var sum [features]float64
	for i := range data {
		data[i] = 0.2 + 0.6*r.Float32()
		sum[i%features] += float64(data[i])
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		within := func(what string, got []float64, by float64) {
			t.Helper()
			for i, v := range got {
				if want := sum[i%features] * by; !(math.Abs(v-want) <= 3e-6*want) {
					t.Errorf("%s: element %d is %v, want %v", what, i, v, want)
					return
				}
			}
		}
		long, short := devtest.New(d, data, 1, many, features), tensor.Zeros(d, 1, few, features)
		y := short.ScaledDotProductAttention(tensor.Zeros(d, 1, many, features), long, nil)
		within("values", values(t, y), 1./many)
		v := autograd.Param(tensor.Zeros(d, 1, few, features), "v")
		queries := autograd.Const(tensor.Zeros(d, 1, many, features))
		z := queries.ScaledDotProductAttention(autograd.Const(short), v, nil)
		if err := z.Mul(autograd.Const(long)).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		within("gradient of values", values(t, v.Grad()), 1./few)
	})
}
