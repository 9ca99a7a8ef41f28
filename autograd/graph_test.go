package autograd_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/tensor"
)

func vec(d tensor.Device, v ...float64) *tensor.Tensor { return devtest.New(d, v) }

func param(d tensor.Device, v ...float64) *node { return autograd.Param(vec(d, v...), "p") }

func values(t *testing.T, x *tensor.Tensor) []float64 {
	t.Helper()
	if x == nil {
		return nil
	}
	v, err := x.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func want(t *testing.T, what string, x *tensor.Tensor, v ...float64) {
	t.Helper()
	if got := values(t, x); !reflect.DeepEqual(got, v) {
		t.Errorf("%s is %v, want %v", what, got, v)
	}
}

// fails runs Backward and expects an error of a kind that says certain words.
func fails(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("err = %v, want %v", err, kind)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in: %v", w, err)
		}
	}
}

func TestAccumulationAndReuse(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	for i := 1; i <= 3; i++ {
		// p is used twice, at two depths: both paths count.
		if err := p.Mul(p).Add(p).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		want(t, "accumulated gradient", p.Grad(), 3*float64(i), 5*float64(i))
	}
	p.ZeroGrad()
	if p.Grad() != nil {
		t.Error("ZeroGrad left a gradient")
	}
	// The gradient passes through Add to both sides as one tensor; adding to one must not change
	// the other.
	a, b := param(d, 1, 1), param(d, 1, 1)
	s := a.Add(b)
	if err := s.Add(a).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	want(t, "gradient of a", a.Grad(), 2, 2)
	want(t, "gradient of b", b.Grad(), 1, 1)
}

func TestBackwardFreesIntermediates(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	before := d.Stats().LiveBytes
	mid, kept := p.Square(), p.Exp().Retain()
	loss := mid.Add(kept).Sum()
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	if !mid.Value().Freed() || kept.Value().Freed() || loss.Value().Freed() || p.Value().Freed() {
		t.Errorf("freed: intermediate %v, kept %v, root %v, parameter %v; want only the first",
			mid.Value().Freed(), kept.Value().Freed(), loss.Value().Freed(), p.Value().Freed())
	}
	err := tensor.Try(func() { mid.Neg() })
	fails(t, err, tensor.ErrFreed, "Square", "call Retain on the Node", "with Retain")
	if _, err := loss.Item(); err != nil {
		t.Error(err)
	}
	kept.Free()
	loss.Free()
	p.ZeroGrad()
	if after := d.Stats().LiveBytes; after != before {
		t.Errorf("%d bytes live before, %d after", before, after)
	}
}

func TestSecondBackward(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 3)
	shared := p.Square()
	loss := shared.Sum()
	if err := loss.Backward(autograd.BackwardOptions{Retain: true}); err != nil {
		t.Fatal(err)
	}
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	want(t, "gradient of two passes", p.Grad(), 12)
	fails(t, loss.Backward(), autograd.ErrGraphFreed, "Sum", "Retain")
	err := tensor.Try(func() { shared.MulScalar(2) })
	fails(t, err, tensor.ErrFreed, "Square")
	// A kept value outlives its graph: a graph over it cannot be walked to its end.
	kept := p.Exp().Retain()
	if err := kept.Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	fails(t, kept.MulScalar(2).Sum().Backward(), autograd.ErrGraphFreed, "Exp")
}

func TestMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	p := param(d, 1, 2)
	fails(t, p.Square().Backward(), autograd.ErrSeed, "Square", "Seed", "[2]")
	fails(t, p.Square().Backward(autograd.BackwardOptions{Seed: vec(d, 1, 2, 3)}), tensor.ErrShape, "[3]")
	fails(t, tensor.Try(func() { _ = p.Sum().Backward(autograd.BackwardOptions{}, autograd.BackwardOptions{Retain: true}) }),
		tensor.ErrValue, "Backward", "one BackwardOptions")
	c := autograd.Const(vec(d, 1, 2))
	fails(t, c.Square().Sum().Backward(), autograd.ErrNotOnGraph, "Sum")
	fails(t, p.Square().Detach().Sum().Backward(), autograd.ErrNotOnGraph)
	var quiet *node
	autograd.NoGrad(d, func() { quiet = p.Square().Sum() })
	fails(t, quiet.Backward(), autograd.ErrNotOnGraph, "NoGrad")
	fails(t, tensor.Try(func() { p.Add(param(other, 1, 2)) }), tensor.ErrDevice, "Add")
	fails(t, tensor.Try(func() { p.Add(param(d, 1, 2, 3)) }), tensor.ErrShape, "Add", "[2] [3]")
	fails(t, tensor.Try(func() { p.MatMul(param(d, 1, 2, 3)) }), tensor.ErrShape, "MatMul", "[2] [3]")
	fails(t, tensor.Try(func() { p.MatMul(p.Reshape(1, 2)) }), tensor.ErrShape, "MatMul", "[2] [1 2]")
	fails(t, tensor.Try(func() { p.Linear(p, nil, nil) }), tensor.ErrShape, "Linear", "[2] [2]")
}

func TestInPlaceChange(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	loss := p.Square().Sum()
	p.Value().FillInPlace(5)
	fails(t, loss.Backward(), autograd.ErrChanged, "Square", "version")

	// Through a view, and of an intermediate value.
	q := param(d, 1, 2)
	mid := q.MulScalar(2)
	loss = mid.Mul(mid).Sum()
	mid.Value().Slice(0, 0, 1).ZeroInPlace()
	fails(t, loss.Backward(), autograd.ErrChanged, "Mul")

	// A value that no gradient needs may change.
	r := param(d, 1, 2)
	neg := r.Neg()
	loss = neg.Sum()
	r.Value().FillInPlace(7)
	neg.Value().FillInPlace(7)
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	want(t, "gradient of −r", r.Grad(), -1, -1)

	s := param(d, 1, 2)
	loss = s.Square().Sum()
	s.Value().Free()
	fails(t, loss.Backward(), tensor.ErrFreed, "Square")
}

// TestDeepChain: the walk is iterative, so a deep graph does not overflow the stack.
func TestDeepChain(t *testing.T) {
	d := devtest.CPU(t)
	const depth = 100000
	p := param(d, 1)
	x := p.AddScalar(0)
	for range depth {
		x = x.AddScalar(1)
	}
	if err := x.Backward(); err != nil {
		t.Fatal(err)
	}
	want(t, "value", x.Value(), depth+1)
	want(t, "gradient", p.Grad(), 1)
}

func TestNoGradRecordsNothing(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	live := d.Stats().LiveBytes
	for range 10 {
		tensor.Scope(d, func() {
			autograd.NoGrad(d, func() {
				if y := p.Square().Sum(); y.NeedsGrad() {
					t.Error("recorded under NoGrad")
				}
			})
		})
	}
	if got := d.Stats().LiveBytes; got != live {
		t.Errorf("%d bytes live before, %d after ten scopes", live, got)
	}
	if !p.Square().NeedsGrad() {
		t.Error("NoGrad did not end")
	}
}

// TestNoGradNests: the end of an inner NoGrad, also by a panic, does not end the outer one.
func TestNoGradNests(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	p := param(d, 1, 2)
	autograd.NoGrad(d, func() {
		autograd.NoGrad(d, func() { p.Neg() })
		if p.Square().NeedsGrad() {
			t.Error("recorded after an inner NoGrad")
		}
		_ = tensor.Try(func() {
			autograd.NoGrad(d, func() { p.Reshape(3) })
		})
		if p.Square().NeedsGrad() {
			t.Error("recorded after a panic in an inner NoGrad")
		}
		if !param(other, 1).Square().NeedsGrad() {
			t.Error("another device is quiet as well")
		}
	})
	if !p.Square().NeedsGrad() {
		t.Error("the outer NoGrad did not end")
	}
	_ = tensor.Try(func() {
		autograd.NoGrad(d, func() { p.Reshape(3) })
	})
	if !p.Square().NeedsGrad() {
		t.Error("a panic left NoGrad on")
	}
}

// TestGradientOutlivesScope: the gradient of a parameter is not freed with the scope that Backward
// ran in, whether it was made there, copied, or added to.
func TestGradientOutlivesScope(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, f := range map[string]func(p *node) *node{
			"made": (*node).Square, "shared": func(p *node) *node { return p.AddScalar(1).Add(p) }, "with gaps": func(p *node) *node {
				return p.Reshape(1, 2).Slice(1, 0, 1)
			},
		} {
			p := param(d, 1, 2)
			var first []float64
			for i := range 2 {
				tensor.Scope(d, func() {
					if err := f(p).Sum().Backward(); err != nil {
						t.Fatal(err)
					}
				})
				if p.Grad() == nil || p.Grad().Freed() {
					t.Fatalf("%s: the scope freed the gradient of pass %d", name, i)
				}
				got := values(t, p.Grad())
				if i == 0 {
					first = got
				} else if got[0] != 2*first[0] || got[1] != 2*first[1] {
					t.Errorf("%s: gradients %v and %v", name, first, got)
				}
			}
		}
	})
}

// TestFlatMemory trains with the garbage collector's help ruled out: live bytes may not grow.
func TestFlatMemory(t *testing.T) {
	devtest.Uncollected(t)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := autograd.Const(tensor.NewRNG(1).Uniform(d, -1, 1, 32, 8))
		w, b := autograd.Param(tensor.NewRNG(2).Uniform(d, -1, 1, 8, 8), "w"), autograd.Param(tensor.Zeros(d, 8), "b")
		flatparams.New([]*node{w, b})
		var after int64
		for i := range 200 {
			loss := x.MatMul(w).Add(b).LeakyReLU(0.1).Max(1).Sub(x.Slice(1, 0, 1).Reshape(32)).Square().Mean()
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			loss.Free()
			w.ZeroGrad()
			b.ZeroGrad()
			if live := d.Stats().LiveBytes; i == 0 {
				after = live
			} else if live != after {
				t.Fatalf("%d bytes live after step 1, %d after step %d", after, live, i+1)
			}
		}
	})
}

// TestBitEqual: the same graph twice gives the same bits, and every device agrees with the Go
// device.
func TestBitEqual(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		run := func() []float64 {
			rng := tensor.NewRNG(7)
			x, w := autograd.Const(rng.Uniform(d, -1, 1, 300, 33)), autograd.Param(rng.Normal(d, 0, 1, 33, 65), "w")
			if err := x.MatMul(w).Tanh().Square().Mean().Backward(); err != nil {
				t.Fatal(err)
			}
			return values(t, w.Grad())
		}
		if a, b := run(), run(); !reflect.DeepEqual(a, b) {
			t.Error("two runs differ")
		}
	})
}

func TestWriteDOT(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		p := autograd.Param(tensor.Full(d, 1, 2, 2), `a "quoted\" name`)
		loss := p.MatMul(p).Add(autograd.Const(tensor.Full(d, 2, 2))).Sum().Named("loss")
		var b bytes.Buffer
		if err := autograd.WriteDOT(&b, loss); err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{"MatMul", "[2 2]", "k_gemm_nn", "loss = Sum", "k_add", "lightblue", "const"} {
			if !strings.Contains(b.String(), w) {
				t.Errorf("no %q in\n%s", w, b.String())
			}
		}
		if strings.Count(b.String(), "->") != 5 { // p.MatMul(p) has two edges
			t.Errorf("edges in\n%s", b.String())
		}
		dot, err := exec.LookPath("dot")
		if err != nil {
			t.Skip("graphviz is not installed")
		}
		cmd := devtest.Command(t, dot, "-Tsvg")
		cmd.Stdin = &b
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("<svg")) {
			t.Errorf("dot: %v\n%s", err, out)
		}
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		fails(t, autograd.WriteDOT(&b, loss), autograd.ErrGraphFreed, "before Backward")
	})
}

// TestGraph: each node is there once, behind its inputs.
func TestGraph(t *testing.T) {
	d := devtest.CPU(t)
	p, x := autograd.Param(tensor.Full(d, 1, 2, 2), "p"), autograd.Const(tensor.Full(d, 2, 2))
	product := p.MatMul(p)
	loss := product.Add(x).Sum()
	graph, err := autograd.Graph(loss)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, n := range graph {
		text += fmt.Sprint(n.Node.Op(), n.Node.Name(), n.Inputs, " ")
	}
	if want := "p[] MatMul[0 0] [] Add[1 2] Sum[3] "; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if graph, err := autograd.Graph(x); len(graph) != 1 || graph[0].Node != x || err != nil {
		t.Errorf("of a leaf: %v, %v", graph, err)
	}
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	_, err = autograd.Graph(loss)
	fails(t, err, autograd.ErrGraphFreed, "before Backward")
}

// TestDOTProfile: after a profiled run the nodes show time and bytes, and over how many calls.
func TestDOTProfile(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{Profile: true})
		p := param(d, 1, 2, 3)
		var b bytes.Buffer
		if err := autograd.WriteDOT(&b, p.Square().Square()); err != nil {
			t.Fatal(err)
		}
		if strings.Count(b.String(), "k_square: mean of 2 calls") != 2 || !strings.Contains(b.String(), "s, ") || !strings.Contains(b.String(), " kB") {
			t.Errorf("%s: no time and bytes in\n%s", sel, b.String())
		}
	}
}
