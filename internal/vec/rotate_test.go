package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRotate: rows are rotated within rounding at all lengths, and nothing behind them is written.
func TestRotate(t *testing.T) {
	testRotate[float32](t, 0x1p-23)
	testRotate[float64](t, 0x1p-52)
}

func testRotate[T Float](t *testing.T, eps float64) {
	rng := rand.New(rand.NewPCG(13, 14))
	sin, cos := math.Sincos(0.7)
	co, si := T(cos), T(sin)
	for _, set := range Sets() {
		l := On[T](set)
		l.Rotate(nil, nil, co, si) // nothing to do
		for n := range 100 {
			x, y := random[T](rng, n+1), random[T](rng, n+1)
			wasX, wasY := slices.Clone(x), slices.Clone(y)
			l.Rotate(x[:n], y, co, si)
			for i := range x {
				p, q := float64(wasX[i]), float64(wasY[i])
				wantX, wantY := float64(co)*p-float64(si)*q, float64(si)*p+float64(co)*q
				if i == n {
					wantX, wantY = p, q
				}
				bound := 2 * eps * (math.Abs(p) + math.Abs(q))
				if !(math.Abs(float64(x[i])-wantX) <= bound) || !(math.Abs(float64(y[i])-wantY) <= bound) {
					t.Fatalf("%v, %T, %d elements: element %d is %v, %v, want %v, %v", set, co, n, i, x[i], y[i], wantX, wantY)
				}
			}
		}
	}
}
