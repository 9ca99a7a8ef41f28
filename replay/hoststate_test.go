package replay_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// records records a step that returns nothing.
func records(t *testing.T, d tensor.Device, step func()) *replay.Recording {
	t.Helper()
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { step(); return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rec.Free)
	return rec
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFrozenLeft: a step that freezes and unfreezes parameters leaves them so; one that only uses
// them is refused where they are otherwise.
func TestFrozenLeft(t *testing.T) {
	d := devtest.CPU(t)
	l := newLayers(t, d, true)
	w := l.first.Weight
	rec := records(t, d, func() { l.zeroGrad(); w.Freeze(); l.head.Bias.Unfreeze(); l.fit() })
	for _, before := range []func(){func() {}, w.Unfreeze, l.head.Bias.Freeze} {
		before()
		must(t, rec.Run())
		if w.NeedsGrad() || !l.head.Bias.NeedsGrad() || w.Grad() != nil || l.head.Bias.Grad() == nil {
			t.Errorf("the first weight needs a gradient: %v, the last bias: %v", w.NeedsGrad(), l.head.Bias.NeedsGrad())
		}
	}
	l.zeroGrad()
	l.fit() // the constant that stands for the frozen parameter is there, too
	l.zeroGrad()
	w.Unfreeze()

	w.Freeze()
	again := records(t, d, w.Freeze) // which it is
	w.Unfreeze()
	l.fit()
	must(t, again.Run())
	if w.Grad() != nil || w.NeedsGrad() {
		t.Error("a parameter that the step freezes has a gradient")
	}
	w.Unfreeze()
	l.zeroGrad()

	uses := records(t, d, func() { l.zeroGrad(); l.fit() })
	w.Freeze()
	refused(t, "frozen", uses.Run(), tensor.ErrValue, w.Name(), "is frozen, and was not")
	w.Unfreeze()
	must(t, uses.Run())
	w.Freeze()
	asFrozen := records(t, d, func() { l.zeroGrad(); l.fit() })
	must(t, asFrozen.Run())
	w.Unfreeze()
	refused(t, "unfrozen", asFrozen.Run(), tensor.ErrValue, w.Name(), "is not frozen, and was")

	forward := records(t, d, func() { autograd.NoGrad(d, func() { w.Square().Sum() }) })
	w.Freeze()
	must(t, forward.Run()) // it makes no difference
	asks := records(t, d, func() { w.NeedsGrad() })
	w.Unfreeze()
	refused(t, "asked", asks.Run(), tensor.ErrValue, w.Name())
}

// TestGradNodesLeft: a run leaves a GradNode where the step does, whose numbers nobody can read,
// and none where the step does not.
func TestGradNodesLeft(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	back := func() { must(t, p.Square().Sum().Backward(autograd.BackwardOptions{CreateGraph: true})) }
	rec := records(t, d, func() { p.ZeroGrad(); back() })
	p.ZeroGrad()
	must(t, rec.Run())
	if p.GradNode() == nil {
		t.Fatal("there is no GradNode after a run")
	}
	refused(t, "its value", tensor.Try(func() { p.GradNode().Sum() }), tensor.ErrRecorded)
	before := bits(t, []*tensor.Tensor{p.Grad()})
	more := p.Square().Sum().Backward(autograd.BackwardOptions{CreateGraph: true})
	refused(t, "one that a Backward would add to", more, tensor.ErrRecorded, "ZeroGrad")
	if bits(t, []*tensor.Tensor{p.Grad()}) != before {
		t.Error("a Backward that failed added to a gradient")
	}
	must(t, p.Square().Sum().Backward())
	p.ZeroGrad()
	back()

	none := records(t, d, func() { p.ZeroGrad(); must(t, p.Square().Sum().Backward()) })
	p.ZeroGrad()
	back()
	must(t, none.Run())
	if p.GradNode() != nil {
		t.Error("there is a GradNode after a run whose step makes none")
	}

	p.ZeroGrad()
	adds := records(t, d, func() { back(); p.ZeroGrad() })
	back()
	refused(t, "one that the step would add to", adds.Run(), tensor.ErrValue, `"p" has a gradient, and had none`)
	p.ZeroGrad()
	must(t, adds.Run())
	if p.Grad() != nil || p.GradNode() != nil {
		t.Error("a gradient that the step forgets is there")
	}

	back()
	walks := records(t, d, func() { must(t, p.GradNode().Sum().Backward(autograd.BackwardOptions{Retain: true})) })
	must(t, walks.Run())
	back()
	refused(t, "another GradNode than the step walked", walks.Run(), tensor.ErrValue, "another GradNode")
}

// TestOwnGradient: a step that adds to a gradient of a parameter without an optimizer adds to that
// one alone.
func TestOwnGradient(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	back := func() { must(t, p.Square().Sum().Backward()) }
	back()
	view := p.Grad().View() // which keeps its memory
	rec := records(t, d, back)
	must(t, rec.Run())
	if got := bits(t, []*tensor.Tensor{p.Grad()}); got != bits(t, []*tensor.Tensor{devtest.New(d, []float64{8, 16})}) {
		t.Errorf("the sum of four gradients is %s", got)
	}
	p.ZeroGrad()
	back()
	refused(t, "another gradient", rec.Run(), tensor.ErrValue, `"p" has another gradient`)
	view.Free()

	q := autograd.Param(devtest.New(d, []float64{3}), "q")
	asks := records(t, d, func() { // whether there is one, whichever
		if q.Grad() != nil {
			q.ZeroGrad()
		}
		must(t, q.Square().Sum().Backward())
		q.ZeroGrad()
	})
	must(t, asks.Run())
	must(t, q.Square().Sum().Backward())
	refused(t, "a gradient where there was none", asks.Run(), tensor.ErrValue, `"q" has a gradient`)
}

// TestGradientsFreed: gradients that a recording left outlive it, and those that nobody looks at
// come back with it.
func TestGradientsFreed(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	before := d.Stats().LiveBytes
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		p.ZeroGrad()
		loss := p.Square().Sum()
		err := loss.Backward()
		loss.Free()
		return nil, err
	})
	must(t, err)
	p.ZeroGrad()
	must(t, rec.Run())
	must(t, rec.Run())
	rec.Free()
	if got := bits(t, []*tensor.Tensor{p.Grad()}); got != bits(t, []*tensor.Tensor{devtest.New(d, []float64{2, 4})}) {
		t.Errorf("after Free the gradient is %s", got)
	}
	p.ZeroGrad()
	if now := d.Stats().LiveBytes; now > before+1024 {
		t.Errorf("%d bytes are live, %d were before Record", now, before)
	}
}

// TestHooksLeft: a step is refused that adds hooks, and a run where a parameter has others than in
// the step.
func TestHooksLeft(t *testing.T) {
	d := devtest.CPU(t)
	l := newLayers(t, d, true)
	double := func(g *autograd.Node) *autograd.Node { return g.MulScalar(2) }
	_, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		l.zeroGrad()
		l.head.Bias.Hook(func(*autograd.Node) *autograd.Node { return nil })
		return nil, nil
	})
	refused(t, "a hook more", err, replay.ErrDiffers, l.head.Bias.Name(), "hooks")

	l = newLayers(t, d, true)
	rec := records(t, d, func() { l.zeroGrad(); remove := l.first.Bias.Hook(double); l.fit(); remove() })
	must(t, rec.Run())
	remove := l.head.Weight.Hook(double)
	refused(t, "a hook between the runs", rec.Run(), tensor.ErrValue, l.head.Weight.Name(), "other hooks")
	remove()
	must(t, rec.Run())
	forgets := records(t, d, l.zeroGrad)
	remove = l.head.Weight.Hook(double)
	must(t, forgets.Run()) // which calls none
	remove()
}

// TestNamesLeft: a step that names a parameter leaves that name.
func TestNamesLeft(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1}), "p")
	rec := records(t, d, func() { p.Named("in the step") })
	p.Named("between")
	must(t, rec.Run())
	if p.Name() != "in the step" {
		t.Errorf("the parameter is called %q", p.Name())
	}
	other := records(t, d, func() { p.Square() })
	p.Named("own")
	must(t, other.Run())
	if p.Name() != "own" {
		t.Errorf("the parameter is called %q", p.Name())
	}
}

// TestGraphsKept: a step that walks a graph from before it is refused where that was freed, or its
// values changed, and is all that holds the graph.
func TestGraphsKept(t *testing.T) {
	d := devtest.CPU(t)
	p, x := autograd.Param(devtest.New(d, []float64{1, 2}), "p"), devtest.New(d, []float64{3, 4})
	record := func() (loss *autograd.Node, rec *replay.Recording) {
		loss = p.Mul(autograd.Const(x)).Sum()
		return loss, records(t, d, func() { p.ZeroGrad(); must(t, loss.Backward(autograd.BackwardOptions{Retain: true})) })
	}
	loss, rec := record()
	must(t, rec.Run())
	remove := loss.Hook(func(g *autograd.Node) *autograd.Node { return g.MulScalar(3) })
	refused(t, "a hook", rec.Run(), tensor.ErrValue, "other hooks")
	remove()
	must(t, rec.Run())
	must(t, loss.Backward())
	refused(t, "a graph that was freed", rec.Run(), autograd.ErrGraphFreed, "Retain")
	_, rec = record()
	x.FillInPlace(1)
	refused(t, "a value that changed", rec.Run(), autograd.ErrChanged, "[2]")
}

// TestModesOfRuns: a run is refused where the step would be an error, or would be looked at.
func TestModesOfRuns(t *testing.T) {
	d := devtest.CPU(t)
	l := newLayers(t, d, true)
	rec := records(t, d, func() { l.zeroGrad(); l.fit() })
	autograd.NoGrad(d, func() { refused(t, "NoGrad", rec.Run(), tensor.ErrValue, "NoGrad") })
	err := autograd.DetectAnomalies(d, rec.Run)
	refused(t, "DetectAnomalies", err, tensor.ErrValue, "DetectAnomalies")
	p := autograd.Param(devtest.New(d, []float64{1}), "p")
	p.Hook(func(*autograd.Node) *autograd.Node {
		refused(t, "in a hook", rec.Run(), tensor.ErrValue, "hook")
		return nil
	})
	must(t, p.Square().Sum().Backward())
	must(t, rec.Run())

	forward := records(t, d, func() { l.x.Linear(l.first.Weight, nil, fn.Tanh) })
	autograd.NoGrad(d, func() { must(t, forward.Run()) })
	evaluates := records(t, d, func() {
		autograd.NoGrad(d, func() { l.x.Linear(l.first.Weight, nil, fn.Tanh) })
		l.zeroGrad()
		l.fit()
	})
	must(t, evaluates.Run())
	autograd.NoGrad(d, func() { refused(t, "NoGrad", evaluates.Run(), tensor.ErrValue, "NoGrad") })
}

// counter is a layer of a program that has modes of its own.
type counter struct{ training bool }

func (c *counter) SetTraining(on bool) { c.training = on }

// TestModesLeft: a step that puts layers in training or in evaluation leaves them so; one that only
// uses them is refused where they are otherwise.
func TestModesLeft(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(4)
	x := autograd.Const(rng.Normal(d, 0, 1, 6, 4))
	for name, l := range map[string]nn.Module{
		"Dropout": &nn.Dropout{P: 0.5, RNG: rng}, "BatchNorm": nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 4}),
		"MultiHeadAttention": nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Dropout: 0.5}),
	} {
		own := &counter{}
		model := &struct {
			Layer nn.Module
			Own   *counter
		}{l, own}
		draws := func() bool { // it is in training
			m := &tensor.Tensor{}
			if b, is := l.(*nn.BatchNorm); is {
				m = b.Mean
				before := bits(t, []*tensor.Tensor{m})
				l.Forward(x)
				return bits(t, []*tensor.Tensor{m}) != before
			}
			calls := rng.Calls
			l.Forward(x)
			return rng.Calls != calls
		}
		trains := records(t, d, func() { nn.Eval(model); l.Forward(x); nn.Train(model) })
		evaluates := records(t, d, func() { nn.Train(model); l.Forward(x); nn.Eval(model) })
		for _, between := range []func(any){func(any) {}, nn.Train, nn.Eval} {
			between(model)
			must(t, trains.Run())
			if !draws() || !own.training {
				t.Errorf("%s: after a step that ends in training it is in evaluation", name)
			}
			between(model)
			must(t, evaluates.Run())
			if draws() || own.training {
				t.Errorf("%s: after a step that ends in evaluation it is in training", name)
			}
		}
		nn.Train(model)
		uses := records(t, d, func() { l.Forward(x) })
		must(t, uses.Run())
		nn.Eval(model)
		refused(t, name, uses.Run(), tensor.ErrValue, " is in evaluation, and was in training")
		asEvaluated := records(t, d, func() { l.Forward(x) })
		nn.Train(model)
		refused(t, name, asEvaluated.Run(), tensor.ErrValue, " is in training, and was in evaluation")
	}
	off := &nn.Dropout{RNG: rng} // has one way alone
	rec := records(t, d, func() { off.Forward(x) })
	nn.Eval(off)
	must(t, rec.Run())
}

// TestLossScalerLeft: what was called of a loss scaler since its last step is after a run as the
// eager step leaves it; a step that depends on it is refused where it is otherwise.
func TestLossScalerLeft(t *testing.T) {
	d := devtest.CPU(t)
	build := func() (*layers, *optim.LossScaler) {
		l := newLayers(t, d, true)
		s := optim.NewLossScaler(l.opt, optim.LossScalerConfig{Initial: 4, Every: 2})
		return l, s
	}
	loss := func(l *layers) *autograd.Node {
		return l.x.Linear(l.first.Weight, l.first.Bias, fn.Tanh).Linear(l.head.Weight, l.head.Bias, nil).Square().Mean()
	}
	back := func(l *layers, s *optim.LossScaler) { s.ZeroGrad(); must(t, s.Backward(loss(l))) }
	eager, es := build()
	recorded, rs := build()
	for range 2 {
		back(eager, es)
	}
	rec := records(t, d, func() { back(recorded, rs) })
	for range 3 {
		back(eager, es)
		must(t, es.Step())
		must(t, rec.Run())
		must(t, rs.Step())
	}
	back(eager, es)
	must(t, rec.Run())
	if g, w := recorded.state(), eager.state(); g != w {
		t.Errorf("%s\nwant\n%s", g, w)
	}

	unscales := records(t, d, func() { back(recorded, rs); rs.Unscale() })
	rs.ZeroGrad()
	must(t, unscales.Run())
	refused(t, "unscaled twice", tensor.Try(rs.Unscale), tensor.ErrValue, "divided by the scale already")

	back(recorded, rs)
	must(t, rs.Step())
	back(recorded, rs)
	steps := records(t, d, func() { must(t, rs.Step()); must(t, rs.Backward(loss(recorded))) })
	must(t, steps.Run())
	rs.Unscale()
	refused(t, "Unscale between the runs", steps.Run(), tensor.ErrValue, "a LossScaler is after Unscale, and was before Unscale")
}

// TestEMALeft: averages are not brought up to themselves.
func TestEMALeft(t *testing.T) {
	d := devtest.CPU(t)
	l := newLayers(t, d, true)
	ema := optim.NewEMA(l.params, 0.5)
	rec := records(t, d, func() { must(t, ema.Update()) })
	must(t, ema.Use(func() { refused(t, "Update in Use", rec.Run(), tensor.ErrValue, "an EMA is in use") }))
	must(t, rec.Run())
	uses := records(t, d, func() { must(t, ema.Use(func() { l.x.MatMul(l.first.Weight) })) })
	must(t, uses.Run())
	must(t, ema.Update()) // it is not in use
}

// TestRefusedChanges: a step that changes what only the host has, and no launch shows, is refused.
func TestRefusedChanges(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(5)
	l := newLayers(t, d, true)
	state := l.opt.State()
	for name, m := range state.Tensors {
		state.Tensors[name] = m.Copy()
	}
	plateau := optim.NewPlateau(optim.PlateauDefaults(0.1))
	rows := data.New([]float32{1, 2, 3, 4}, 4)
	loader := data.NewLoader(d, []data.Array{rows}, data.LoaderConfig{Batch: 2})
	place := loader.State()
	for name, c := range map[string]struct {
		step func()
		kind error
		says string
	}{
		"Restore":         {func() { must(t, l.opt.Restore(state)) }, replay.ErrRecording, "Restore of an optimizer inside the step"},
		"Measured":        {func() { plateau.Measured(1) }, replay.ErrRecording, "Measured of a Plateau inside the step"},
		"Plateau.Restore": {func() { must(t, plateau.Restore(plateau.State())) }, replay.ErrRecording, "Restore of a Plateau"},
		"Loader.Restore":  {func() { must(t, loader.Restore(place)) }, replay.ErrRecording, "Restore of a Loader"},
		"Loader.Epoch": {func() {
			for range loader.Epoch() {
				break
			}
		}, replay.ErrUpload, "between the runs"},
		"Calls, first": {func() { rng.Calls = 7; rng.Uniform(d, 0, 1, 2) }, replay.ErrDiffers, "sets the Seed or the Calls"},
		"Calls, last":  {func() { rng.Uniform(d, 0, 1, 2); rng.Calls = 7 }, replay.ErrDiffers, "sets the Seed or the Calls"},
		"Calls, between": {func() { calls := rng.Calls; rng.Uniform(d, 0, 1, 2); rng.Calls = calls; rng.Uniform(d, 0, 1, 2) },
			replay.ErrDiffers, "sets the Seed or the Calls"},
		"Seed": {func() { rng.Seed++; rng.Uniform(d, 0, 1, 2) }, replay.ErrDiffers, "sets the Seed or the Calls"},
		"a gradient in turns": {func() {
			if l.head.Bias.Grad() == nil {
				must(t, l.head.Bias.Backward(autograd.BackwardOptions{Seed: l.head.Bias.Value()}))
				l.head.Weight.Value().FillInPlace(1)
				return
			}
			l.head.Bias.ZeroGrad()
			l.head.Weight.Value().FillInPlace(1)
			tensor.Empty(d, 2).SetInPlace(l.head.Bias.Value())
		}, replay.ErrDiffers, ""},
		"a parameter that freezes in turns": {func() {
			if p := l.head.Bias; p.NeedsGrad() {
				p.Freeze()
			} else {
				p.Unfreeze()
			}
		}, replay.ErrDiffers, "is frozen after one, and not after the other"},
		"an optimizer for a while": {func() {
			opt := optim.NewSGD([]*autograd.Node{autograd.Param(tensor.Zeros(d, 2), "own")}, optim.SGDConfig{LR: optim.Constant(1)})
			opt.Free()
			l.opt.Free()
			l.opt = optim.NewSGD(l.params, optim.SGDConfig{LR: optim.Constant(1)})
		}, replay.ErrDiffers, ""},
	} {
		_, err := replay.Record(d, func() ([]*tensor.Tensor, error) { c.step(); return nil, nil })
		refused(t, name, err, c.kind, c.says)
	}
	rec := records(t, d, func() { rng.Uniform(d, 0, 1, 2); rng.Uniform(d, 0, 1, 2) })
	rng.Calls, rng.Seed = 3, 9 // between the runs they are the program's
	must(t, rec.Run())
	if rng.Calls != 5 {
		t.Errorf("%d calls after two draws from the third on", rng.Calls)
	}
}
