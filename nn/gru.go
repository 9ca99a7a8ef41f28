package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/recurrent"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// GRU is layers of gated recurrent units. With the input x and the state h before,
//
//	r = σ(Wᵣ·x + bᵣ + Uᵣ·h + cᵣ), z = σ(W_z·x + b_z + U_z·h + c_z)
//	n = tanh(Wₙ·x + bₙ + r·(Uₙ·h + cₙ)), h' = (1 − z)·n + z·h,
//
// in which the gates of state dicts follow each other as r, z, n. Every step of time is two
// launches, forward and back. Source: Cho et al., "Learning Phrase Representations using RNN
// Encoder-Decoder for Statistical Machine Translation", EMNLP 2014, in the form of cuDNN and
// PyTorch, whose r applies to the product.
type GRU struct {
	Recurrent
}

// NewGRU returns a layer, or several, with the parameters drawn from rng, which draws what is
// dropped, too. It panics with tensor.ErrShape for sizes below 1, and with tensor.ErrValue for a
// probability outside [0, 1].
func NewGRU(d tensor.Device, rng *tensor.RNG, cfg RecurrentConfig) *GRU {
	defer tensorapi.Rename("nn", "NewGRU")
	return &GRU{newRecurrent("GRU", 3, d, rng, cfg)}
}

// Forward returns the states of the last layer, [batch, time, hidden], for x [batch, time, in],
// from states of 0: see [GRU.Run].
func (l *GRU) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("GRU", l != nil && l.op != "")
	defer inLayer(l.WeightIH...)
	y, _ := tracedStates(l, func() (*autograd.Node, [][]*autograd.Node) { return l.run(x, []*autograd.Node{nil}, gruDirection) })
	return y
}

// Run returns the states of the last layer, [batch, time, ways·hidden], for x [batch, time, in],
// and the state of each layer and way after the last time, [layers·ways, batch, hidden]: layer by
// layer, the way back behind the other. first has such states from which to begin, or is nil for
// zeros. It panics with tensor.ErrShape.
func (l *GRU) Run(x, first *autograd.Node) (y, last *autograd.Node) {
	mustBeMade("GRU", l != nil && l.op != "")
	defer inLayer(l.WeightIH...)
	y, states := tracedStates(l, func() (*autograd.Node, [][]*autograd.Node) { return l.run(x, []*autograd.Node{first}, gruDirection) })
	return y, stacked(states, 0)
}

func gruDirection(gx, w, b *autograd.Node, first []*autograd.Node, back bool) (y *autograd.Node, last []*autograd.Node) {
	s, typ := times{gx.Shape()[0], back}, gx.Type()
	states := as(gruStates(wide(gx), wide(w), wide(b), wide(first[0]), s), typ)
	from, to := s.after()
	return states.Slice(0, from, to), []*autograd.Node{states.Select(0, s.last())}
}

// gruStates returns all states [time + 1, batch, hidden].
func gruStates(gx, w, b, first *autograd.Node, s times) *autograd.Node {
	const op = "GRU"
	xv, wv := gx.ValueFor(op), w.ValueFor(op)
	d, batch, hidden := xv.Device(), xv.Shape()[1], wv.Shape()[0]
	inputs, saved := []*autograd.Node{gx, w}, []*tensor.Tensor{xv, wv}
	r := gruGrads{recurrence: recurrence{times: s, bias: b != nil}}
	var bv *tensor.Tensor
	if b != nil {
		bv = b.ValueFor(op)
		inputs, saved = append(inputs, b), append(saved, bv)
	}
	if first != nil {
		r.first = len(inputs)
		inputs = append(inputs, first)
	}
	states := tensor.EmptyOf(d, xv.Type(), s.steps+1, batch, hidden)
	begin(states.Select(0, s.first()), first, op)
	s.states(recurrent.GRU, states, recurrent.Layer{X: xv, Weights: wv, Bias: bv}, func(t, before, after int) {
		h, next, gx := states.Select(0, before), states.Select(0, after), xv.Select(0, t)
		gh := tensor.Linear(h, wv, bv, nil)
		operands := append(append(gatesOf(gx, 3), gatesOf(gh, 3)...), h)
		tensor.MapInto(gruStep, nil, []*tensor.Tensor{next}, operands...)
		free(operands, []*tensor.Tensor{next, gx, gh})
	})
	return autograd.NewOp(op, states, inputs, func(g *autograd.Node, in *autograd.Grads) {
		if r.in = in; !in.Derive(g, r.of) {
			r.computed(xv, wv, bv, states, g.Value())
		}
	}, append(saved, states)...)
}

// gruGrads delivers the gradients of gruStates.
type gruGrads struct {
	recurrence
	first int // the input that is the first state, 0 for none
}

func (r gruGrads) computed(x, w, b, states, g *tensor.Tensor) {
	d, shape := x.Device(), states.Shape()
	batch, hidden := shape[1], shape[2]
	from, to := r.before()
	before := states.Slice(0, from, to)
	gh := tensor.Linear(before, w, b, nil) // again: it was not kept
	slopes := empties(x, 5, r.steps, batch, hidden)
	operands := append(append(gatesOf(x, 3), gatesOf(gh, 3)...), before.View())
	tensor.MapInto(gruGateGrads, nil, slopes, operands...)
	free(operands)

	dx, dh := tensor.EmptyLike(x), gh // whose values nobody reads any more
	wt := w.T()
	direct, through := tensor.ZerosOf(d, x.Type(), batch, hidden), tensor.ZerosOf(d, x.Type(), batch, hidden)
	r.backward(func(t, _, after int) {
		gt, dxt, dht := g.Select(0, after), dx.Select(0, t), dh.Select(0, t)
		operands := []*tensor.Tensor{gt, direct.View(), through}
		for _, s := range slopes {
			operands = append(operands, s.Select(0, t))
		}
		results := append(append(gatesOf(dxt, 3), gatesOf(dht, 3)...), direct.View())
		tensor.MapInto(gruBack, nil, results, operands...)
		free(operands, results)
		through = dht.MatMul(wt)
		free([]*tensor.Tensor{dxt, dht})
	})
	free(slopes)
	r.in.Accumulate(0, dx)
	deliver(r.in, dh, before, b != nil)
	if r.first > 0 && r.in.NeedsGrad(r.first) {
		sum := g.Select(0, r.times.first())
		r.in.Accumulate(r.first, tensor.Map(sumOfThree, nil, sum, direct, through))
		sum.Free()
	}
	free([]*tensor.Tensor{direct, through, wt, before, dh})
}

// of returns what gruStates does, by operations on Nodes.
func (r gruGrads) of(inputs []*autograd.Node) *autograd.Node {
	x, bias := inputs[0], r.biasOf(inputs)
	all := make([]*autograd.Node, r.steps+1)
	all[r.times.first()] = r.begin(r.times.first(), inputs, r.first)
	r.forward(func(t, before, after int) {
		a, b := gateNodes(x.Select(0, t), 3), gateNodes(all[before].Linear(inputs[1], bias, nil), 3)
		reset, update := a[0].Add(b[0]).Sigmoid(), a[1].Add(b[1]).Sigmoid()
		fresh := autograd.Map(gruFresh, nil, a[2], reset, b[2]).Tanh()
		all[after] = fresh.LerpTensor(all[before], update)
	})
	return autograd.Stack(0, all...)
}
