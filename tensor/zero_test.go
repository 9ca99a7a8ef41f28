package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestSineOfNegativeZero: it is −0, as in C, in elements of vectors and beside them; that of 0
// is 0.
func TestSineOfNegativeZero(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		zeros := append(slices.Repeat([]float64{math.Copysign(0, -1)}, 11), 0, 0, 1, 0)
		x := devtest.New(d, zeros)
		for name, y := range map[string]*tensor.Tensor{"Sin": x.Sin(), "Sine": x.Sine(2)} {
			got, err := y.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range zeros {
				if v == 0 && (got[i] != 0 || math.Signbit(got[i]) != math.Signbit(v)) {
					t.Errorf("%s of element %d, %v, is %v", name, i, v, got[i])
				}
			}
		}
	})
}
