package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// layerCase is a function that a layer computes in its launch.
type layerCase struct {
	f       *kernels.Function
	scalars []float64
}

func (c layerCase) String() string {
	if c.f == nil {
		return "none"
	}
	return fmt.Sprint(c.f.Name, c.scalars)
}

func (c layerCase) of(z *node) *node {
	if c.f == nil {
		return z
	}
	return autograd.Map(c.f, c.scalars, z)
}

// swish is a function of a program's own, of a scalar that it uses and one that it does not.
var swish = &kernels.Function{Name: "swish", Value: expr.Input(0).Div(expr.Const(1).Add(expr.Param(1).Mul(expr.Input(0)).Neg().Exp())), Scalars: []float64{9, 1.5}}

// layerCases are functions whose gradient reads the value, the operand, both or neither, is that of
// the value itself, or is zero.
var layerCases = []layerCase{
	{nil, nil}, {fn.Identity, nil}, {fn.ReLU, nil}, {fn.LeakyReLU, []float64{0.25}}, {fn.LeakyReLU, []float64{-0.25}},
	{fn.Tanh, nil}, {fn.Sigmoid, nil}, {fn.Softplus, nil}, {fn.Clamp, []float64{-0.5, 0.75}}, {fn.Sine, []float64{3}},
	{fn.RDivScalar, []float64{2}}, {fn.AddScalar, []float64{2}}, {fn.Neg, nil}, {fn.Sign, nil}, {swish, []float64{9, 1.5}},
}

// TestLinearSlope: a leaky ReLU of any slope is one, and has its gradient.
func TestLinearSlope(t *testing.T) {
	d := devtest.CPU(t)
	for slope, w := range map[float64][2]float64{0.5: {-1.5, -1}, 0: {0, 0}, -1: {3, 2}, math.Inf(-1): {math.Inf(1), math.Inf(1)}} {
		x := autograd.Param(tensor.Full(d, -1, 2, 3), "x")
		y := x.Linear(autograd.Const(tensor.Full(d, 1, 3, 2)), nil, fn.LeakyReLU, slope)
		want(t, fmt.Sprint("slope ", slope), y.Value(), w[0], w[0], w[0], w[0])
		if err := y.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		got, err := x.Grad().Float64s()
		if g := 2 * slope; err != nil || got[0] != g {
			t.Errorf("slope %v: gradient %v, want %v (err %v)", slope, got[0], g, err)
		}
	}
}

// TestLinearKeeps: a layer stores the operand of its function where there is a gradient that reads
// it, and nowhere else.
func TestLinearKeeps(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	x, w := rng.Normal(d, 0, 1, 64, 3), rng.Normal(d, 0, 1, 3, 16)
	held := func(c layerCase, leaf func(t *tensor.Tensor) *node, free bool) int64 {
		a, b := leaf(x.Copy()), leaf(w.Copy())
		before := d.Stats().LiveBytes
		y := a.Linear(b, nil, c.f, c.scalars...)
		live := d.Stats().LiveBytes - before
		if free {
			if err := y.Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			a.ZeroGrad()
			b.ZeroGrad()
			if left := d.Stats().LiveBytes - before; left > 512 { // the sum
				t.Errorf("%v: Backward leaves %d bytes", c, left)
			}
		}
		return live
	}
	const size = 8 * 64 * 16
	param := func(t *tensor.Tensor) *node { return autograd.Param(t, "p") }
	for _, c := range layerCases {
		keeps := int64(size)
		switch c.String() {
		case "softplus[]", "clamp[-0.5 0.75]", "sine[3]", "rdiv_scalar[2]", "swish[9 1.5]", "leaky_relu[-0.25]":
			keeps *= 2
		}
		if got := held(c, param, true); got != keeps {
			t.Errorf("%v: %d bytes are held, want %d", c, got, keeps)
		}
		if got := held(c, autograd.Const, false); got != size {
			t.Errorf("%v of constants: %d bytes are held, want %d", c, got, size)
		}
		autograd.NoGrad(d, func() {
			if got := held(c, param, false); got != size {
				t.Errorf("%v under NoGrad: %d bytes are held, want %d", c, got, size)
			}
		})
	}
}

// TestLinearIsItsParts: a layer has the values and the gradients of the product, the sum and the
// function that it does in one, of sizes that are 0 too, in a flat buffer and without, and when
// they are added to.
func TestLinearIsItsParts(t *testing.T) {
	d := devtest.CPU(t)
	for _, s := range [][3]int{{4, 3, 2}, {1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}, {300, 3, 2}} {
		for _, c := range layerCases {
			for mode := range 4 {
				bias, flat := mode&1 != 0, mode&2 != 0
				parameters := func() (all []*node) {
					rng := tensor.NewRNG(3)
					all = []*node{autograd.Param(rng.Normal(d, 0, 1, s[0], s[1]), "x"), autograd.Param(rng.Normal(d, 0, 1, s[1], s[2]), "w")}
					if bias {
						all = append(all, autograd.Param(rng.Normal(d, 0, 1, s[2]), "b"))
					}
					if flat {
						flatparams.New(all)
					}
					return all
				}
				p, q := parameters(), parameters()
				for range 2 {
					var b *node
					z := q[0].MatMul(q[1])
					if bias {
						b = p[2]
						z = z.Add(q[2])
					}
					y, ref := p[0].Linear(p[1], b, c.f, c.scalars...), c.of(z)
					what := fmt.Sprintf("%v, function %v, bias %v, flat %v", s, c, bias, flat)
					compareGradients(t, "the value of "+what, y.Value(), ref.Value(), 1e-12)
					g := tensor.NewRNG(4).Normal(d, 0, 1, s[0], s[2])
					for _, y := range []*node{y, ref} {
						if err := y.Backward(autograd.BackwardOptions{Seed: g}); err != nil {
							t.Fatal(err)
						}
					}
					for i := range p {
						compareGradients(t, p[i].Name()+" of "+what, p[i].Grad(), q[i].Grad(), 1e-12)
					}
				}
			}
		}
	}
}
