package autograd_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// at returns the place that is so many lines after its caller.
func at(after int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file, line+after)
}

// anomaly runs f under DetectAnomalies and returns the one that it must find.
func anomaly(t *testing.T, d tensor.Device, f func() error) *autograd.AnomalyError {
	t.Helper()
	err := autograd.DetectAnomalies(d, f)
	var e *autograd.AnomalyError
	if !errors.As(err, &e) {
		t.Fatalf("err = %v, want an AnomalyError", err)
	}
	return e
}

// TestAnomaliesForward: the operation that makes a NaN or an infinity ends the function, and is
// named with its line.
func TestAnomaliesForward(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for name, c := range map[string]struct {
			f     func(x *node) (*node, string)
			x     []float64
			op    string
			value float64
			index []int
			count int
			words string
		}{
			"log of a negative": {func(x *node) (*node, string) { return x.Log(), at(0) }, []float64{1, -1, 2, -3}, "Log", nan, []int{0, 1}, 2, "2 of 4 elements"},
			"log of zero":       {func(x *node) (*node, string) { return x.Log(), at(0) }, []float64{1, 2, 0, 1}, "Log", -inf, []int{1, 0}, 1, "makes -Inf of finite operands"},
			"0/0":               {func(x *node) (*node, string) { return x.Div(x.MulScalar(2)), at(0) }, []float64{1, 2, 3, 0}, "Div", nan, []int{1, 1}, 1, "makes NaN of finite"},
			"1/0":               {func(x *node) (*node, string) { return x.RDivScalar(1), at(0) }, []float64{0, 2, 3, 4}, "RDivScalar", inf, []int{0, 0}, 1, "+Inf"},
			"overflow":          {func(x *node) (*node, string) { return x.MulScalar(1e4).Exp(), at(0) }, []float64{0, 0, -1, 1}, "Exp", inf, []int{1, 1}, 1, "Exp [2 2] at "},
			"product":           {func(x *node) (*node, string) { return x.MatMul(x), at(0) }, []float64{1, 1e300, 1e300, 1}, "MatMul", inf, []int{0, 0}, 2, "MatMul"},
			"sum":               {func(x *node) (*node, string) { return x.Sum().Named("total"), at(0) }, []float64{1e308, 1e308, 1, 1}, "Sum", inf, []int{}, 1, "Sum [] at"},
			"Float16":           {func(x *node) (*node, string) { return x.To(tensor.Float16), at(0) }, []float64{7e4, 1, 1, 1}, "To", inf, []int{0, 0}, 1, "To"},
			"NaN of infinities": {func(x *node) (*node, string) {
				top := autograd.Const(tensor.Scalar(x.Device(), inf))
				return x.Add(top).Sub(top), at(0)
			}, []float64{1, 2, 3, 4}, "Sub", nan, []int{0, 0}, 4, "makes NaN of infinite operands"},
			"a NaN before an infinity": {func(x *node) (*node, string) { return x.Log(), at(0) }, []float64{0, 0, -1, 1}, "Log", nan, []int{1, 0}, 3, "3 of 4"},
		} {
			if name == "product" || name == "sum" {
				if epsilon(d) > 1e-10 {
					continue // the operands are no float32
				}
			}
			p := autograd.Param(devtest.New(d, c.x, 2, 2), "x")
			for _, quiet := range []bool{false, true} {
				f := func() { y, _ := c.f(p); t.Errorf("%s: continued with %v", name, y) }
				e := anomaly(t, d, func() error {
					if quiet {
						autograd.NoGrad(d, f)
					} else {
						f()
					}
					return nil
				})
				_, place := c.f(p) // of no concern to anybody now
				if e.Op != c.op || e.Backward || fmt.Sprint(e.Value) != fmt.Sprint(c.value) || fmt.Sprint(e.Index) != fmt.Sprint(c.index) || e.Count != c.count {
					t.Errorf("%s: %+v", name, e)
				}
				if e.Place != place || !strings.Contains(e.Error(), c.words) || !strings.Contains(e.Error(), place) {
					t.Errorf("%s at %s: %v", name, place, e)
				}
			}
		}
	})
}

// TestAnomaliesBackward: the operation whose gradient makes one is named with the line that called
// it, by Backward and by DetectAnomalies, whether the function looks at the error or not.
func TestAnomaliesBackward(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, record := range []bool{false, true} {
			for _, flat := range []bool{false, true} {
				p := param(d, 4, 0, 1).Named("p")
				if flat {
					flatparams.New([]*node{p})
				}
				var place string
				var inner error
				e := anomaly(t, d, func() error {
					h := p.Sqrt()
					place = at(-1)
					inner = h.MulScalar(3).Sum().Backward(autograd.BackwardOptions{CreateGraph: record})
					return nil
				})
				if inner != error(e) {
					t.Errorf("Backward returns %v, DetectAnomalies %v", inner, e)
				}
				if e.Op != "Sqrt" || !e.Backward || !math.IsInf(e.Value, 1) || fmt.Sprint(e.Index) != "[1]" || e.Place != place {
					t.Errorf("recorded %v: %+v, want Sqrt at %s", record, e, place)
				}
				for _, w := range []string{"the gradient of Sqrt [3] at ", `input 0, "p"`, "1 of 3 elements, the first at [1]", "of a finite gradient"} {
					if !strings.Contains(e.Error(), w) {
						t.Errorf("no %q in: %v", w, e)
					}
				}
			}
		}
		// Of several inputs the one is named whose gradient it is, also behind a constant, and
		// behind one that is fine.
		for what, first := range map[string]*node{"a constant": autograd.Const(vec(d, 1)), "a parameter": param(d, 1)} {
			small := 4 * tiny(d) // its inverse is a float, the square of that is none
			e := anomaly(t, d, func() error { return first.Div(param(d, small).Named("q")).Sum().Backward() })
			if e.Op != "Div" || !e.Backward || !strings.Contains(e.Error(), `input 1, "q"`) {
				t.Errorf("behind %s: %v", what, e)
			}
		}
		// 0·∞: sqrt gives the infinity, whatever the product before it makes of it later.
		p := param(d, 0, 1)
		e := anomaly(t, d, func() error { return p.Sqrt().Mul(autograd.Const(vec(d, 0, 1))).Sum().Backward() })
		if e.Op != "Sqrt" || !math.IsNaN(e.Value) {
			t.Errorf("0/0 in the gradient: %v", e)
		}
	})
}

// tiny is the least normal float of a device.
func tiny(d tensor.Device) float64 {
	if epsilon(d) < 1e-10 {
		return 0x1p-1022
	}
	return 0x1p-126
}

// TestAnomaliesOfConstants: a mask of −Inf and gaps in data are meant, and pass. One that reaches
// the loss is named.
func TestAnomaliesOfConstants(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := autograd.Param(devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3), "x")
		softmax := func(x, mask *node) *node {
			z := x.Add(mask)
			e := z.Sub(z.Max(1, tensor.Keepdims)).Exp()
			return e.Div(e.Sum(1, tensor.Keepdims))
		}
		mask := autograd.Const(devtest.New(d, []float64{0, -inf, 0, -inf, 0, 0}, 2, 3)).Named("mask")
		gaps := autograd.Const(devtest.New(d, []float64{1, 2, 3, nan, 5, nan}, 2, 3)).Named("gaps")
		err := autograd.DetectAnomalies(d, func() error {
			if err := softmax(x, mask).Square().Sum().Backward(); err != nil {
				return err
			}
			return x.Sub(gaps).GatherRows(devtest.New(d, []int32{0})).Square().Sum().Backward()
		})
		if err != nil {
			t.Errorf("constants that are meant: %v", err)
		}
		e := anomaly(t, d, func() error { return x.Sub(gaps).Square().Sum().Backward() })
		if e.Name != "gaps" || !e.Backward || !strings.Contains(e.Error(), `Backward from Sum begins at NaN: it comes from "gaps" [2 3], which holds NaN: 2 of 6 elements, the first at [1 0]`) {
			t.Errorf("a loss of NaN: %v", e)
		}
		e = anomaly(t, d, func() error {
			all := autograd.Const(tensor.Full(d, -inf, 2, 3))
			return softmax(x, all).Sum().Backward()
		})
		if e.Op != "Sub" || !strings.Contains(e.Error(), "makes NaN of infinite operands") {
			t.Errorf("a row that is masked altogether: %v", e)
		}
		// What was computed outside is as good as a constant.
		before := x.Sub(gaps)
		e = anomaly(t, d, func() error { return before.Square().Sum().Backward() })
		if e.Name != "gaps" {
			t.Errorf("computed before: %v", e)
		}
		e = anomaly(t, d, func() error {
			h := x.Sub(gaps)
			y := h.AddScalar(1)
			h.Value().Free() // so that nothing is known of it
			return y.Sum().Backward()
		})
		if e.Name != "AddScalar" {
			t.Errorf("what it comes from was freed: %v", e)
		}
		e = anomaly(t, d, func() error { return x.Mul(before.Detach()).Sum().Backward() })
		if e.Name != "const" || !strings.Contains(e.Error(), "const [2 3]") {
			t.Errorf("detached: %v", e)
		}
	})
}

// TestAnomaliesOfLeaves: a parameter, a seed and a gradient that held one before.
func TestAnomaliesOfLeaves(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		w := param(d, 1, nan).Named("weight")
		var place string
		e := anomaly(t, d, func() error {
			place = at(1)
			return w.MulScalar(2).Sum().Backward()
		})
		if e.Op != "MulScalar" || e.Name != "weight" || e.Backward || e.Place != place || !strings.Contains(e.Error(), `parameter "weight" [2] held NaN before MulScalar [2] at `+place+" read it: 1 of 2") {
			t.Errorf("a parameter: %+v: %v", e, e)
		}
		p := param(d, 1, 2).Named("p")
		e = anomaly(t, d, func() error { return p.Square().Backward(autograd.BackwardOptions{Seed: vec(d, 1, inf)}) })
		if !e.Backward || !strings.Contains(e.Error(), "the seed of Backward from Square [2] holds +Inf: 1 of 2") {
			t.Errorf("a seed: %v", e)
		}
		p.ZeroGrad()
		if err := p.Square().Backward(autograd.BackwardOptions{Seed: vec(d, 1, nan)}); err != nil {
			t.Fatal(err)
		}
		if err := autograd.DetectAnomalies(d, func() error { return p.Square().Sum().Backward() }); err != nil {
			t.Errorf("a gradient from before: %v", err)
		}
	})
}

// TestAnomaliesOfHooks: what a hook makes is the hook's.
func TestAnomaliesOfHooks(t *testing.T) {
	d := devtest.CPU(t)
	for _, record := range []bool{false, true} {
		p := param(d, 1, 2)
		h := p.Square().Named("h")
		h.Hook(func(g *node) *node { return g.SubScalar(1).Log() })
		e := anomaly(t, d, func() error { return h.Sum().Backward(autograd.BackwardOptions{CreateGraph: record}) })
		if e.Op != "Hook" || e.Name != "h" || !strings.Contains(e.Error(), "a hook of h [2] makes -Inf of a finite gradient: 2 of 2") {
			t.Errorf("recorded %v: %v", record, e)
		}
		p.Hook(func(g *node) *node { return g.MulScalar(inf) })
		anomaly(t, d, func() error { return p.Square().Sum().Backward(autograd.BackwardOptions{CreateGraph: record}) })
		if p.Grad() != nil {
			t.Errorf("recorded %v: what a hook made reached the parameter: %v", record, values(t, p.Grad()))
		}
	}
}

// TestAnomaliesOfSecondGradients: what a gradient computes has the line of the operation that it is
// of. Here it is the norm of a slope that is 0, as in a gradient penalty, which makes the infinity;
// the slope's own operations inherit it.
func TestAnomaliesOfSecondGradients(t *testing.T) {
	d := devtest.CPU(t)
	x := param(d, 0, 0)
	var norm, pow string
	e := anomaly(t, d, func() error {
		slope := grad(t, x.Square().Sum(), []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
		length := slope.Square().Sum()
		n := length.Sqrt()
		norm = at(-1)
		return n.SubScalar(1).Square().Backward()
	})
	if e.Op != "Sqrt" || e.Place != norm {
		t.Errorf("%v, want Sqrt at %s", e, norm)
	}
	e = anomaly(t, d, func() error {
		y := x.AddScalar(4e-200).Pow(-0.5) // its second derivative overflows where it is squared in the gradient
		pow = at(-1)
		slope := grad(t, y.Sum(), []*node{x}, autograd.GradOptions{CreateGraph: true})[0]
		return slope.Sum().Backward()
	})
	if e.Op != fn.Pow.Gradient(0).Name || e.Place != pow || !e.Backward {
		t.Errorf("%v, want the gradient of pow at %s", e, pow)
	}
}

// TestAnomaliesOfTraining: a rate that is too high ends in an overflow; the step, the operation and
// the line are known.
func TestAnomaliesOfTraining(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		x, y := autograd.Const(rng.Uniform(d, -1, 1, 16, 4)), autograd.Const(rng.Uniform(d, 0, 1, 16, 1))
		w := autograd.Param(rng.Normal(d, 0, 1, 4, 1), "w")
		opt := optim.NewSGD([]*node{w}, optim.SGDConfig{LR: optim.Constant(10)})
		steps := 0
		var place string
		e := anomaly(t, d, func() error {
			for ; steps < 1000; steps++ {
				place = at(1)
				loss := x.MatMul(w).Sub(y).Square().Sum()
				if err := loss.Backward(); err != nil {
					return fmt.Errorf("step %d: %w", steps, err)
				}
				loss.Free()
				if err := opt.Step(); err != nil {
					return err
				}
				opt.ZeroGrad()
			}
			return nil
		})
		if steps == 0 || steps >= 1000 || e.Place != place || e.Op != "Square" && e.Op != "Sum" {
			t.Errorf("step %d: %v, want one of line %s", steps, e, place)
		}
	})
}

// TestNoFalseAnomalies: every operation and its gradient pass, with the bits that they have
// without.
func TestNoFalseAnomalies(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		if !strings.HasPrefix(d.Name(), "cpu ") && !devtest.More() {
			t.Skip("builds the kernels of all operations: make test-more")
		}
		for _, c := range gradCases(d) {
			run := func() (grads [][]float64, err error) {
				rng := tensor.NewRNG(5)
				var in []*node
				for i, s := range c.shapes {
					in = append(in, autograd.Param(rng.Uniform(d, c.low, c.high, s...), fmt.Sprint("p", i)))
				}
				y := c.f(in)
				if err := y.Backward(autograd.BackwardOptions{Seed: rng.Uniform(d, -1, 1, y.Shape()...)}); err != nil {
					return nil, err
				}
				for _, p := range in {
					grads = append(grads, values(t, p.Grad()))
				}
				return grads, nil
			}
			plain, err := run()
			if err != nil {
				t.Fatal(err)
			}
			var watched [][]float64
			if err := autograd.DetectAnomalies(d, func() (err error) { watched, err = run(); return err }); err != nil {
				t.Errorf("%s%v: %v", c.op, c.shapes, err)
			} else if !reflect.DeepEqual(plain, watched) {
				t.Errorf("%s%v: gradients %v, under DetectAnomalies %v", c.op, c.shapes, plain, watched)
			}
		}
	})
}

// TestAnomaliesEnd: DetectAnomalies returns what the function does, nests, lets other panics
// through, and is over when it ends, however that is.
func TestAnomaliesEnd(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	over := func(what string) {
		t.Helper()
		if err := tensor.Try(func() { param(d, -1).Log() }); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("an anomaly where none is looked for: %v", r)
		}
	}()
	own := errors.New("own")
	if err := autograd.DetectAnomalies(d, func() error { return own }); err != own {
		t.Errorf("err = %v, want that of the function", err)
	}
	if err := autograd.DetectAnomalies(d, func() error { param(other, -1).Log(); return nil }); err != nil {
		t.Errorf("another device: %v", err)
	}
	over("it returned")
	fails(t, tensor.Try(func() {
		_ = autograd.DetectAnomalies(d, func() error { param(d, 1, 2).Reshape(3); return nil })
	}), tensor.ErrShape)
	over("a misuse")
	if err := autograd.DetectAnomalies(d, func() error {
		e := anomaly(t, d, func() error { param(d, -1).Log(); return nil })
		if e.Op != "Log" {
			t.Errorf("inner: %v", e)
		}
		return nil
	}); err != nil {
		t.Errorf("the outer one found the inner one's: %v", err)
	}
	e := anomaly(t, d, func() error {
		_ = autograd.DetectAnomalies(d, func() error { return nil })
		return tensor.Try(func() { autograd.NoGrad(d, func() { param(d, -1).Sqrt() }) })
	})
	if e.Op != "Sqrt" {
		t.Errorf("after an inner one: %v", e)
	}
	over("an anomaly under NoGrad")
	if !param(d, 1).Square().NeedsGrad() {
		t.Error("NoGrad did not end with the anomaly")
	}
}
