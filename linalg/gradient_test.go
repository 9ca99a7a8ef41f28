package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

type node = autograd.Node

// symmetricPart returns (x + xᵀ)/2.
func symmetricPart(x *node) *node { return x.Add(transposed(x)).MulScalar(0.5) }

// definitePart returns x·xᵀ + 2.
func definitePart(x *node) *node {
	n := x.Shape()[x.Value().Rank()-2]
	return x.MatMul(transposed(x)).Add(identity(x, n).MulScalar(2))
}

// gradients are functions of two batches of matrices whose values do not depend on the signs of vectors.
var gradients = []struct {
	name  string
	x, y  []int
	f     func(x, y *node) []*node
	first bool // its gradient has none, or one that central differences do not give
}{
	{"Cholesky", []int{2, 3, 3}, []int{1}, func(x, _ *node) []*node { return []*node{Cholesky(definitePart(x))} }, false},
	{"Solve", []int{2, 3, 3}, []int{2, 3, 2}, func(x, y *node) []*node { return []*node{Solve(x, y)} }, false},
	{"Solve right", []int{2, 3, 3}, []int{2, 3}, func(x, y *node) []*node { return []*node{Solve(x, y, SolveOptions{Right: true})} }, false},
	{"Solve right, broadcast", []int{3, 3}, []int{2, 2, 3}, func(x, y *node) []*node { return []*node{Solve(x, y, SolveOptions{Right: true})} }, false},
	{"Solve vectors", []int{2, 3, 3}, []int{3}, func(x, y *node) []*node { return []*node{Solve(x, y)} }, false},
	{"SolveTriangular", []int{2, 3, 3}, []int{2, 3, 2}, func(x, y *node) []*node { return []*node{SolveTriangular(x, y)} }, false},
	{"SolveTriangular upper unit", []int{2, 3, 3}, []int{3, 2}, func(x, y *node) []*node {
		return []*node{SolveTriangular(x, y, TriangularOptions{Upper: true, Unit: true})}
	}, false},
	{"SolveTriangular right", []int{2, 3, 3}, []int{2, 2, 3}, func(x, y *node) []*node {
		return []*node{SolveTriangular(x, y, TriangularOptions{Right: true}), SolveTriangular(x, y, TriangularOptions{Upper: true, Right: true})}
	}, false},
	{"SolveTriangular unit", []int{3, 3}, []int{3, 1}, func(x, y *node) []*node {
		return []*node{SolveTriangular(x, y, TriangularOptions{Unit: true})}
	}, false},
	{"Inv", []int{2, 3, 3}, []int{1}, func(x, _ *node) []*node { return []*node{Inv(x)} }, false},
	{"Det", []int{2, 3, 3}, []int{1}, func(x, _ *node) []*node { return []*node{Det(x)} }, false},
	{"SlogDet", []int{2, 3, 3}, []int{1}, func(x, _ *node) []*node {
		sign, l := SlogDet(x)
		return []*node{l, l.Mul(sign)}
	}, false},
	{"QR", []int{2, 4, 3}, []int{1}, func(x, _ *node) []*node {
		q, r := QR(x)
		return []*node{q, r}
	}, false},
	{"QR wide", []int{2, 3, 4}, []int{1}, func(x, _ *node) []*node {
		q, r := QR(x, QROptions{Complete: true})
		return []*node{q, r}
	}, false},
	{"SVD", []int{2, 4, 3}, []int{1}, func(x, _ *node) []*node { return invariants(SVD(x, SVDOptions{Reduced: true})) }, false},
	{"SVD wide", []int{2, 2, 3}, []int{1}, func(x, _ *node) []*node { return invariants(SVD(x, SVDOptions{Reduced: true})) }, false},
	{"SVD values", []int{2, 3, 3}, []int{1}, func(x, _ *node) []*node {
		_, s, _ := SVD(x)
		return []*node{s}
	}, false},
	{"Eigh", []int{2, 3, 3}, []int{1}, func(x, _ *node) []*node {
		l, v := Eigh(symmetricPart(x))
		return []*node{l, v.Square(), v.Select(-2, 0).Unsqueeze(-2).Mul(v)}
	}, false},
	{"Cross", []int{2, 3, 2}, []int{1, 3, 2}, func(x, y *node) []*node { return []*node{Cross(x, y, -2)} }, false},
}

// invariants are what does not depend on the signs of columns.
func invariants(u, s, vh *node) []*node {
	return []*node{s, u.Square(), u.Mul(vh.Select(-1, 0).Unsqueeze(-2)), vh.Square()}
}

// weighted returns the sum of xs by weights, of which none is another.
func weighted(xs []*node) *node {
	var total *node
	for i, x := range xs {
		w := make([]float64, x.Value().Len())
		for k := range w {
			w[k] = math.Sin(float64(7*i + 3*k + 1))
		}
		part := x.Mul(autograd.Const(tensor.NewOf(x.Device(), x.Type(), w, x.Shape()...))).Sum()
		if total == nil {
			total = part
		} else {
			total = total.Add(part)
		}
	}
	return total
}

// TestGradients holds the gradients of all functions, and the gradients of these, to central differences in float64.
func TestGradients(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		if d.DefaultType() != tensor.Float64 {
			return
		}
		for _, c := range gradients {
			rng := rand.New(rand.NewPCG(3, 5))
			of := func(shape []int) []float64 {
				n := 1
				for _, s := range shape {
					n *= s
				}
				list := make([]float64, n)
				for i := range list {
					list[i] = 2*rng.Float64() - 1
				}
				if len(shape) > 1 && shape[len(shape)-1] == shape[len(shape)-2] { // away from singular matrices
					for i := 0; i < n; i += shape[len(shape)-1] + 1 {
						list[i] += 2
					}
				}
				return list
			}
			xs, ys := of(c.x), of(c.y)
			first := func(x, y *node) *node { return weighted(c.f(x, y)) }
			second := func(x, y *node) *node {
				g, err := autograd.Grad(first(x, y), []*node{x, y}, autograd.GradOptions{CreateGraph: true, AllowUnused: true})
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if g[1] == nil {
					return weighted(g[:1])
				}
				return weighted(g)
			}
			compare(t, d, c.name, c.x, c.y, xs, ys, first, 1e-8)
			compare(t, d, c.name+", second", c.x, c.y, xs, ys, second, 1e-6)
		}
	})
}

// compare holds the gradients of f to central differences.
func compare(t *testing.T, d tensor.Device, name string, xShape, yShape []int, xs, ys []float64, f func(x, y *node) *node, bound float64) {
	t.Helper()
	tensor.Scope(d, func() {
		at := func() (x, y *node) {
			return autograd.Param(tensor.New(d, xs, xShape...), "x"), autograd.Param(tensor.New(d, ys, yShape...), "y")
		}
		x, y := at()
		if err := f(x, y).Backward(); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for i, p := range []struct {
			values []float64
			grad   *tensor.Tensor
		}{{xs, x.Grad()}, {ys, y.Grad()}} {
			if p.grad == nil {
				if i == 0 {
					t.Errorf("%s: no gradient", name)
				}
				continue
			}
			got := devtest.Float64s(t, p.grad)
			for k := range p.values {
				const h = 1e-5
				was := p.values[k]
				value := func(v float64) float64 {
					p.values[k] = v
					x, y := at()
					return devtest.Float64s(t, f(x, y).Value())[0]
				}
				want := (value(was+h) - value(was-h)) / (2 * h)
				if p.values[k] = was; !(math.Abs(got[k]-want) <= bound*max(1, math.Abs(want))) {
					t.Errorf("%s", fmt.Sprintf("%s: operand %d, element %d: gradient %v, the difference is %v", name, i, k, got[k], want))
				}
			}
		}
	})
}
