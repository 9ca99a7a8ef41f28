package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// training is a random network in training, written in operations as a user may. Two of one seed
// are alike.
type training struct {
	seed   uint64
	d      tensor.Device
	rng    *tensor.RNG
	rows   int
	wide   int
	x, y   *tensor.Tensor // [rows, wide]
	class  *tensor.Tensor // [rows]
	turned *tensor.Tensor // a permutation of rows, some twice
	params []*autograd.Node
	opts   []optim.Optimizer
	ema    *optim.EMA
	total  *tensor.Tensor // of losses, in place
	did    map[string]int
}

func newTraining(d tensor.Device, seed uint64, did map[string]int) *training {
	r := rand.New(rand.NewPCG(seed, 1))
	tr := &training{seed: seed, d: d, rng: tensor.NewRNG(seed), did: did,
		rows: []int{1, 2, 7, 16, 33, 64, 130}[r.IntN(7)], wide: []int{1, 3, 4, 8, 12, 16, 32}[r.IntN(7)]}
	tr.x, tr.y = tensor.Empty(d, tr.rows, tr.wide), tensor.Empty(d, tr.rows, tr.wide)
	tr.class, tr.turned = tensor.ZerosOf(d, tensor.Int32, tr.rows), tensor.ZerosOf(d, tensor.Int32, tr.rows)
	tr.total = tensor.Zeros(d)
	tr.input(0)
	calls := tr.rng.Calls
	tr.loss(rand.New(rand.NewPCG(seed, 2)), map[string]int{}) // makes the parameters
	tr.rng.Calls = calls
	if len(tr.params) == 0 {
		tr.param(tr.wide)
	}
	rate := []optim.Schedule{optim.Constant(0.01), optim.Exponential(0.02, 0.7), optim.Warmup(2, optim.Cosine(0.02, 0.001, 5))}[r.IntN(3)]
	first, rest := tr.params, []*autograd.Node(nil)
	if len(first) > 1 && r.IntN(3) == 0 {
		at := 1 + r.IntN(len(first)-1)
		first, rest = first[:at], first[at:]
	}
	rules := []string{"adamw", "adamw uncorrected", "sgd", "momentum", "adam", "rmsprop", "adagrad", "lion", "lamb"}
	for _, list := range [][]*autograd.Node{first, rest} {
		if len(list) == 0 {
			continue
		}
		rule := rules[[]int{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}[r.IntN(11)]]
		if len(list) > 1 && r.IntN(5) == 0 {
			rule = "groups"
		}
		did[rule]++
		if make, ok := optimizers[rule]; ok {
			tr.opts = append(tr.opts, make(list, rate))
		} else {
			tr.opts = append(tr.opts, mapped[rule](list, rate))
		}
	}
	if r.IntN(4) == 0 {
		did["ema"]++
		tr.ema = optim.NewEMA(tr.params, 0.9)
	}
	return tr
}

// input sets the batch of a step.
func (tr *training) input(step int) {
	r := rand.New(rand.NewPCG(tr.seed*31+uint64(step), 3))
	for _, t := range []*tensor.Tensor{tr.x, tr.y} {
		data := make([]float64, t.Len())
		for i := range data {
			data[i] = r.NormFloat64()
		}
		tensor.Upload(t, data)
	}
	class, turned := make([]int32, tr.rows), make([]int32, tr.rows)
	for i := range class {
		class[i], turned[i] = int32(r.IntN(tr.wide)), int32(r.IntN(tr.rows))
	}
	tensor.Upload(tr.class, class)
	tensor.Upload(tr.turned, turned)
}

// param adds a parameter.
func (tr *training) param(shape ...int) *autograd.Node {
	p := autograd.Param(tr.rng.Normal(tr.d, 0, 0.3, shape...), fmt.Sprint("p", len(tr.params)))
	tr.params = append(tr.params, p)
	return p
}

// unary are functions of an element, without poles where activations are.
var unary = map[string]func(x *autograd.Node) *autograd.Node{
	"relu": (*autograd.Node).ReLU, "tanh": (*autograd.Node).Tanh, "gelu": (*autograd.Node).GELU, "gelu tanh": (*autograd.Node).GELUTanh,
	"silu": (*autograd.Node).SiLU, "sigmoid": (*autograd.Node).Sigmoid, "softplus": (*autograd.Node).Softplus, "sin": (*autograd.Node).Sin,
	"abs": (*autograd.Node).Abs, "hardswish": (*autograd.Node).Hardswish, "mish": (*autograd.Node).Mish, "neg": (*autograd.Node).Neg,
	"leaky":   func(x *autograd.Node) *autograd.Node { return x.LeakyReLU(0.1) },
	"elu":     func(x *autograd.Node) *autograd.Node { return x.ELU(1) },
	"scale":   func(x *autograd.Node) *autograd.Node { return x.MulScalar(0.7) },
	"shift":   func(x *autograd.Node) *autograd.Node { return x.AddScalar(-0.1) },
	"clamp":   func(x *autograd.Node) *autograd.Node { return x.Clamp(-1, 1) },
	"squash":  func(x *autograd.Node) *autograd.Node { return x.Div(x.Abs().AddScalar(1)) },
	"half":    func(x *autograd.Node) *autograd.Node { return x.To(tensor.Float16).To(x.Device().DefaultType()) },
	"detach":  func(x *autograd.Node) *autograd.Node { return x.Sub(x.Detach().MulScalar(0.5)) },
	"inverse": func(x *autograd.Node) *autograd.Node { return x.Square().AddScalar(1).Rsqrt() },
}

var unaryNames = func() (list []string) {
	for name := range unary {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}()

// along are functions of rows, [rows, k] to the same shape: a library's, and as a user writes them.
var along = []struct {
	name string
	do   func(tr *training, param func(shape ...int) *autograd.Node, x *autograd.Node) *autograd.Node
}{
	{"softmax", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Softmax(-1)
	}},
	{"log softmax", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.LogSoftmax(-1)
	}},
	{"softmax of a column", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node { return x.Softmax(0) }},
	{"scaled, masked softmax", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.MulScalar(0.3).MaskedFill(x.GtScalar(1.5), -1e9).Softmax(-1)
	}},
	{"softmax by hand", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		e := x.Sub(x.Max(-1).Detach().Unsqueeze(-1)).Exp()
		return e.Div(e.Sum(-1).Unsqueeze(-1))
	}},
	{"layer norm", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		k := x.Shape()[1]
		return x.LayerNorm(-1, param(k), param(k), 1e-5)
	}},
	{"layer norm, plain", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.LayerNorm(-1, nil, nil, 1e-3)
	}},
	{"layer norm by hand", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		c := x.Sub(x.Mean(-1).Unsqueeze(-1))
		return c.Mul(c.Square().Mean(-1).Unsqueeze(-1).AddScalar(1e-3).Rsqrt()).Mul(param(x.Shape()[1]))
	}},
	{"rms norm", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.RMSNorm(-1, param(x.Shape()[1]), 1e-5)
	}},
	{"rms norm by hand", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Div(x.Square().Mean(-1).AddScalar(1e-3).Sqrt().Unsqueeze(1))
	}},
	{"unit length", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Div(x.Norm(2, -1).AddScalar(1e-3).Unsqueeze(-1))
	}},
	{"batch norm", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		if x.Shape()[0] < 2 {
			return x
		}
		k := x.Shape()[1]
		return x.BatchNorm(param(k), param(k), 1e-3)
	}},
	{"less its log-sum", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Sub(x.LogSumExp(-1).Unsqueeze(-1))
	}},
	{"running sum", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.CumSum(-1).MulScalar(0.2)
	}},
	{"dropout", func(tr *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Dropout(0.3, tr.rng, true)
	}},
	{"noise", func(tr *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Add(autograd.Const(tr.rng.Normal(tr.d, 0, 0.1, x.Shape()...)))
	}},
	{"other rows", func(tr *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.GatherRows(tr.turned).Add(x)
	}},
	{"rows from a table", func(tr *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Add(param(tr.wide, x.Shape()[1]).Embedding(tr.class))
	}},
	{"halves exchanged", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		at := x.Shape()[1] / 2
		return autograd.Concat(1, x.Slice(1, at, x.Shape()[1]), x.Slice(1, 0, at).MulScalar(2))
	}},
	{"turned round", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Flip(1).Roll(1, 0)
	}},
	{"attention", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		rows, k := x.Shape()[0], x.Shape()[1]
		qkv := x.MatMul(param(k, 3*k)).Reshape(1, 1, rows, 3*k)
		y := qkv.Slice(3, 0, k).ScaledDotProductAttention(qkv.Slice(3, k, 2*k), qkv.Slice(3, 2*k, 3*k), nil)
		return x.Add(y.Reshape(rows, k))
	}},
	{"attention by hand", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		k := x.Shape()[1]
		q, v := x.MatMul(param(k, k)), x.MatMul(param(k, k))
		return q.MatMul(x.T()).MulScalar(0.25).Softmax(-1).MatMul(v)
	}},
	{"convolution", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		rows, k := x.Shape()[0], x.Shape()[1]
		y := x.Reshape(rows, 1, k).Conv(param(2, 1, 3), param(2), tensor.ConvOptions{Padding: []int{1}}).ReLU()
		return y.Select(1, 0).Add(y.Select(1, 1).Tanh())
	}},
	{"pool", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		k := x.Shape()[1]
		if k%2 != 0 {
			return x
		}
		return x.Reshape(x.Shape()[0], 1, k).MaxPool([]int{2}).Reshape(x.Shape()[0], k/2).RepeatInterleave(2, 1)
	}},
	{"picture", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		rows, k := x.Shape()[0], x.Shape()[1]
		if k%4 != 0 {
			return x
		}
		y := x.Reshape(rows, 1, k/4, 4).Conv(param(3, 1, 3, 3), param(3), tensor.ConvOptions{Padding: []int{1, 1}}).GELU()
		if k%8 == 0 {
			y = y.AvgPool([]int{2, 2}).Sub(y.MaxPool([]int{2, 2}).MulScalar(0.5))
		}
		return y.Conv(param(2, 3, 1, 1), nil).Add(param(2, 1, 1)).LeakyReLU(0.2).Flatten(1, -1).MatMul(param(y.Len()/rows/3*2, k)).Add(x)
	}},
	{"heads", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		rows, k := x.Shape()[0], x.Shape()[1]
		if k%4 != 0 {
			return x
		}
		h := x.Reshape(rows, 2, k/2).Transpose(1, 0, 2)
		return h.MatMul(param(2, k/2, k/2)).Add(param(2, 1, k/2)).Tanh().Transpose(1, 0, 2).Reshape(rows, k)
	}},
	{"sums that are spread", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Sub(x.Mean(0)).Div(x.Std(0, 1).AddScalar(1).Unsqueeze(1)).Add(x.Max(-1).Unsqueeze(1).MulScalar(0.1))
	}},
	{"rows added by index", func(tr *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.IndexAdd(0, tr.turned, x.MulScalar(0.5)).Tanh()
	}},
	{"in order", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		values, _ := x.Sort(-1)
		return values.Add(x.MulScalar(0.1))
	}},
	{"turned product", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		k := x.Shape()[1]
		return param(k, k).MatMul(x.T()).AddScalar(0.1).ReLU().T().Mul(x.Sigmoid())
	}},
	{"an outer scale", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Mul(x.Sum(-1).Sigmoid().Unsqueeze(1).MatMul(param(1, x.Shape()[1])))
	}},
	{"gate", func(_ *training, param func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		k := x.Shape()[1]
		y := x.MatMul(param(k, 2*k))
		return y.Slice(1, 0, k).Sigmoid().Mul(y.Slice(1, k, 2*k))
	}},
	{"choice", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node {
		return x.Where(x.GtScalar(0), x.Exp().Minimum(autograd.Const(x.Value())))
	}},
	{"lower half", func(_ *training, _ func(...int) *autograd.Node, x *autograd.Node) *autograd.Node { return x.Tril(1) }},
}

// loss builds the graph of a step.
func (tr *training) loss(r *rand.Rand, did map[string]int) *autograd.Node {
	made := 0
	param := func(shape ...int) *autograd.Node {
		made++
		if made > len(tr.params) {
			return tr.param(shape...)
		}
		return tr.params[made-1]
	}
	values := []*autograd.Node{autograd.Const(tr.x)}
	var tied *autograd.Node
	for range 1 + r.IntN(7) {
		x := values[len(values)-1]
		if r.IntN(4) == 0 {
			x = values[r.IntN(len(values))]
		}
		switch r.IntN(9) {
		case 0, 1, 2: // a linear layer
			k := x.Shape()[1]
			to := []int{k, k, 1, 5, 8, 16, 24, tr.wide}[r.IntN(8)]
			var w *autograd.Node
			if tied != nil && r.IntN(4) == 0 && tied.Shape()[0] == k {
				w = tied
				did["tied"]++
			} else {
				w = param(k, to)
			}
			tied = w
			switch r.IntN(4) {
			case 0:
				x = x.MatMul(w)
			case 1:
				x = x.MatMul(w).Add(param(w.Shape()[1]))
			case 2:
				x = x.Linear(w, param(w.Shape()[1]), nil)
			case 3:
				x = x.Linear(w, param(w.Shape()[1]), fn.LeakyReLU, 0.1)
			}
			did["linear"]++
		case 3, 4:
			name := unaryNames[r.IntN(len(unaryNames))]
			x = unary[name](x)
			did[name]++
		case 5, 6:
			a := along[r.IntN(len(along))]
			x = a.do(tr, param, x)
			did[a.name]++
		case 7: // with another value
			for range 4 {
				if other := values[r.IntN(len(values))]; slices.Equal(other.Shape(), x.Shape()) {
					switch r.IntN(4) {
					case 0:
						x = x.Add(other)
					case 1:
						x = x.Mul(other.Tanh())
					case 2:
						x = other.Sub(x)
					case 3:
						x = x.Maximum(other)
					}
					did["two"]++
					break
				}
			}
		case 8:
			x = x.Mul(param(x.Shape()[1]))
			did["scale by a parameter"]++
		}
		values = append(values, x)
	}
	y := values[len(values)-1]
	y = y.Linear(param(y.Shape()[1], tr.wide), param(tr.wide), nil)
	target := autograd.Const(tr.y)
	var loss *autograd.Node
	kind := []string{"squared", "mean squared", "absolute", "cross-entropy", "cross-entropy by hand", "of rows"}[r.IntN(6)]
	did[kind]++
	switch kind {
	case "squared":
		loss = y.SquaredError(target)
	case "mean squared":
		loss = y.Sub(target).Square().Mean()
	case "absolute":
		loss = y.Sub(target).Abs().Sum().DivScalar(float64(tr.rows))
	case "cross-entropy":
		loss = autograd.CrossEntropy(y, tr.class)
	case "cross-entropy by hand":
		loss = y.LogSoftmax(-1).Gather(1, tr.class.Unsqueeze(1)).Mean().Neg()
	case "of rows":
		loss = y.Sub(target).Square().Mean(-1).Sqrt().Sum()
	}
	if r.IntN(4) == 0 && made > 0 {
		did["penalty"]++
		loss = loss.Add(tr.params[0].Square().Sum().MulScalar(0.01))
	}
	return loss
}

// step is a step of training.
func (tr *training) step() ([]*tensor.Tensor, error) {
	r := rand.New(rand.NewPCG(tr.seed, 2))
	loss := tr.loss(r, tr.did)
	outputs := []*tensor.Tensor{loss.Value()}
	if err := loss.Backward(); err != nil {
		return nil, err
	}
	if r.IntN(6) == 0 { // a second pass adds to the gradients
		tr.did["two fused steps"]++
		if err := tr.loss(rand.New(rand.NewPCG(tr.seed, 2)), tr.did).MulScalar(0.5).Backward(); err != nil {
			return nil, err
		}
	}
	have := slices.DeleteFunc(slices.Clone(tr.params), func(p *autograd.Node) bool { return p.Grad() == nil })
	switch r.IntN(6) {
	case 0:
		tr.did["clipped norm"]++
		outputs = append(outputs, optim.ClipNorm(have, 1))
	case 1:
		tr.did["clipped values"]++
		optim.ClipValue(have, 0.1)
	case 2:
		if len(have) > 0 {
			tr.did["a gradient given back"]++
			outputs = append(outputs, have[r.IntN(len(have))].Grad().MulScalar(1))
		}
	}
	for _, o := range tr.opts {
		if err := o.Step(); err != nil && !errors.Is(err, optim.ErrNoGradients) {
			return nil, err
		}
	}
	if tr.ema != nil {
		if err := tr.ema.Update(); err != nil {
			return nil, err
		}
	}
	for _, o := range tr.opts {
		o.ZeroGrad()
	}
	if r.IntN(3) == 0 {
		tr.did["total"]++
		tr.total.MapInPlace(fn.Add, nil, loss.Value())
	}
	return outputs, nil
}

// state is all that a program can see.
func (tr *training) state(t *testing.T, outputs []*tensor.Tensor) string {
	t.Helper()
	all := append(slices.Clone(outputs), tr.total)
	for _, p := range tr.params {
		all = append(all, p.Value())
	}
	states := []optim.State{}
	for _, o := range tr.opts {
		states = append(states, o.State())
	}
	if tr.ema != nil {
		states = append(states, tr.ema.State())
	}
	for _, s := range states {
		var names []string
		for name := range s.Tensors {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			all = append(all, s.Tensors[name])
		}
	}
	return bits(t, all) + fmt.Sprint(tr.rng.Calls)
}

// TestRandomTrainings: networks of random layers, losses and rules leave the same bits trained by a
// recording as eagerly.
func TestRandomTrainings(t *testing.T) {
	for _, sel := range devtest.Selected() {
		n, options := 300, []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			n, options = 6, []tensor.Options{{}, devtest.GPUKernels()}
		}
		if !devtest.Sweep() {
			n = max(4, n/6)
		}
		for _, opt := range options {
			t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) {
				d := devtest.Open(t, sel, opt)
				did := map[string]int{}
				for seed := range n {
					randomTraining(t, d, devtest.Seed(seed), did)
				}
				for _, a := range along {
					if did[a.name] == 0 && n >= 300 && devtest.Seed(0) == 0 { // others may leave one out
						t.Errorf("no network has %q", a.name)
					}
				}
			})
		}
	}
}

func randomTraining(t *testing.T, d tensor.Device, seed uint64, did map[string]int) {
	t.Helper()
	tensor.Scope(d, func() {
		eager, recorded := newTraining(d, seed, map[string]int{}), newTraining(d, seed, did)
		var want []*tensor.Tensor
		var err error
		for range 2 {
			if want, err = eager.step(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		var said bytes.Buffer
		rec, err := replay.Record(d, recorded.step, replay.Options{Without: []string{"fused-training-step"}, Explain: &said}) // which adds in another order
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		defer rec.Free()
		same := func(when string, got []*tensor.Tensor) {
			t.Helper()
			if recorded.state(t, got) != eager.state(t, want) {
				t.Fatalf("seed %d, %s: other bits than eagerly, %v\n%s", seed, when, recorded.did, &said)
			}
		}
		same("recorded", rec.Outputs())
		for time := 1; time <= 4; time++ {
			eager.input(time)
			recorded.input(time)
			if want, err = eager.step(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got := rec.Outputs()
			if time == 3 {
				got, err = recorded.step() // an eager step among replays
			} else {
				err = rec.Run()
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			same(fmt.Sprint("step ", time), got)
		}
		for _, tr := range []*training{eager, recorded} {
			for _, o := range tr.opts {
				o.Free()
			}
			if tr.ema != nil {
				tr.ema.Free()
			}
			for _, p := range tr.params {
				p.Free()
			}
		}
	})
}
