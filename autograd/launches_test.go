package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/tensor"
)

// TestGradientsInPlace: what computes a gradient writes it where it belongs, or adds it to what is
// there, without a launch that copies or adds.
func TestGradientsInPlace(t *testing.T) {
	d := devtest.CPU(t)
	seed := tensor.Full(d, 1, 2, 2)
	w, v := autograd.Const(tensor.Full(d, 2, 2, 2)), autograd.Const(tensor.Full(d, 3, 2, 2))
	twice := func(x *node) *node { // its backward function writes the gradient to a given tensor
		y := tensor.Empty(d, 2, 2)
		y.SetInPlace(x.Value())
		return autograd.NewOp("twice", y, []*node{x}, func(g *autograd.Node, in *autograd.Grads) {
			in.AccumulateInto(0, func(dst *tensor.Tensor) { dst.SetInPlace(g.Value()) })
		})
	}
	for _, c := range []struct {
		name string
		flat bool
		f    func(p *node) *node
		want [2]int64 // launches of the first Backward and, without ZeroGrad, of another
		grad float64  // of each element after the first
	}{
		{"product", true, func(p *node) *node { return p.MatMul(w) }, [2]int64{1, 1}, 4},
		{"product", false, func(p *node) *node { return p.MatMul(w) }, [2]int64{1, 2}, 4},
		{"products of one value", false, func(p *node) *node { h := p.Neg(); return h.MatMul(w).Add(h.MatMul(v)) }, [2]int64{3, 4}, -10},
		{"written", true, twice, [2]int64{1, 2}, 1},
		{"written", false, twice, [2]int64{1, 2}, 1},
		{"shared", true, func(p *node) *node { return p.Add(w) }, [2]int64{1, 1}, 1},
		{"shared", false, func(p *node) *node { return p.Add(w) }, [2]int64{1, 1}, 1},
	} {
		p := autograd.Param(tensor.Full(d, 1, 2, 2), "p")
		if c.flat {
			defer flatparams.New([]*node{p}).Free()
		}
		for pass, want := range c.want {
			y := c.f(p)
			before := d.Stats().Launches
			if err := y.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
				t.Fatal(err)
			}
			if n := d.Stats().Launches - before; n != want {
				t.Errorf("%s, flat %v: Backward %d takes %d launches, want %d", c.name, c.flat, pass+1, n, want)
			}
			for _, g := range values(t, p.Grad()) {
				if g != c.grad*float64(pass+1) {
					t.Errorf("%s, flat %v: the gradient is %v after pass %d", c.name, c.flat, values(t, p.Grad()), pass+1)
					break
				}
			}
		}
	}
}

// TestBroadcastInFlatBuffer: the gradient of a parameter that was broadcast is that of one without
// a flat buffer, whichever axes are summed, in the first pass and in those that add to it. The sum
// of leading axes is one launch.
func TestBroadcastInFlatBuffer(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range []struct {
		shape, to []int
		launches  int64 // of each pass
	}{
		{[]int{}, []int{2, 3}, 1}, {[]int{3}, []int{2, 3}, 1}, {[]int{2, 3}, []int{4, 2, 3}, 1}, {[]int{2, 3}, []int{2, 3}, 1},
		{[]int{1}, []int{3}, 2}, {[]int{2, 1}, []int{2, 3}, 2}, {[]int{1, 3}, []int{2, 3}, 2}, {[]int{2, 1}, []int{4, 2, 3}, 3},
		{[]int{0}, []int{3, 0}, 0}, {[]int{0, 1}, []int{0, 2}, 0}, {[]int{3}, []int{0, 3}, 1}, {[]int{1}, []int{0, 3}, 2},
	} {
		n, size := product(c.to), product(c.shape)
		data := make([]float64, n)
		for i := range data {
			data[i] = float64(i + 1)
		}
		seed := devtest.New(d, data, c.to...)
		zeros := autograd.Const(tensor.Zeros(d, c.to...))
		free, held := autograd.Param(tensor.Zeros(d, c.shape...), "free"), autograd.Param(tensor.Zeros(d, c.shape...), "held")
		buffer := flatparams.New([]*node{autograd.Param(tensor.Zeros(d, 5), "first"), held, autograd.Param(tensor.Zeros(d, 5), "last")})
		for pass := range 3 {
			for _, p := range []*node{free, held} {
				y := zeros.Add(p)
				before := d.Stats().Launches
				if err := y.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
					t.Fatal(err)
				}
				if n := d.Stats().Launches - before; p == held && size > 0 && n != c.launches {
					t.Errorf("%v to %v: pass %d takes %d launches, want %d", c.shape, c.to, pass+1, n, c.launches)
				}
			}
			want(t, "the gradient in a flat buffer", held.Grad(), values(t, free.Grad())...)
		}
		buffer.Free()
	}
}

// TestConvGradientsInPlace: the gradients of a convolution's weights and bias are written where
// they belong.
func TestConvGradientsInPlace(t *testing.T) {
	d := devtest.CPU(t)
	w, b := autograd.Param(tensor.Full(d, 1, 2, 1, 2, 2), "w"), autograd.Param(tensor.Full(d, 1, 2), "b")
	defer flatparams.New([]*node{w, b}).Free()
	y := autograd.Const(tensor.Full(d, 3, 4, 1, 3, 3)).Conv(w, b)
	seed := tensor.Full(d, 1, 4, 2, 2, 2)
	before := d.Stats().Launches
	if err := y.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
		t.Fatal(err)
	}
	if n := d.Stats().Launches - before; n != 2 { // parts of both, and their sum
		t.Errorf("Backward takes %d launches, want 2", n)
	}
	for _, c := range []struct {
		p    *node
		want float64
	}{{w, 4 * 4 * 3}, {b, 4 * 4}} {
		for _, g := range values(t, c.p.Grad()) {
			if g != c.want {
				t.Errorf("the gradient of %s is %v, want %v", c.p.Name(), values(t, c.p.Grad()), c.want)
				break
			}
		}
	}
}
