package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/recurrent"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// LSTM is layers of units with a long short-term memory. With the input x, and the state h and the
// cell c before,
//
//	i, f, o = σ(W·x + b + U·h + b'), g = tanh(W_g·x + b_g + U_g·h + b_g'), each with weights of its own
//	c' = f·c + i·g, h' = o·tanh(c'),
//
// in which the gates of state dicts follow each other as i, f, g, o. On CPUs all times are one launch, of one
// row or of weights that stay in the cache; otherwise, and on the way back, each time is two. Sources: Hochreiter
// and Schmidhuber, "Long Short-Term Memory", Neural Computation 9(8), 1997; for f Gers, Schmidhuber, Cummins,
// "Learning to Forget", Neural Computation 12(10), 2000.
type LSTM struct {
	Recurrent
}

// NewLSTM returns a layer, or several, with the parameters drawn from rng, which draws what is
// dropped, too. It panics as [NewGRU] does.
func NewLSTM(d tensor.Device, rng *tensor.RNG, cfg RecurrentConfig) *LSTM {
	defer tensorapi.Rename("nn", "NewLSTM")
	return &LSTM{newRecurrent("LSTM", 4, d, rng, cfg)}
}

// Forward returns the states of the last layer, [batch, time, hidden], for x [batch, time, in],
// from states and cells of 0: see [LSTM.Run].
func (l *LSTM) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("LSTM", l != nil && l.op != "")
	defer inLayer(l.WeightIH...)
	y, _ := tracedStates(l, func() (*autograd.Node, [][]*autograd.Node) {
		return l.run(x, []*autograd.Node{nil, nil}, lstmDirection)
	})
	return y
}

// Run is [GRU.Run] with cells beside the states: from which to begin, or nil for zeros, and after
// the last time.
func (l *LSTM) Run(x, first, firstCell *autograd.Node) (y, last, lastCell *autograd.Node) {
	mustBeMade("LSTM", l != nil && l.op != "")
	defer inLayer(l.WeightIH...)
	y, states := tracedStates(l, func() (*autograd.Node, [][]*autograd.Node) {
		return l.run(x, []*autograd.Node{first, firstCell}, lstmDirection)
	})
	return y, stacked(states, 0), stacked(states, 1)
}

func lstmDirection(gx, w, b *autograd.Node, first []*autograd.Node, back bool) (y *autograd.Node, last []*autograd.Node) {
	s, typ := times{gx.Shape()[0], back}, gx.Type()
	states := as(lstmStates(wide(gx), wide(w), wide(b), wide(first[0]), wide(first[1]), s), typ)
	from, to := s.after()
	return states.Slice(0, from, to), []*autograd.Node{states.Select(0, s.last()), states.Select(0, s.steps+1+s.last())}
}

// lstmStates returns all states, and behind them all cells, [2·(time + 1), batch, hidden].
func lstmStates(gx, w, b, first, firstCell *autograd.Node, s times) *autograd.Node {
	const op = "LSTM"
	xv, wv := gx.ValueFor(op), w.ValueFor(op)
	d, batch, hidden := xv.Device(), xv.Shape()[1], wv.Shape()[0]
	inputs, saved := []*autograd.Node{gx, w}, []*tensor.Tensor{xv, wv}
	r := lstmGrads{recurrence: recurrence{times: s, bias: b != nil}}
	var bv *tensor.Tensor
	if b != nil {
		bv = b.ValueFor(op)
		inputs, saved = append(inputs, b), append(saved, bv)
	}
	for i, n := range []*autograd.Node{first, firstCell} {
		if n != nil {
			r.first[i] = len(inputs)
			inputs = append(inputs, n)
		}
	}
	cells := s.steps + 1
	states := tensor.EmptyOf(d, xv.Type(), 2*cells, batch, hidden)
	begin(states.Select(0, s.first()), first, op)
	begin(states.Select(0, cells+s.first()), firstCell, op)
	features := []kernels.Arg{kernels.IntArg(hidden)}
	s.states(recurrent.LSTM, states, recurrent.Layer{X: xv, Weights: wv, Bias: bv}, func(t, before, after int) {
		h, gx := states.Select(0, before), xv.Select(0, t)
		gh := tensor.Linear(h, wv, bv, nil)
		operands := append(gatesOf(gx, 4), gh, states.Select(0, cells+before))
		results := []*tensor.Tensor{states.Select(0, after), states.Select(0, cells+after)}
		tensor.MapInto(lstmStep, features, results, operands...)
		free(operands, results, []*tensor.Tensor{h, gx})
	})
	return autograd.NewOp(op, states, inputs, func(g *autograd.Node, in *autograd.Grads) {
		if r.in = in; !in.Derive(g, r.of) {
			r.computed(xv, wv, bv, states, g.Value())
		}
	}, append(saved, states)...)
}

// lstmGrads delivers the gradients of lstmStates.
type lstmGrads struct {
	recurrence
	first [2]int // the inputs that are the first state and cell, 0 for none
}

func (r lstmGrads) computed(x, w, b, states, g *tensor.Tensor) {
	d, shape := x.Device(), states.Shape()
	batch, hidden, cells := shape[1], shape[2], r.steps+1
	from, to := r.before()
	before, cell := states.Slice(0, from, to), states.Slice(0, cells+from, cells+to)
	from, to = r.after()
	next := states.Slice(0, cells+from, cells+to)
	gates := tensor.Linear(before, w, b, nil) // again: they were not kept
	gates.MapInPlace(fn.Add, nil, x)
	slopes, byCells := empties(x, 4, r.steps, batch, hidden), tensor.EmptyOf(d, x.Type(), 2, r.steps, batch, hidden)
	operands := append(gatesOf(gates, 4), cell, next)
	byCell := []*tensor.Tensor{byCells.Select(0, 0), byCells.Select(0, 1)}
	tensor.MapInto(lstmGateGrads, nil, []*tensor.Tensor{slopes[0], slopes[1], slopes[2], byCell[0], slopes[3], byCell[1]}, operands...)
	free(operands, byCell)

	wt := w.T()
	direct, through := tensor.ZerosOf(d, x.Type(), batch, hidden), tensor.ZerosOf(d, x.Type(), batch, hidden)
	size := batch * hidden
	whole := g.Contiguous()
	r.backward(func(t, _, after int) {
		operands := []*tensor.Tensor{whole.View(), through, direct.View()}
		for _, s := range slopes {
			operands = append(operands, s.Select(0, t))
		}
		operands = append(operands, byCells.View())
		gt := gates.Select(0, t) // whose values nobody reads any more
		results := append(gatesOf(gt, 4), direct.View())
		tensor.MapInto(lstmBack, []kernels.Arg{kernels.IntArg(after * size), kernels.IntArg((cells + after) * size), kernels.IntArg(t * size),
			kernels.IntArg((r.steps + t) * size), kernels.IntArg(hidden)}, results, operands...)
		free(operands, results)
		through = gt.MatMul(wt)
		gt.Free()
	})
	whole.Free()
	deliver(r.in, gates, before, b != nil)
	for i, carried := range []*tensor.Tensor{through, direct} {
		if at := r.first[i]; at > 0 && r.in.NeedsGrad(at) {
			own := g.Select(0, i*cells+r.times.first())
			r.in.Accumulate(at, own.Add(carried))
			own.Free()
		}
	}
	r.in.Accumulate(0, gates)
	free(slopes, []*tensor.Tensor{byCells, direct, through, wt, before})
}

// of returns what lstmStates does, by operations on Nodes.
func (r lstmGrads) of(inputs []*autograd.Node) *autograd.Node {
	cells := r.steps + 1
	x := inputs[0]
	if bias := r.biasOf(inputs); bias != nil {
		x = x.Add(bias)
	}
	all := make([]*autograd.Node, 2*cells)
	for i, at := range r.first {
		all[i*cells+r.times.first()] = r.begin(i*cells+r.times.first(), inputs, at)
	}
	r.forward(func(t, before, after int) {
		a := gateNodes(x.Select(0, t).Add(all[before].MatMul(inputs[1])), 4)
		in, forget, cell, out := a[0].Sigmoid(), a[1].Sigmoid(), a[2].Tanh(), a[3].Sigmoid()
		next := autograd.Map(lstmCell, nil, forget, all[cells+before], in, cell)
		all[after], all[cells+after] = autograd.Map(lstmState, nil, out, next), next
	})
	return autograd.Stack(0, all...)
}
