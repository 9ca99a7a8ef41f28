package replay_test

import (
	"bytes"
	"fmt"
	"math"
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

// perceptronWorld is a random perceptron in training that one launch may stand for, or nearly:
// something odd is done with it as often as not. Two of one seed are alike.
type perceptronWorld struct {
	seed         uint64
	d            tensor.Device
	rng          *tensor.RNG
	sizes        []int
	rows         int
	x, y         *tensor.Tensor
	table        *autograd.Node
	index        *tensor.Tensor
	params       []*autograd.Node
	opts         []optim.Optimizer
	odd          string
	slope        float64
	absolute     bool
	labels       *autograd.LabelOptions // of a cross-entropy, or nil
	class        *tensor.Tensor
	skips        [][]int // what earlier layers read that is added to what a hidden layer makes, if it fits
	seen, second *tensor.Tensor
}

var oddities = []string{"", "", "", "", "", "inputs trained", "inputs made of a table", "drawn inputs", "a view of inputs", "inputs turned", "a view of targets",
	"targets spread", "the colours are read", "a hidden layer is read", "a gradient is read", "clipped", "two fused steps", "scaled", "a mean", "a penalty",
	"a layer twice", "another activation", "a last bias", "a bias missing", "another slope", "parameters changed meanwhile", "inputs changed meanwhile",
	"targets that are inputs", "two optimizers", "a residual", "no update", "gradients kept", "the loss twice", "a weight that is frozen", "other order",
	"a seed", "half of the rows", "weights of another tensor"}

func newPerceptronWorld(d tensor.Device, seed uint64) *perceptronWorld {
	r := rand.New(rand.NewPCG(seed, 11))
	w := &perceptronWorld{seed: seed, d: d, rng: tensor.NewRNG(seed), odd: oddities[r.IntN(len(oddities))], slope: []float64{0.1, 0.01, 0, 0.5}[r.IntN(4)],
		absolute: r.IntN(2) == 0, rows: []int{1, 2, 15, 16, 17, 100, 256, 300, 1024}[r.IntN(9)]}
	width := []int{16, 32, 64, 48, 20, 96}[r.IntN(6)]
	w.sizes = append(w.sizes, []int{width, 16, 8, 32, 3, 64}[r.IntN(6)])
	for range 1 + r.IntN(3) {
		w.sizes = append(w.sizes, width)
		if r.IntN(12) == 0 {
			width = 24
		}
	}
	w.sizes = append(w.sizes, []int{3, 1, 4, 2, 8}[r.IntN(5)])
	if s := rand.New(rand.NewPCG(seed, 12)); s.IntN(5) < 2 {
		w.labels = &autograd.LabelOptions{Reduction: []autograd.Reduction{autograd.MeanLoss, autograd.MeanLoss, autograd.SumLoss}[s.IntN(3)], Smoothing: []float64{0, 0.2}[s.IntN(2)]}
	}
	endsAlike := rand.New(rand.NewPCG(seed, 15)).IntN(8) == 0
	s := rand.New(rand.NewPCG(seed, 13))
	for i := range len(w.sizes) - 2 {
		var list []int
		for j := 0; j <= i && seed%3 == 0; j++ {
			if s.IntN(2) == 0 {
				list = append(list, j)
			}
		}
		w.skips = append(w.skips, list)
	}
	if endsAlike && w.labels == nil {
		w.sizes[len(w.sizes)-1] = width
	}
	in, out := w.sizes[0], w.sizes[len(w.sizes)-1]
	if w.odd == "targets that are inputs" {
		out = in
		w.sizes[len(w.sizes)-1] = out
	}
	if s := rand.New(rand.NewPCG(seed, 14)); w.labels != nil && s.IntN(3) == 0 {
		w.labels.Weights = w.rng.Uniform(d, 0.5, 2, out)
	}
	w.x, w.y = tensor.Empty(d, w.rows, in), tensor.Empty(d, w.rows, out)
	w.index, w.class = tensor.ZerosOf(d, tensor.Int32, w.rows), tensor.ZerosOf(d, tensor.Int32, w.rows)
	w.seen, w.second = tensor.Zeros(d, w.rows, out), tensor.Zeros(d)
	w.input(0)
	for i := range len(w.sizes) - 1 {
		a, b := w.sizes[i], w.sizes[i+1]
		weight := w.rng.Normal(d, 0, 1/math.Sqrt(float64(a)), a, b)
		if w.odd == "weights of another tensor" && i == 0 {
			weight = w.rng.Normal(d, 0, 1/math.Sqrt(float64(a)), b, a).T().Copy()
		}
		w.params = append(w.params, autograd.Param(weight, fmt.Sprint("w", i)))
		if last := i == len(w.sizes)-2; !last && !(w.odd == "a bias missing" && i == 0) || last && w.odd == "a last bias" {
			w.params = append(w.params, autograd.Param(w.rng.Normal(d, 0, 0.1, b), fmt.Sprint("b", i)))
		}
	}
	if w.odd == "a weight that is frozen" {
		w.params[0].Freeze()
	}
	w.table = autograd.Param(w.rng.Normal(d, 0, 0.5, 40, in), "table")
	rule := func(p []*autograd.Node) {
		lr := optim.Exponential(0.003/float64(w.rows), 0.9)
		if r.IntN(3) == 0 {
			w.opts = append(w.opts, optim.NewSGD(p, optim.SGDConfig{LR: lr, Momentum: 0.5}))
			return
		}
		cfg := optim.AdamWDefaults(optim.Exponential(0.01, 0.9))
		cfg.Eps = 1 // a gradient near 0 has either sign: it must not be a whole step
		w.opts = append(w.opts, optim.NewAdamW(p, cfg))
	}
	trained := slices.Clone(w.params)
	if w.odd == "a weight that is frozen" {
		trained = trained[1:]
	}
	if w.odd == "other order" {
		slices.Reverse(trained)
	}
	switch w.odd {
	case "two optimizers":
		rule(trained[:1])
		rule(trained[1:])
	default:
		rule(trained)
	}
	rule([]*autograd.Node{w.table})
	return w
}

func (w *perceptronWorld) input(step int) {
	r := rand.New(rand.NewPCG(w.seed*37+uint64(step), 3))
	for _, t := range []*tensor.Tensor{w.x, w.y} {
		data := make([]float64, t.Len())
		for i := range data {
			data[i] = r.NormFloat64()
		}
		tensor.Upload(t, data)
	}
	index := make([]int32, w.rows)
	for i := range index {
		index[i] = int32(r.IntN(40))
	}
	tensor.Upload(w.index, index)
	class := make([]int32, w.rows)
	for i := range class {
		if class[i] = int32(r.IntN(w.y.Shape()[1])); i > 0 && r.IntN(5) == 0 {
			class[i] = -100
		}
	}
	tensor.Upload(w.class, class)
}

func (w *perceptronWorld) loss(outputs *[]*tensor.Tensor) *autograd.Node {
	x, y := autograd.Const(w.x), autograd.Const(w.y)
	switch w.odd {
	case "inputs trained":
		x = x.Mul(w.table.Select(0, 0)).Sin()
	case "inputs made of a table":
		x = w.table.Embedding(w.index)
	case "drawn inputs":
		x = autograd.Const(w.rng.Uniform(w.d, -1, 1, w.rows, w.sizes[0]))
	case "a view of inputs":
		x = autograd.Const(tensor.Concat(1, w.x, w.x).Slice(1, 0, w.sizes[0]))
	case "inputs turned":
		x = autograd.Const(w.x.T().Copy().T())
	case "a view of targets":
		y = autograd.Const(tensor.Concat(1, w.y, w.y).Slice(1, 0, w.sizes[len(w.sizes)-1]))
	case "targets spread":
		y = autograd.Const(w.y.Slice(0, 0, 1).Expand(w.y.Shape()...))
	case "targets that are inputs":
		y = autograd.Const(w.x)
	case "half of the rows":
		h := (w.rows + 1) / 2
		x, y = x.Slice(0, 0, h), y.Slice(0, 0, h)
	}
	if w.odd == "inputs changed meanwhile" {
		x = autograd.Const(w.x.MulScalar(1))
	}
	class := w.class
	if w.odd == "half of the rows" {
		class = class.Slice(0, 0, (w.rows+1)/2)
	}
	at, layers := 0, len(w.sizes)-1
	h := x
	read := []*autograd.Node{x}
	for i := range layers {
		weight := w.params[at]
		at++
		var bias *autograd.Node
		if at < len(w.params) && w.params[at].Value().Rank() == 1 {
			bias = w.params[at]
			at++
		}
		slope := w.slope
		if w.odd == "another slope" && i == 0 {
			slope = 0.3
		}
		before := h
		switch {
		case i == layers-1:
			h = h.Linear(weight, bias, nil)
		case w.odd == "another activation" && i == 0:
			h = h.Linear(weight, bias, fn.Tanh)
		default:
			h = h.Linear(weight, bias, fn.LeakyReLU, slope)
		}
		if w.odd == "a layer twice" && i > 0 && i < layers-1 && w.sizes[i] == w.sizes[i+1] {
			h = h.Linear(weight, bias, fn.LeakyReLU, slope)
		}
		if w.odd == "a residual" && slices.Equal(before.Shape(), h.Shape()) {
			h = h.Add(before)
		}
		if i == layers-1 && len(w.skips) > 0 && slices.Equal(before.Shape(), h.Shape()) && w.seed%3 == 0 {
			h = h.Add(before)
		}
		if i < layers-1 {
			for _, j := range w.skips[i] {
				if slices.Equal(read[j].Shape(), h.Shape()) {
					h = h.Add(read[j])
				}
			}
			read = append(read, h)
		}
		if w.odd == "a hidden layer is read" && i == 0 {
			*outputs = append(*outputs, h.Value().MulScalar(1))
		}
	}
	if w.odd == "the colours are read" {
		w.seen.SetInPlace(h.Value())
	}
	var loss *autograd.Node
	switch {
	case w.labels != nil:
		loss = autograd.CrossEntropy(h, class, *w.labels)
	case w.absolute:
		loss = h.Sub(y).Abs().Sum()
	default:
		loss = h.SquaredError(y)
	}
	switch w.odd {
	case "scaled":
		loss = loss.MulScalar(0.5)
	case "a mean":
		loss = loss.DivScalar(float64(h.Len()))
	case "a penalty":
		loss = loss.Add(w.params[0].Square().Sum().MulScalar(0.01))
	case "the loss twice":
		loss = loss.Add(loss.MulScalar(0.5))
	}
	return loss
}

func (w *perceptronWorld) step() ([]*tensor.Tensor, error) {
	var outputs []*tensor.Tensor
	if w.odd == "gradients kept" {
		for _, p := range append(slices.Clone(w.params), w.table) {
			p.ZeroGrad()
		}
	}
	loss := w.loss(&outputs)
	outputs = append(outputs, loss.Value())
	var o autograd.BackwardOptions
	if w.odd == "a seed" {
		o.Seed = tensor.Full(w.d, 0.25)
	}
	if w.odd == "parameters changed meanwhile" {
		w.second.SetInPlace(w.params[0].Value().Sum())
	}
	if err := loss.Backward(o); err != nil {
		return nil, err
	}
	if w.odd == "inputs changed meanwhile" {
		w.x.MapInPlace(fn.Mul, nil, tensor.Scalar(w.d, 0.9))
	}
	if w.odd == "two fused steps" {
		if err := w.loss(&outputs).Backward(); err != nil {
			return nil, err
		}
	}
	if w.odd == "a gradient is read" {
		outputs = append(outputs, w.params[len(w.params)-1].Grad().MulScalar(1))
	}
	if w.odd == "clipped" {
		outputs = append(outputs, optim.ClipNorm(w.params, 1))
	}
	if w.odd == "no update" {
		for _, p := range w.params {
			outputs = append(outputs, p.Grad().MulScalar(1))
			p.ZeroGrad()
		}
		return outputs, nil
	}
	for i, o := range w.opts {
		if i == len(w.opts)-1 && w.table.Grad() == nil {
			continue
		}
		if err := o.Step(); err != nil {
			return nil, err
		}
		if w.odd != "gradients kept" {
			o.ZeroGrad()
		}
	}
	return outputs, nil
}

// values are all that a program sees.
func (w *perceptronWorld) values(t *testing.T, outputs []*tensor.Tensor) [][]float64 {
	t.Helper()
	all := append(slices.Clone(outputs), w.seen, w.second, w.x)
	for _, p := range append(slices.Clone(w.params), w.table) {
		all = append(all, p.Value())
		if g := p.Grad(); g != nil && w.odd == "gradients kept" {
			all = append(all, g)
		}
	}
	var values [][]float64
	for _, x := range all {
		v, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

// TestRandomPerceptrons: perceptrons whose steps are one launch, and those that have something odd,
// train recorded as they do eagerly but for the order of sums, with the same bits each time.
func TestRandomPerceptrons(t *testing.T) {
	for _, sel := range devtest.Selected() {
		n, options := 150, []tensor.Options{{}, {DefaultType: tensor.Float64}}
		if sel != "cpu" {
			n, options = 6, []tensor.Options{{}, devtest.GPUKernels()}
		}
		if !devtest.Sweep() {
			n = max(4, n/6)
		}
		for _, opt := range options {
			t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) {
				d := devtest.Open(t, sel, opt)
				one, odd := 0, map[string]bool{}
				for seed := range n {
					if randomPerceptron(t, d, devtest.Seed(seed), odd) {
						one++
					}
				}
				if one < n/10 {
					t.Errorf("%d of %d passes are one launch", one, n)
				}
				if n > 20 && !(odd["cross-entropy"] && odd["skips"]) {
					t.Error("no fused step with a cross-entropy, or with skips, is one launch")
				}
				t.Logf("%d of %d passes are one launch; oddities among them: %v", one, n, odd)
			})
		}
	}
}

// randomPerceptron reports whether the fused step is one launch.
func randomPerceptron(t *testing.T, d tensor.Device, seed uint64, odd map[string]bool) (one bool) {
	t.Helper()
	tensor.Scope(d, func() {
		eager, recorded, again := newPerceptronWorld(d, seed), newPerceptronWorld(d, seed), newPerceptronWorld(d, seed)
		var want []*tensor.Tensor
		var err error
		for range 2 {
			if want, err = eager.step(); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, eager.odd, err)
			}
		}
		var recs [2]*replay.Recording
		var said bytes.Buffer
		for i, w := range []*perceptronWorld{recorded, again} {
			if recs[i], err = replay.Record(d, w.step, replay.Options{Explain: &said}); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, w.odd, err)
			}
			defer recs[i].Free()
		}
		one = bytes.Contains(said.Bytes(), []byte("fused-training-step: ")) && !refusedStep.Match(said.Bytes())
		if one {
			odd[eager.odd] = true
			odd["cross-entropy"] = odd["cross-entropy"] || eager.labels != nil
			odd["skips"] = odd["skips"] || slices.ContainsFunc(eager.skips, func(l []int) bool { return len(l) > 0 }) && eager.sizes[1] == eager.sizes[2]
		}
		near := 2e-3 // a sum that rounding takes across the kink of a loss or an activation has another gradient
		if d.DefaultType() == tensor.Float64 {
			near = 1e-7
		}
		check := func(when string, got []*tensor.Tensor) {
			t.Helper()
			values, wanted := recorded.values(t, got), eager.values(t, want)
			if !slices.EqualFunc(values, again.values(t, recs[1].Outputs()), slices.Equal) {
				t.Fatalf("seed %d, %s, %s: two recordings have other bits\n%s", seed, eager.odd, when, &said)
			}
			for i, v := range values {
				most := 1e-3
				for _, x := range wanted[i] {
					most = max(most, math.Abs(x))
				}
				for k, x := range v {
					if !(math.Abs(x-wanted[i][k]) <= near*most) {
						t.Fatalf("seed %d, %q, %s: value %d of tensor %d is %v, eagerly %v (most %v); sizes %v, %d rows, slope %v\n%s", seed, eager.odd, when, k, i, x, wanted[i][k], most, eager.sizes, eager.rows, eager.slope, &said)
					}
				}
			}
		}
		check("recorded", recs[0].Outputs())
		for time := 1; time <= 3; time++ {
			for _, w := range []*perceptronWorld{eager, recorded, again} {
				w.input(time)
			}
			if want, err = eager.step(); err != nil {
				t.Fatal(err)
			}
			for _, rec := range recs {
				if err := rec.Run(); err != nil {
					t.Fatalf("seed %d, %s: %v", seed, eager.odd, err)
				}
			}
			check(fmt.Sprint("step ", time), recs[0].Outputs())
		}
		for _, w := range []*perceptronWorld{eager, recorded, again} {
			for _, o := range w.opts {
				o.Free()
			}
		}
	})
	return one
}
