package autograd_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// defined is an operation on x and w, computed without a graph, whose gradients kernels would compute: it
// delivers none where gradients have none.
func defined(x, w *node, definition func(in []*node) *node) *node {
	var y *tensor.Tensor
	autograd.NoGrad(x.Device(), func() { y = definition([]*node{x, w}).Value().Copy() })
	return autograd.NewOp("Defined", y, []*node{x, w}, func(g *node, in *autograd.Grads) {
		if in.Derive(g, definition) != in.CreateGraph() {
			panic("Derive delivers where gradients have gradients")
		}
	}, x.Value(), w.Value())
}

// TestDerive: gradients of a definition, to the third order, behind an operation, of the same node twice, of a constant
// and of a broadcast one, and of nothing but an operand.
func TestDerive(t *testing.T) {
	d := devtest.CPU(t)
	create := autograd.GradOptions{CreateGraph: true}
	product := func(in []*node) *node { return in[0].Square().Mul(in[1]) } // x²·w

	x, w := param(d, 2, 3), param(d, 5)
	inner := x.Mul(x)
	y := defined(inner, w, product) // x⁴·w
	g := grad(t, y.Sum(), []*node{x, w, inner}, create)
	want(t, "gradient", g[0].Value(), 4*8*5, 4*27*5)
	want(t, "gradient of what is broadcast", g[1].Value(), 16+81)
	want(t, "gradient of a node on the way", g[2].Value(), 2*4*5, 2*9*5)
	second := grad(t, g[0].Sum(), []*node{x, w}, create)
	want(t, "second gradient", second[0].Value(), 12*4*5, 12*9*5)
	want(t, "second gradient by both", second[1].Value(), 4*8+4*27)
	want(t, "third gradient", grad(t, second[0].Sum(), []*node{x})[0].Value(), 24*2*5, 24*3*5)

	want(t, "one node twice", grad(t, defined(x, x, product).Sum(), []*node{x}, create)[0].Value(), 3*4, 3*9)
	constant := autograd.Const(w.Value())
	want(t, "a constant", grad(t, defined(x, constant, product).Sum(), []*node{x}, create)[0].Value(), 20, 30)
	last := func(in []*node) *node { return in[1] }
	want(t, "an operand", grad(t, defined(x, w, last).Sum(), []*node{w}, create)[0].Value(), 1)
	none := grad(t, defined(x, w, last).Sum(), []*node{x}, autograd.GradOptions{CreateGraph: true, AllowUnused: true})
	if none[0] != nil {
		t.Errorf("the gradient by what the definition does not read is %v", none[0])
	}
	empty := param(d)
	want(t, "no elements", grad(t, defined(empty, w, product).Sum(), []*node{w}, create)[0].Value(), 0)

	half := autograd.Param(tensor.NewOf(d, tensor.Float16, []float64{2}, 1), "h")
	got := grad(t, defined(half, w, product).Sum(), []*node{half}, create)[0]
	if want(t, "16 bits", got.Value(), 20); got.Type() != tensor.Float16 {
		t.Errorf("the gradient of float16 is of %v", got.Type())
	}
}

// TestDeriveShares: the gradient by a weight that a definition multiplies by many times, which is one product.
func TestDeriveShares(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(3)
	x, w := autograd.Param(rng.Uniform(d, -1, 1, 5, 3), "x"), autograd.Param(rng.Uniform(d, -1, 1, 3, 3), "w")
	f := func(in []*node) *node { return in[0].MatMul(in[1]).Tanh().MatMul(in[1]).Linear(in[1], nil, fn.Sigmoid) }
	both := []*node{x, w}
	create := autograd.GradOptions{CreateGraph: true}
	first := func(y *node) []*node { return grad(t, y.Square().Sum(), both, create) }
	second := func(g []*node) []*node { return grad(t, g[0].Square().Sum().Add(g[1].Square().Sum()), both, create) }
	got, want := first(defined(x, w, f)), first(f(both))
	for i := range both {
		near(t, "gradient", got[i].Value(), values(t, want[i].Value())...)
	}
	got, want = second(got), second(want)
	for i := range both {
		near(t, "second gradient", got[i].Value(), values(t, want[i].Value())...)
	}
}

// TestDeriveFails: a definition with an operation whose gradient has none is an error of the walk, and the operation
// names itself.
func TestDeriveFails(t *testing.T) {
	d := devtest.CPU(t)
	x, w := param(d, 2), param(d, 5)
	once := func(in []*node) *node {
		y := in[0].Value().Mul(in[1].Value())
		return autograd.NewOp("Once", y, in, func(g *node, in *autograd.Grads) { in.Accumulate(0, g.Value().Copy()) })
	}
	_, err := autograd.Grad(defined(x, w, once).Sum(), []*node{x}, autograd.GradOptions{CreateGraph: true})
	if !errors.Is(err, autograd.ErrNotTwiceDifferentiable) || !strings.Contains(err.Error(), `"Once"`) {
		t.Fatalf("the error is %v", err)
	}
}
