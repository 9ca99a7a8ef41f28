package autograd_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func grad(t *testing.T, y *node, xs []*node, opts ...autograd.GradOptions) []*node {
	t.Helper()
	g, err := autograd.Grad(y, xs, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGradIsBackward: Grad returns what Backward adds to parameters, and leaves those alone, also
// where kernels would write straight into an optimizer's flat buffer.
func TestGradIsBackward(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range gradCases(d) {
		for _, flat := range []bool{false, true} {
			for _, record := range []bool{false, true} {
				rng := tensor.NewRNG(5)
				var in []*node
				for i, s := range c.shapes {
					in = append(in, autograd.Param(rng.Uniform(d, c.low, c.high, s...), fmt.Sprint("p", i)))
				}
				if flat {
					defer flatparams.New(in).Free()
				}
				seed := rng.Uniform(d, -1, 1, c.f(in).Shape()...)
				got := grad(t, c.f(in), in, autograd.GradOptions{Seed: autograd.Const(seed), CreateGraph: record})
				for _, p := range in {
					if p.Grad() != nil || p.GradNode() != nil {
						t.Fatalf("%s%v: Grad left a gradient in %q", c.op, c.shapes, p.Name())
					}
				}
				if err := c.f(in).Backward(autograd.BackwardOptions{Seed: seed, CreateGraph: record}); err != nil {
					t.Fatal(err)
				}
				for i, p := range in {
					what := fmt.Sprintf("%s%v, flat %v, recorded %v: %s", c.op, c.shapes, flat, record, p.Name())
					compareGradients(t, what, got[i].Value(), p.Grad(), 0)
					if record {
						compareGradients(t, what+", as a node", p.GradNode().Value(), p.Grad(), 0)
					}
				}
			}
		}
	}
}

// TestGradOfNodes: gradients of values on the way, of the value itself, of one that is listed
// twice, and of several that lead to each other.
func TestGradOfNodes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, record := range []bool{false, true} {
			p, q := param(d, 1, 2), param(d, 3, 4)
			h := p.Mul(q)
			y := h.Square().Add(q).Sum()
			g := grad(t, y, []*node{h, p, h, y, q}, autograd.GradOptions{CreateGraph: record})
			want(t, "∂y/∂h", g[0].Value(), 6, 16)
			want(t, "∂y/∂p", g[1].Value(), 18, 64)
			want(t, "∂y/∂h again", g[2].Value(), 6, 16)
			want(t, "∂y/∂y", g[3].Value(), 1)
			want(t, "∂y/∂q", g[4].Value(), 7, 33)
			if p.Grad() != nil || q.Grad() != nil {
				t.Error("a parameter has a gradient")
			}
			if g[1].NeedsGrad() != record {
				t.Errorf("recorded %v, and the gradient needs one: %v", record, g[1].NeedsGrad())
			}
			// Each is its own: a change of one does not show in another, nor in the device's one.
			if !record {
				g[0].Value().FillInPlace(0)
				g[3].Value().FillInPlace(0)
				want(t, "∂y/∂p, after ∂y/∂h was changed", g[1].Value(), 18, 64)
				want(t, "one", tensorapi.Impl.One(d), 1)
			}
		}
		// What the gradients share on the way they do not share at the end.
		a, b := param(d, 1, 2), param(d, 3, 4)
		g := grad(t, a.Add(b).Sum(), []*node{a, b})
		g[0].Value().FillInPlace(7)
		want(t, "the other term's gradient", g[1].Value(), 1, 1)
	})
}

// TestGradComputesWhatIsAsked: what does not lead to the nodes costs no launch.
func TestGradComputesWhatIsAsked(t *testing.T) {
	d := devtest.CPU(t)
	x, w, v := autograd.Param(tensor.Full(d, 1, 2, 3), "x"), autograd.Param(tensor.Full(d, 2, 3, 4), "w"), autograd.Param(tensor.Full(d, 3, 2, 4), "v")
	seed := autograd.Const(tensor.Full(d, 1, 2, 4))
	for of, launches := range map[*node]int64{x: 2, w: 2, v: 1} { // Mul's gradient and a product, or Mul's alone
		y := x.MatMul(w).Mul(v)
		before := d.Stats().Launches
		g := grad(t, y, []*node{of}, autograd.GradOptions{Seed: seed})
		if n := d.Stats().Launches - before; n != launches {
			t.Errorf("the gradient of %v takes %d launches, want %d", of, n, launches)
		}
		if got := fmt.Sprint(g[0].Shape()); got != fmt.Sprint(of.Shape()) {
			t.Errorf("the gradient of %v has shape %v", of, got)
		}
	}
	// Parts of the graph beside the way are not looked at: their backward functions would panic.
	trap := func() *node {
		return autograd.NewOp("trap", tensor.Full(d, 1, 2), []*node{param(d, 1, 2)}, func(*node, *autograd.Grads) { panic("walked") })
	}
	p := param(d, 5, 6)
	want(t, "gradient", grad(t, trap().Mul(p).Sum(), []*node{p})[0].Value(), 1, 1)
	h := trap().MulScalar(2)
	want(t, "gradient of a node past which nothing is asked for", grad(t, h.Sum(), []*node{h})[0].Value(), 1, 1)
}

// TestGradErrors: each says what is wrong, and nothing has happened to the graph.
func TestGradErrors(t *testing.T) {
	d := devtest.CPU(t)
	other := devtest.CPU(t)
	p, q, c := param(d, 1, 2), param(d, 3, 4).Named("q"), autograd.Const(vec(d, 1, 2)).Named("data")
	y := p.Mul(c).Sum()
	call := func(y *node, xs []*node, opts ...autograd.GradOptions) error {
		_, err := autograd.Grad(y, xs, opts...)
		return err
	}
	fails(t, call(y, []*node{p, q}), autograd.ErrUnused, "Grad of Sum", `node 1, "q"`, "AllowUnused: true")
	fails(t, call(y, []*node{c}), autograd.ErrNotOnGraph, `node 0, "data"`, "Param")
	fails(t, call(y, []*node{c}, autograd.GradOptions{AllowUnused: true}), autograd.ErrNotOnGraph)
	fails(t, call(c.Sum(), []*node{p}), autograd.ErrNotOnGraph, "Grad of Sum")
	fails(t, c.Sum().Backward(), autograd.ErrNotOnGraph, "make what is to have a gradient, an input too, with autograd.Param")
	fails(t, call(p.Square(), []*node{p}), autograd.ErrSeed, "autograd.GradOptions{Seed: g}")
	for kind, seed := range map[error]*tensor.Tensor{tensor.ErrShape: vec(d, 1, 2), tensor.ErrType: tensor.ZerosOf(d, tensor.Int32), tensor.ErrDevice: tensor.Scalar(other, 1)} {
		fails(t, call(y, []*node{p}, autograd.GradOptions{Seed: autograd.Const(seed)}), kind, "the seed")
		fails(t, y.Backward(autograd.BackwardOptions{Seed: seed}), kind, "the seed")
	}
	misuse := func(kind error, f func(), words ...string) {
		fails(t, tensor.Try(f), kind, append(words, "autograd: Grad: ")...)
	}
	misuse(tensor.ErrValue, func() { _ = call(nil, []*node{p}) }, "the Node is nil")
	misuse(tensor.ErrValue, func() { _ = call(y, []*node{p, nil}) }, "Node 1", "nil")
	misuse(tensor.ErrValue, func() { _ = call(y, nil) }, "no nodes")
	misuse(tensor.ErrValue, func() { _ = call(y, []*node{p}, autograd.GradOptions{}, autograd.GradOptions{}) }, "one GradOptions")
	g := grad(t, y, []*node{q, p}, autograd.GradOptions{AllowUnused: true})
	if g[0] != nil {
		t.Errorf("the gradient of an unused node is %v", g[0])
	}
	want(t, "gradient", g[1].Value(), 1, 2)
	fails(t, call(y, []*node{p}), autograd.ErrGraphFreed, "Retain")

	// A node that is on the graph, and to which no backward function delivers anything.
	second := func(x, y *node) *node {
		return autograd.NewOp("second", y.Value().Copy(), []*node{x, y}, func(g *node, in *autograd.Grads) { in.AccumulateNode(1, g) })
	}
	fails(t, call(second(p, q).Sum(), []*node{q, p}), autograd.ErrUnused, `"p"`)
	if g := grad(t, second(p, q).Sum(), []*node{q, p}, autograd.GradOptions{AllowUnused: true}); g[0] == nil || g[1] != nil {
		t.Errorf("gradients %v", g)
	}
	// A gradient that depends on nothing has no gradient.
	g = grad(t, p.MulScalar(3).Sum(), []*node{p}, autograd.GradOptions{CreateGraph: true})
	fails(t, call(g[0].Sum(), []*node{p}), autograd.ErrNotOnGraph, "constants")
}

// TestGradFrees: without Retain the graph and its values are freed, but not those of the root and
// of the nodes asked for.
func TestGradFrees(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	mid := p.Square()
	h := mid.Exp()
	end := h.MulScalar(2)
	y := end.Sum()
	retained := grad(t, y, []*node{h}, autograd.GradOptions{Retain: true})
	if mid.Value().Freed() || end.Value().Freed() {
		t.Error("Retain did not keep the values")
	}
	grad(t, y, []*node{h})
	if !mid.Value().Freed() || !end.Value().Freed() || h.Value().Freed() || y.Value().Freed() || retained[0].Value().Freed() {
		t.Errorf("freed: before %v, after %v, asked %v, root %v, gradient %v; want the first two", mid.Value().Freed(), end.Value().Freed(),
			h.Value().Freed(), y.Value().Freed(), retained[0].Value().Freed())
	}
	fails(t, h.Sum().Backward(), autograd.ErrGraphFreed, "Exp")
}

// TestGradUnderNoGrad: CreateGraph says that there is to be a graph; other operations around it
// record none, before and after, and also when the walk ends by a panic.
func TestGradUnderNoGrad(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 2, 3)
	y := p.Pow(3).Sum()
	autograd.NoGrad(d, func() {
		g := grad(t, y, []*node{p}, autograd.GradOptions{CreateGraph: true})[0]
		if !g.NeedsGrad() {
			t.Error("CreateGraph recorded nothing")
		}
		if p.Square().NeedsGrad() {
			t.Error("recorded under NoGrad, after a Grad")
		}
	})
	if !p.Square().NeedsGrad() {
		t.Error("NoGrad did not end")
	}
	bad := autograd.NewOp("bad", p.Value().Copy(), []*node{p}, func(g *node, in *autograd.Grads) { in.AccumulateNode(0, nil) })
	fails(t, tensor.Try(func() { _ = bad.Sum().Backward() }), tensor.ErrValue, "bad gradient")
	if !p.Square().NeedsGrad() {
		t.Error("a panic left operations unrecorded")
	}
}

// TestBackwardRecordsNothing: an ordinary walk through gradients that are operations on Nodes keeps
// none of them, and frees what they computed on the way, with the collector off.
func TestBackwardRecordsNothing(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	p := param(d, 1, 2, 3)
	cube := func(x *node) *node {
		v := x.ValueFor("cube")
		return autograd.NewOp("cube", v.Pow(3), []*node{x}, func(g *node, in *autograd.Grads) {
			slope := x.Square().MulScalar(3).Mul(g)
			if slope.NeedsGrad() != in.CreateGraph() {
				t.Errorf("recorded %v, in a walk that records: %v", slope.NeedsGrad(), in.CreateGraph())
			}
			in.AccumulateNode(0, slope)
		}, v)
	}
	var after int64
	for i := range 20 {
		loss := cube(cube(p).AddScalar(1).MulScalar(2)).Sum()
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		loss.Free()
		p.ZeroGrad()
		if live := d.Stats().LiveBytes; i == 0 {
			after = live
		} else if live != after {
			t.Fatalf("%d bytes live after step 1, %d after step %d", after, live, i+1)
		}
	}
	g := grad(t, cube(p).Sum(), []*node{p}, autograd.GradOptions{CreateGraph: true})[0]
	want(t, "second gradient", grad(t, g.Sum(), []*node{p})[0].Value(), 6, 12, 18)
}

// TestFirstOrderErrors: a gradient by kernels alone, in each form of delivery, is an error of a
// recorded walk that names the operation, delivers nothing to anybody, and leaves the graph as it
// was. It is none where nobody wants it.
func TestFirstOrderErrors(t *testing.T) {
	d := devtest.CPU(t)
	for name, deliver := range map[string]func(g *node, in *autograd.Grads){
		"Accumulate":     func(g *node, in *autograd.Grads) { in.Accumulate(0, g.Value().Copy()) },
		"AccumulateView": func(g *node, in *autograd.Grads) { in.AccumulateView(0, g.Value()) },
		"AccumulateInto": func(g *node, in *autograd.Grads) {
			in.AccumulateInto(0, func(dst *tensor.Tensor) { dst.SetInPlace(g.Value()) })
		},
	} {
		own := func(x *node) *node { return autograd.NewOp("own", x.ValueFor("own").Copy(), []*node{x}, deliver) }
		p, q := param(d, 1, 2), param(d, 3, 4)
		y := own(p.Square()).Mul(q).Sum()
		fails(t, y.Backward(autograd.BackwardOptions{CreateGraph: true}), autograd.ErrNotTwiceDifferentiable, "Backward from Sum", `"own"`, "AccumulateNode", "Detach")
		_, err := autograd.Grad(y, []*node{p}, autograd.GradOptions{CreateGraph: true})
		fails(t, err, autograd.ErrNotTwiceDifferentiable, "Grad of Sum", `"own"`)
		if p.Grad() != nil || q.Grad() != nil || q.GradNode() != nil {
			t.Errorf("%s: a walk that failed left gradients", name)
		}
		want(t, name+": the other factor", grad(t, y, []*node{q}, autograd.GradOptions{CreateGraph: true})[0].Value(), 1, 4)
		if err := y.Backward(); err != nil {
			t.Fatal(err)
		}
		want(t, name, p.Grad(), 6, 16)
	}
}

// TestGradNodeAddsUp: recorded gradients add up until ZeroGrad, apart from what ordinary walks add.
func TestGradNodeAddsUp(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, flat := range []bool{false, true} {
			p := param(d, 1, 2)
			if flat {
				flatparams.New([]*node{p})
			}
			back := func(record bool) {
				t.Helper()
				if err := p.Pow(2).Sum().Backward(autograd.BackwardOptions{CreateGraph: record}); err != nil {
					t.Fatal(err)
				}
			}
			back(true)
			back(false)
			back(true)
			if g := values(t, p.Grad()); !close64(g[0], 6, 1e-5) || !close64(g[1], 12, 1e-5) {
				t.Errorf("Grad is %v after three walks", g)
			}
			if g := values(t, p.GradNode().Value()); !close64(g[0], 4, 1e-5) || !close64(g[1], 8, 1e-5) {
				t.Errorf("GradNode is %v after two recorded walks", g)
			}
			second := p.GradNode().Sum()
			p.ZeroGrad()
			if p.GradNode() != nil {
				t.Error("ZeroGrad left a node")
			}
			if err := second.Backward(); err != nil {
				t.Fatal(err)
			}
			if g := values(t, p.Grad()); !close64(g[0], 4, 1e-5) || !close64(g[1], 4, 1e-5) {
				t.Errorf("the gradient of gradients is %v", g)
			}
		}
	})
}

func close64(a, b, tol float64) bool { return a-b <= tol && b-a <= tol }

// TestSquaredErrorChanged: the recorded gradient reads the operands, which the kernel's does not: a
// change in between is found by the one, and does not matter to the other.
func TestSquaredErrorChanged(t *testing.T) {
	d := devtest.CPU(t)
	x, target := param(d, 1, 2), autograd.Const(vec(d, 0, 0))
	loss := x.SquaredError(target)
	target.Value().FillInPlace(9)
	_, err := autograd.Grad(loss, []*node{x}, autograd.GradOptions{CreateGraph: true})
	fails(t, err, autograd.ErrChanged, `"SquaredError"`, "version")
	target.Value().Free()
	_, err = autograd.Grad(loss, []*node{x}, autograd.GradOptions{CreateGraph: true})
	fails(t, err, tensor.ErrFreed, `"SquaredError"`, "was freed by Free")
	want(t, "gradient", grad(t, loss, []*node{x})[0].Value(), 2, 4)
}

// TestRecordedReadsNoMore: a value that the gradient's kernel does not read may be gone when it is
// recorded, too.
func TestRecordedReadsNoMore(t *testing.T) {
	d := devtest.CPU(t)
	for name, f := range map[string]func(x *node) *node{
		"sign": (*node).Sign, "relu": (*node).ReLU, "clamp": func(x *node) *node { return x.Clamp(-1, 1) }, "sqrt": (*node).Sqrt,
		"Square": (*node).Square, "add_scalar": func(x *node) *node { return x.AddScalar(1) }, "sub": func(x *node) *node { return x.Sub(x) },
	} {
		for _, record := range []bool{false, true} {
			p := param(d, 1, 2)
			x := p.MulScalar(1)
			y := f(x)
			loss := y.Sum()
			if name != "clamp" && name != "Square" {
				x.Value().Free()
			}
			if name != "sqrt" && name != "relu" {
				y.Value().Free()
			}
			if err := tensor.Try(func() { grad(t, loss, []*node{p}, autograd.GradOptions{CreateGraph: record}) }); err != nil {
				t.Errorf("%s, recorded %v: %v", name, record, err)
			}
		}
	}
}
