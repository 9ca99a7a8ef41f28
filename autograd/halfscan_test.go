package autograd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfScanGradients: gradients of scans of 16 bits are those in float32, rounded once: with ties, NaN, infinities
// and zeros of both signs, of views, of no elements and of scalars.
func TestHalfScanGradients(t *testing.T) {
	scans := map[string]func(x *node, axis int) *node{
		"CumProd": func(x *node, axis int) *node { return x.CumProd(axis) },
		"CumMax":  func(x *node, axis int) *node { y, _ := x.CumMax(axis); return y },
		"CumMin":  func(x *node, axis int) *node { y, _ := x.CumMin(axis); return y },
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, shape := range [][]int{{}, {0}, {5, 0, 3}, {7}, {3, 33, 5}, {2, 1, 40}, {1, 900}} {
			rng := rand.New(rand.NewPCG(30, uint64(len(shape))))
			draw := func() *tensor.Tensor {
				data := make([]float64, tensor.Full(d, 0, shape...).Len())
				for i := range data {
					data[i] = math.Round(8*rng.NormFloat64()) / 8
				}
				for i, v := range []float64{math.Copysign(0, -1), math.Inf(-1), 0, math.Inf(1), math.NaN()} {
					if at := len(data)/2 + 3*i; at < len(data) && len(shape) > 1 {
						data[at] = v
					}
				}
				return devtest.New(d, data, shape...)
			}
			x, seed := draw(), draw()
			for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
				for name, scan := range scans {
					for axis := range max(1, len(shape)) {
						for _, turned := range []bool{false, true} {
							got := scanGradient(t, x.To(typ), seed.To(typ), turned, axis, scan)
							want := scanGradient(t, x.To(typ).To(tensor.Float32), seed.To(typ).To(tensor.Float32), turned, axis,
								scan).To(typ)
							what := fmt.Sprintf("%s of %v %v, axis %d, transposed %v", name, typ, shape, axis, turned)
							if got.Type() != typ {
								t.Errorf("%s: a gradient of %v", what, got.Type())
							}
							if v, w := devtest.Float64s(t, got), devtest.Float64s(t, want); !sameNumbers(v, w) {
								t.Errorf("%s: %v, want %v", what, v, w)
							}
						}
					}
				}
			}
		}
	})
}

// scanGradient is the gradient of a scan of x, or of its transpose along the same axis, by x.
func scanGradient(t *testing.T, x, seed *tensor.Tensor, turned bool, axis int,
	scan func(x *node, axis int) *node) *tensor.Tensor {
	p, g := autograd.Param(x, "x"), autograd.Const(seed)
	y := p
	if turned && x.Rank() > 0 {
		y, g, axis = p.Transpose(), g.Transpose(), x.Rank()-1-axis
	}
	grads, err := autograd.Grad(scan(y, axis), []*node{p}, autograd.GradOptions{Seed: g})
	if err != nil {
		t.Fatal(err)
	}
	return grads[0].Value()
}

// sameNumbers reports whether numbers are equal, and NaN where others are.
func sameNumbers(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] && (v == v || b[i] == b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
