package nn

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/recurrent"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// Recurrent is the parameters of a [GRU] or [LSTM], an element for each layer: of its gates, one
// after the other, from the input and from the state before. State dicts hold them as PyTorch does:
// weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse, …
type Recurrent struct {
	WeightIH []*autograd.Node `nn:"weight_ih_l#,transposed"` // [inputs, gates·hidden]
	WeightHH []*autograd.Node `nn:"weight_hh_l#,transposed"` // [hidden, gates·hidden]
	BiasIH   []*autograd.Node `nn:"bias_ih_l#"`              // [gates·hidden]; nil elements for layers without
	BiasHH   []*autograd.Node `nn:"bias_hh_l#"`              // the same

	// Those of the other direction, from the last time to the first; nil if there is none.
	WeightIHReverse []*autograd.Node `nn:"weight_ih_l#_reverse,transposed"`
	WeightHHReverse []*autograd.Node `nn:"weight_hh_l#_reverse,transposed"` // as those of the first
	BiasIHReverse   []*autograd.Node `nn:"bias_ih_l#_reverse"`              // as those of the first
	BiasHHReverse   []*autograd.Node `nn:"bias_hh_l#_reverse"`              // as those of the first

	op        string
	in        int
	hidden    int
	timeFirst bool
	dropout   Dropout
}

// RecurrentConfig describes a [GRU] or [LSTM].
type RecurrentConfig struct {
	In, Hidden    int     // features of the input, and of the state; required
	Layers        int     // one above the other; 0: 1
	Bidirectional bool    // each layer goes both ways through time; its output has the features of the way back behind the others
	Dropout       float64 // probability, in [0, 1], that an element of what goes to the next layer is dropped in training
	TimeFirst     bool    // inputs and outputs are [time, batch, features], not [batch, time, features]
	NoBias        bool    // no gate has one
	// Weight and Bias draw the parameters, all gates of a layer as one matrix; nil: uniform in
	// ±√(1/Hidden), as PyTorch does.
	Weight, Bias Initializer
}

// newRecurrent returns parameters for so many gates.
func newRecurrent(op string, gates int, d tensor.Device, rng *tensor.RNG, cfg RecurrentConfig) Recurrent {
	made := "New" + op
	mustSizes(made, "In", cfg.In)
	mustSizes(made, "Hidden", cfg.Hidden)
	if cfg.Layers == 0 {
		cfg.Layers = 1
	}
	mustSizes(made, "Layers", cfg.Layers)
	mustProbability(made, cfg.Dropout)
	usual := func(d tensor.Device, rng *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		return UniformFanIn(d, rng, cfg.Hidden, 0, shape...)
	}
	for _, by := range []*Initializer{&cfg.Weight, &cfg.Bias} {
		if *by == nil {
			*by = usual
		}
	}
	r := Recurrent{op: op, in: cfg.In, hidden: cfg.Hidden, timeFirst: cfg.TimeFirst, dropout: Dropout{P: cfg.Dropout, RNG: rng}}
	ways := 1
	if cfg.Bidirectional {
		ways = 2
	}
	out := gates * cfg.Hidden
	for layer := range cfg.Layers {
		in := cfg.In
		if layer > 0 {
			in = ways * cfg.Hidden
		}
		for way := range ways {
			wi, wh := draw(d, rng, cfg.Weight, in, out, in, out), draw(d, rng, cfg.Weight, cfg.Hidden, out, cfg.Hidden, out)
			var bi, bh *autograd.Node
			if !cfg.NoBias {
				bi, bh = draw(d, rng, cfg.Bias, in, out, out), draw(d, rng, cfg.Bias, cfg.Hidden, out, out)
			}
			lists := r.way(way)
			for i, p := range []*autograd.Node{wi, wh, bi, bh} {
				*lists[i] = append(*lists[i], p)
			}
		}
	}
	return r
}

// way returns the weights and biases of a direction.
func (r *Recurrent) way(i int) [4]*[]*autograd.Node {
	if i == 0 {
		return [4]*[]*autograd.Node{&r.WeightIH, &r.WeightHH, &r.BiasIH, &r.BiasHH}
	}
	return [4]*[]*autograd.Node{&r.WeightIHReverse, &r.WeightHHReverse, &r.BiasIHReverse, &r.BiasHHReverse}
}

// direction is one direction of a layer. It has the products gx [time, batch, gates·hidden] of its
// input, and makes the states y [time, batch, hidden] and the last one, or ones, from the first.
type direction func(gx, w, b *autograd.Node, first []*autograd.Node, back bool) (y *autograd.Node, last []*autograd.Node)

// run goes through all layers. first has states [layers·ways, batch, hidden], or nil for zeros;
// last are those after the last time, of each layer and way.
func (r *Recurrent) run(x *autograd.Node, first []*autograd.Node, by direction) (y *autograd.Node, last [][]*autograd.Node) {
	r.check(x, first)
	if !r.timeFirst {
		x = swapped(x, -3, -2)
	}
	ways := 1
	if len(r.WeightIHReverse) > 0 {
		ways = 2
	}
	for layer := range r.WeightIH {
		if layer > 0 {
			x = r.dropout.Forward(x)
		}
		outputs := make([]*autograd.Node, ways)
		for way := range ways {
			lists := r.way(way)
			begin := make([]*autograd.Node, len(first))
			for i, s := range first {
				if s != nil {
					begin[i] = s.Select(0, len(last))
				}
			}
			var end []*autograd.Node
			wi, wh, bi, bh := (*lists[0])[layer], (*lists[1])[layer], (*lists[2])[layer], (*lists[3])[layer]
			outputs[way], end = by(x.Linear(wi, bi, nil), wh, bh, begin, way == 1)
			if trace.On() {
				results := []any{outputs[way]}
				for _, s := range end {
					results = append(results, s)
				}
				trace.Record(r.op, []any{x, wi, wh, bi, bh, begin, way == 1}, results...)
			}
			last = append(last, end)
		}
		if x = outputs[0]; ways > 1 {
			x = autograd.Concat(-1, outputs...)
		}
	}
	if !r.timeFirst {
		x = swapped(x, -3, -2)
	}
	return x, last
}

// check panics with tensor.ErrShape unless x is an input, and what is not nil of first are states
// for it.
func (r *Recurrent) check(x *autograd.Node, first []*autograd.Node) {
	shape := x.ValueFor(r.op).Shape()
	if len(shape) != 3 || shape[2] != r.in {
		form := "batch, time"
		if r.timeFirst {
			form = "time, batch"
		}
		r.misfit(fmt.Sprintf("the input is [%s, %d]", form, r.in), shape)
	}
	if shape[0] == 0 && r.timeFirst || shape[1] == 0 && !r.timeFirst {
		r.misfit("the input has no time", shape)
	}
	batch := shape[0]
	if r.timeFirst {
		batch = shape[1]
	}
	for _, s := range first {
		want := []int{len(r.WeightIH) + len(r.WeightIHReverse), batch, r.hidden}
		if s != nil && !slices.Equal(s.Shape(), want) {
			r.misfit(fmt.Sprintf("the first state is %v", want), shape, s.Shape())
		}
	}
}

func (r *Recurrent) misfit(detail string, shapes ...[]int) {
	panic(&tensor.Error{Pkg: "nn", Op: r.op, Kind: tensor.ErrShape, Shapes: shapes, Detail: detail})
}

// stacked returns state i of each layer and way, [layers·ways, batch, hidden].
func stacked(last [][]*autograd.Node, i int) *autograd.Node {
	list := make([]*autograd.Node, len(last))
	for k, states := range last {
		list[k] = states[i]
	}
	return autograd.Stack(0, list...)
}

// times says where the states of a direction lie: those before all steps and those after, in the
// order of time.
type times struct {
	steps int
	back  bool // from the last time to the first
}

// first is the place of the state before the first step, and last that after the last.
func (s times) first() int {
	if s.back {
		return s.steps
	}
	return 0
}

func (s times) last() int { return s.steps - s.first() }

// before and after are the places of all states before a step, and of those after, each in the
// order of time.
func (s times) before() (from, to int) {
	if s.back {
		return 1, s.steps + 1
	}
	return 0, s.steps
}

func (s times) after() (from, to int) { return 1 - s.shift(), s.steps + 1 - s.shift() }

// shift is how many places the state before a step is ahead of the step.
func (s times) shift() int {
	if s.back {
		return 1
	}
	return 0
}

// states computes all states of a cell: in one launch where the device has that, else by step, which is called with each
// time and the places of the states before and after it.
func (s times) states(cell *recurrent.Cell, states *tensor.Tensor, l recurrent.Layer, step func(t, before, after int)) {
	if shape := states.Shape(); cell.Fits(states.Device(), states.Type(), shape[1], shape[2]) {
		l.Back = s.back
		cell.Run(states, l)
		return
	}
	s.forward(step)
}

// forward calls f with each time in order, and the places of the states before and after; backward
// in the other order.
func (s times) forward(f func(t, before, after int)) {
	for i := range s.steps {
		s.at(i, f)
	}
}

func (s times) backward(f func(t, before, after int)) {
	for i := s.steps - 1; i >= 0; i-- {
		s.at(i, f)
	}
}

func (s times) at(i int, f func(t, before, after int)) {
	if s.back {
		i = s.steps - 1 - i
	}
	f(i, i+s.shift(), i+1-s.shift())
}

// begin sets a state to a first one, or to zeros.
func begin(state *tensor.Tensor, first *autograd.Node, op string) {
	if first == nil {
		state.ZeroInPlace()
	} else {
		state.SetInPlace(first.ValueFor(op))
	}
	state.Free()
}

// recurrence is the states of a direction, between their values and their gradients.
type recurrence struct {
	times
	in   *autograd.Grads
	bias bool // input 2 is a bias
}

// biasOf returns the bias among the inputs, or nil.
func (r recurrence) biasOf(inputs []*autograd.Node) *autograd.Node {
	if r.bias {
		return inputs[2]
	}
	return nil
}

// begin returns the state at a place of the result, as input i, or as a constant if i is 0. The input itself may have
// been changed since.
func (r recurrence) begin(place int, inputs []*autograd.Node, i int) *autograd.Node {
	v := r.in.Output().Value().Select(0, place)
	if i == 0 {
		return autograd.Const(v)
	}
	return autograd.NewOp("State", v, inputs[i:i+1], func(g *autograd.Node, in *autograd.Grads) { in.AccumulateNode(0, g) })
}

// gatesOf returns views of the gates of x […, gates·hidden], each […, hidden].
func gatesOf(x *tensor.Tensor, gates int) []*tensor.Tensor {
	hidden := x.Shape()[x.Rank()-1] / gates
	list := make([]*tensor.Tensor, gates)
	for i := range list {
		list[i] = x.Slice(-1, i*hidden, (i+1)*hidden)
	}
	return list
}

// gateNodes is gatesOf of a Node.
func gateNodes(x *autograd.Node, gates int) []*autograd.Node {
	hidden := x.Shape()[x.Rank()-1] / gates
	list := make([]*autograd.Node, gates)
	for i := range list {
		list[i] = x.Slice(-1, i*hidden, (i+1)*hidden)
	}
	return list
}

func free(lists ...[]*tensor.Tensor) {
	for _, list := range lists {
		for _, t := range list {
			t.Free()
		}
	}
}

// empties returns n tensors of a shape, of the type of like.
func empties(like *tensor.Tensor, n int, shape ...int) []*tensor.Tensor {
	list := make([]*tensor.Tensor, n)
	for i := range list {
		list[i] = tensor.EmptyOf(like.Device(), like.Type(), shape...)
	}
	return list
}

// rows returns x [time, batch, n] as a matrix.
func rows(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(x.Shape()[0]*x.Shape()[1], x.Shape()[2]) }

// deliver gives the gradients of the weights and of the bias, for the gradients of the gates and
// the states before them, all [time, batch, …].
func deliver(in *autograd.Grads, gates, before *tensor.Tensor, bias bool) {
	if in.NeedsGrad(1) {
		h, g := rows(before), rows(gates)
		t := h.T()
		in.Accumulate(1, t.MatMul(g))
		free([]*tensor.Tensor{h, g, t})
	}
	if bias {
		in.AccumulateView(2, gates)
	}
}

// wide returns a node that steps compute with: in float32, if it is of 16 bits. nil stays nil.
func wide(n *autograd.Node) *autograd.Node {
	if n == nil || !n.Type().Half() {
		return n
	}
	return n.To(tensor.Float32)
}

// as returns a node in a type.
func as(n *autograd.Node, typ tensor.Type) *autograd.Node {
	if n.Type() == typ {
		return n
	}
	return n.To(typ)
}
