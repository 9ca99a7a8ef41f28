package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// layers is a model of two layers whose gradients tests look at.
type layers struct {
	t      *testing.T
	d      tensor.Device
	x      *autograd.Node
	first  *nn.Linear
	head   *nn.Linear
	params []*autograd.Node
	opt    optim.Optimizer // nil if nothing holds the parameters
}

func newLayers(t *testing.T, d tensor.Device, optimizer bool) *layers {
	rng := tensor.NewRNG(3)
	l := &layers{t: t, d: d, x: autograd.Const(rng.Normal(d, 0, 1, 6, 4)),
		first: nn.NewLinear(d, rng, nn.LinearConfig{In: 4, Out: 5}), head: nn.NewLinear(d, rng, nn.LinearConfig{In: 5, Out: 2})}
	l.params = nn.Params(&struct{ First, Head *nn.Linear }{l.first, l.head})
	if optimizer {
		l.opt = optim.NewSGD(l.params, optim.SGDConfig{LR: optim.Constant(0.1)})
	}
	return l
}

func (l *layers) zeroGrad() {
	if l.opt != nil {
		l.opt.ZeroGrad()
		return
	}
	for _, p := range l.params {
		p.ZeroGrad()
	}
}

func (l *layers) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// fit is the gradient of a loss of both layers.
func (l *layers) fit() {
	l.t.Helper()
	h := l.x.Linear(l.first.Weight, l.first.Bias, fn.Tanh)
	l.must(h.Linear(l.head.Weight, l.head.Bias, nil).Square().Mean().Backward())
}

// penalty is the gradient of a loss of the head alone.
func (l *layers) penalty() {
	l.t.Helper()
	l.must(l.head.Weight.Square().Sum().Backward())
}

// update is a step of the optimizer, or by hand.
func (l *layers) update() {
	l.t.Helper()
	if l.opt != nil {
		l.must(l.opt.Step())
		return
	}
	for _, p := range l.params {
		if g := p.Grad(); g != nil {
			p.Value().SetInPlace(p.Value().Sub(g.MulScalar(0.1)))
		}
	}
}

// state is the parameters and gradients, with which of these there are.
func (l *layers) state() string {
	l.t.Helper()
	text := ""
	for _, p := range l.params {
		text += bits(l.t, []*tensor.Tensor{p.Value()})
		if g := p.Grad(); g != nil {
			text += " gradient" + bits(l.t, []*tensor.Tensor{g})
		}
		text += "\n"
	}
	return text
}

// TestGradientsLeft: after a run each parameter has a gradient, or none, as the eager step leaves
// it, whatever was done to it between runs; with its numbers.
func TestGradientsLeft(t *testing.T) {
	type program struct {
		name string
		step func(l *layers)
		rest func(l *layers, step func()) // of the program, which calls the step
	}
	programs := []program{
		{"a gradient that the step makes is there", func(l *layers) { l.zeroGrad(); l.fit() },
			func(l *layers, step func()) { l.zeroGrad(); step(); l.penalty() }},
		{"one that it forgets is not", func(l *layers) { l.zeroGrad(); l.fit(); l.update(); l.zeroGrad() },
			func(l *layers, step func()) { l.zeroGrad(); l.penalty(); step(); l.penalty() }},
		{"an eager penalty of the head after each run", func(l *layers) { l.zeroGrad(); l.fit() },
			func(l *layers, step func()) { step(); l.penalty(); l.update(); l.zeroGrad() }},
		{"a step of some parameters", func(l *layers) { l.zeroGrad(); l.penalty() },
			func(l *layers, step func()) { l.zeroGrad(); l.fit(); step(); l.update() }},
		{"a step that forgets one", func(l *layers) { l.zeroGrad(); l.fit(); l.head.Bias.ZeroGrad() },
			func(l *layers, step func()) { l.zeroGrad(); step(); l.update(); l.fit() }},
		{"a step that only forgets", func(l *layers) { l.zeroGrad() },
			func(l *layers, step func()) { l.fit(); step(); l.fit() }},
		{"nothing between the runs", func(l *layers) { l.zeroGrad(); l.fit(); l.update() },
			func(l *layers, step func()) { step() }},
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range programs {
			for _, optimizer := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, optimizer %v", c.name, optimizer), func(t *testing.T) {
					eager, recorded := newLayers(t, d, optimizer), newLayers(t, d, optimizer)
					c.step(eager)
					c.step(eager)
					rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { c.step(recorded); return nil, nil })
					eager.must(err)
					defer rec.Free()
					for run := range 5 {
						c.rest(eager, func() { c.step(eager) })
						c.rest(recorded, func() { recorded.must(rec.Run()) })
						if g, w := recorded.state(), eager.state(); g != w {
							t.Fatalf("run %d:\n%s\nwant\n%s", run, g, w)
						}
						got := func(l *layers) []bool {
							var has []bool
							for _, p := range l.params {
								has = append(has, p.Grad() != nil)
							}
							return has
						}
						if !slices.Equal(got(recorded), got(eager)) {
							t.Fatalf("run %d: gradients %v, want %v", run, got(recorded), got(eager))
						}
					}
				})
			}
		}
	})
}
