package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestProductGradients: gradients of products are those of the other factors, also where one or
// more of these are 0, and so are their gradients.
func TestProductGradients(t *testing.T) {
	d := devtest.CPU(t)
	for _, v := range [][]float64{{2, 0, 3, -1}, {0, 2, 0, 3}, {0, 0, 0, 1}, {5, 1, 2, 0}, {3}, {0}} {
		x := param(d, v...)
		without := func(to, i, j int) float64 { // the product up to an element, without two
			p := 1.0
			for k := range to {
				if k != i && k != j {
					p *= v[k]
				}
			}
			return p
		}
		for name, c := range map[string]struct {
			f  func(x *node) *node
			of func(i, j int) float64
		}{
			"Prod": {func(x *node) *node { return x.Prod() }, func(i, j int) float64 { return without(len(v), i, j) }},
			"CumProd": {func(x *node) *node { return x.CumProd(0).Sum() }, func(i, j int) (s float64) {
				for k := max(i, j); k < len(v); k++ {
					s += without(k+1, i, j)
				}
				return s
			}},
		} {
			plain := grad(t, c.f(x), []*node{x})[0]
			first := grad(t, c.f(x), []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
			for i := range v {
				w := c.of(i, i)
				if got, recorded := values(t, plain.Value())[i], values(t, first.Value())[i]; got != w || recorded != w {
					t.Errorf("%s of %v: gradient %d is %v, recorded %v, want %v", name, v, i, got, recorded, w)
				}
				if len(v) == 1 {
					continue
				}
				second := values(t, grad(t, first.Slice(0, i, i+1).Sum(), []*node{x}, autograd.GradOptions{Retain: true})[0].Value())
				for j := range v {
					want := c.of(i, j)
					if i == j {
						want = 0
					}
					if second[j] != want {
						t.Errorf("%s of %v: second gradient %d, %d is %v, want %v", name, v, i, j, second[j], want)
					}
				}
			}
		}
	}
}

// TestGradientsAtInfinity: elements that add nothing to a sum of exponentials get nothing, and no
// gradient is NaN for them.
func TestGradientsAtInfinity(t *testing.T) {
	d := devtest.CPU(t)
	inf := math.Inf(-1)
	x := param(d, inf, 1, inf, 1)
	for name, c := range map[string]struct {
		y    *node
		want []float64
	}{
		"LogSumExp":    {x.LogSumExp(), []float64{0, 0.5, 0, 0.5}},
		"LogCumSumExp": {x.LogCumSumExp(0).Slice(0, 1, 4).Sum(), []float64{0, 2.5, 0, 0.5}},
	} {
		for i, g := range values(t, grad(t, c.y, []*node{x})[0].Value()) {
			if !(math.Abs(g-c.want[i]) < 1e-12) {
				t.Errorf("%s: gradient %d is %v, want %v", name, i, g, c.want[i])
			}
		}
	}
}

// TestIndexOfCaller: an index that a reduction returns is its caller's: freeing it leaves the
// gradient what it reads.
func TestIndexOfCaller(t *testing.T) {
	d := devtest.CPU(t)
	for name, f := range map[string]func(x *node) (*node, *tensor.Tensor){
		"MaxWithIndex": func(x *node) (*node, *tensor.Tensor) { return x.MaxWithIndex(0, tensor.Keepdims) },
		"CumMin":       func(x *node) (*node, *tensor.Tensor) { return x.CumMin(0) },
	} {
		x := param(d, 1, 3, 2)
		y, index := f(x)
		index.Free()
		if err := y.Sum().Backward(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := fmt.Sprint(values(t, x.Grad())); got != "[0 1 0]" && got != "[3 0 0]" {
			t.Errorf("%s: gradient %s", name, got)
		}
	}
}
