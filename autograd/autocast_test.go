package autograd_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestAutocastTypes: products give the type of the Autocast, what needs float32 gives that, and the
// rest promotes; outside, and in a part that is turned off, nothing is cast.
func TestAutocastTypes(t *testing.T) {
	const half, wide = tensor.BFloat16, tensor.Float32
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, w := param(d, 1, 2, 3, 4).Reshape(2, 2), param(d, 1, -1, 0.5, 2).Reshape(2, 2)
	image, kernel := param(d, 1, 2, 3, 4, 5, 6, 7, 8, 9).Reshape(1, 1, 3, 3), param(d, 1, 2, 3, 4).Reshape(1, 1, 2, 2)
	labels := devtest.New(d, []int32{0, 1})
	for what, c := range map[string]struct {
		f    func() *node
		want tensor.Type
	}{
		"MatMul":                 {func() *node { return x.MatMul(w) }, half},
		"Linear":                 {func() *node { return x.Linear(w, nil, fn.ReLU) }, half},
		"Einsum":                 {func() *node { return autograd.Einsum("ij,jk->ik", x, w) }, half},
		"Conv":                   {func() *node { return image.Conv(kernel, nil) }, half},
		"ConvTranspose":          {func() *node { return image.ConvTranspose(kernel, nil) }, half},
		"attention":              {func() *node { return x.ScaledDotProductAttention(w, w, nil) }, half},
		"Softmax of a product":   {func() *node { return x.MatMul(w).Softmax(1) }, wide},
		"Exp of a product":       {func() *node { return x.MatMul(w).Exp() }, wide},
		"Sum of a product":       {func() *node { return x.MatMul(w).Sum() }, wide},
		"LayerNorm of a product": {func() *node { return x.MatMul(w).LayerNorm(1, nil, nil, 1e-5) }, wide},
		"CrossEntropy":           {func() *node { return autograd.CrossEntropy(x.MatMul(w), labels) }, wide},
		"MSE":                    {func() *node { return autograd.MSE(x.MatMul(w), w) }, wide},
		"SquaredError":           {func() *node { return x.MatMul(w).SquaredError(w) }, wide},
		"RDivScalar":             {func() *node { return x.MatMul(w).RDivScalar(2) }, wide},
		"Square":                 {func() *node { return x.MatMul(w).Square() }, wide},
		"SoftplusBeta":           {func() *node { return x.MatMul(w).SoftplusBeta(2, 20) }, wide},
		"Cdist":                  {func() *node { return x.MatMul(w).Cdist(x.MatMul(w), 2) }, wide},
		"Normalize":              {func() *node { return x.MatMul(w).Normalize(2, 1, 1e-12) }, wide},
		"ReLU of a product":      {func() *node { return x.MatMul(w).ReLU() }, half},
		"Mean of a product":      {func() *node { return x.MatMul(w).Mean() }, half},
		"a product and x":        {func() *node { return x.MatMul(w).Add(x) }, wide},
		"x":                      {func() *node { return x.Tanh() }, wide},
		"of float64":             {func() *node { return x.To(tensor.Float64).MatMul(w.To(tensor.Float64)) }, tensor.Float64},
	} {
		autograd.Autocast(d, half, func() {
			if y := c.f(); y.Type() != c.want {
				t.Errorf("%s is of %v, want %v", what, y.Type(), c.want)
			}
			autograd.Autocast(d, tensor.Float32, func() {
				if y := c.f(); y.Type() == half {
					t.Errorf("%s is of %v where the Autocast is turned off", what, half)
				}
			})
			if y := c.f(); y.Type() != c.want {
				t.Errorf("%s is of %v, want %v, after a part without", what, y.Type(), c.want)
			}
		})
		if y := c.f(); y.Type() == half {
			t.Errorf("%s is of %v after the Autocast", what, half)
		}
	}
	for _, typ := range []tensor.Type{tensor.Int32, tensor.Float64, tensor.Bool} {
		if err := tensor.Try(func() { autograd.Autocast(d, typ, func() {}) }); !errors.Is(err, tensor.ErrType) {
			t.Errorf("Autocast to %v: err = %v", typ, err)
		}
	}
	if err := tensor.Try(func() { autograd.Autocast(nil, half, func() {}) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("Autocast on no device: err = %v", err)
	}
	_ = tensor.Try(func() { autograd.Autocast(d, half, func() { x.Reshape(3) }) })
	if x.MatMul(w).Type() != wide {
		t.Error("an Autocast that panicked is under way")
	}
}

// TestAutocastParameters: a parameter is cast once, again when it changed or its graph is gone, and
// has a gradient of its own type, that of what it computes in 16 bits.
func TestAutocastParameters(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
			eps, _ := typ.Epsilon()
			w := autograd.Param(devtest.New(d, []float32{1, 1 + float32(eps)/4, -0.5, 2}, 2, 2), "w") // element 1 is rounded to 1
			x := autograd.Const(devtest.New(d, []float32{1, 2, 3, 4}, 2, 2))
			var y *node
			autograd.Autocast(d, typ, func() {
				y = x.MatMul(w).MatMul(w)
				near(t, "x·w·w", y.Value(), -2.5, 10, -4.5, 23)
				if casts := castsIn(t, y); casts != 2 { // of x and of w
					t.Errorf("%d casts in x·w·w, want 2", casts)
				}
			})
			if err := y.Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			if w.Grad().Type() != tensor.Float32 {
				t.Errorf("the gradient is of %v", w.Grad().Type())
			}
			wide := autograd.Param(w.Value().To(typ).To(tensor.Float32), "wide")
			if err := x.MatMul(wide).MatMul(wide).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			compareGradients(t, "w", w.Grad(), wide.Grad(), 2*eps)
			autograd.Autocast(d, typ, func() {
				for step := range 3 { // each frees its graph, and changes w
					w.ZeroGrad()
					loss := x.MatMul(w).Sum()
					was := values(t, w.Value())
					want := 4*(was[0]+was[1]) + 6*(was[2]+was[3])
					if got := values(t, loss.Value())[0]; math.Abs(got-want) > 20*eps {
						t.Errorf("step %d: the loss is %v, want %v", step, got, want)
					}
					if err := loss.Backward(); err != nil {
						t.Fatal(err)
					}
					w.Value().MapInPlace(fn.Sub, nil, w.Grad().MulScalar(0.1))
				}
				autograd.NoGrad(d, func() {
					if y := x.MatMul(w); y.NeedsGrad() {
						t.Error("a product under NoGrad needs a gradient")
					}
				})
				if y := x.MatMul(w); !y.NeedsGrad() {
					t.Error("a product after NoGrad needs no gradient")
				}
			})
		}
	})
}

// TestAutocastShared: graphs that read one parameter in 16 bits, frozen or not, are walked one after the other,
// inside or behind the Autocast, and its memory is given back.
func TestAutocastShared(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, frozen := range []bool{false, true} {
			w := autograd.Param(devtest.New(d, []float32{1, 2, 3, 4}, 2, 2), "w")
			x := autograd.Param(devtest.New(d, []float32{1, -1, 2, 0.5}, 2, 2), "x")
			if frozen {
				w.Freeze()
			}
			var first, second *node
			behind := func() {
				t.Helper()
				for _, loss := range []*node{first, second} {
					x.ZeroGrad()
					if err := loss.Backward(); err != nil {
						t.Fatalf("frozen %v: %v", frozen, err)
					}
					loss.Free()
				}
				near(t, "the gradient by x", x.Grad(), 3, 7, 3, 7)
				x.ZeroGrad()
				w.ZeroGrad()
			}
			losses := func() { first, second = x.MatMul(w).MulScalar(3).Sum(), x.MatMul(w).Sum() }
			steps := map[string]func(){
				"behind": func() {
					autograd.Autocast(d, tensor.BFloat16, losses)
					behind()
				},
				"inside": func() {
					autograd.Autocast(d, tensor.BFloat16, func() {
						losses()
						behind()
						losses()
						behind()
					})
				},
				"without gradients": func() {
					autograd.Autocast(d, tensor.BFloat16, func() {
						autograd.NoGrad(d, func() { tensor.Scope(d, func() { x.MatMul(w) }) })
					})
				},
			}
			for what, step := range steps {
				step()
				before := d.Stats().LiveBytes
				step()
				if now := d.Stats().LiveBytes; now != before {
					t.Errorf("frozen %v, %s: a step leaves %d bytes", frozen, what, now-before)
				}
			}
			autograd.Autocast(d, tensor.BFloat16, func() {
				losses()
				w.Value().FillInPlace(9) // the graphs read what it was
			})
			behind()
		}
	})
}

// TestAutocastFreed: a parameter whose tensor was freed is none, whatever was made of it before.
func TestAutocastFreed(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	w, x := param(d, 1, 2, 3, 4).Value().Reshape(2, 2), autograd.Const(tensor.Eye(d, 2, 2))
	p := autograd.Param(w, "w")
	autograd.Autocast(d, tensor.BFloat16, func() {
		x.MatMul(p)
		p.Value().Free()
		if err := tensor.Try(func() { x.MatMul(p) }); !errors.Is(err, tensor.ErrFreed) {
			t.Errorf("err = %v", err)
		}
	})
}

// castsIn counts the conversions among what y was computed from.
func castsIn(t *testing.T, y *node) int {
	t.Helper()
	var dot strings.Builder
	if err := autograd.WriteDOT(&dot, y); err != nil {
		t.Fatal(err)
	}
	return strings.Count(dot.String(), `label="To`)
}

// TestAutocastLinear: under Autocast a layer with its bias and its activation takes one launch more than a product, which
// converts the bias.
func TestAutocastLinear(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x, w := tensor.NewRNG(1).Uniform(d, -1, 1, 5, 4), autograd.Param(tensor.NewRNG(2).Uniform(d, -1, 1, 4, 3), "w")
	b := autograd.Param(tensor.NewRNG(3).Uniform(d, -1, 1, 3), "b")
	autograd.Autocast(d, tensor.BFloat16, func() {
		launches := func(f func(x *autograd.Node) *autograd.Node) int64 {
			in := autograd.Const(x)
			f(in) // parameters are cast once
			before := d.Stats().Launches
			f(in)
			return d.Stats().Launches - before
		}
		product := launches(func(x *autograd.Node) *autograd.Node { return x.MatMul(w) })
		layer := launches(func(x *autograd.Node) *autograd.Node { return x.Linear(w, b, fn.ReLU) })
		if layer != product+1 {
			t.Errorf("a layer takes %d launches, a product %d", layer, product)
		}
	})
}
