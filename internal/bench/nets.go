package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// net is a model that is trained on one batch, with AdamW.
type net struct {
	name  string
	model any
	loss  func() *node // of the batch
}

// classifier is a net with cross-entropy of scores [n, classes].
func classifier(name string, model any, scores func() *node, labels *tensor.Tensor) net {
	return net{name, model, func() *node { return autograd.CrossEntropy(scores(), labels) }}
}

// netRows are the networks of scripts/peers/torch_nets.py, of the same sizes. What they are made of
// is freed with the scope of the caller.
func netRows() []func(tensor.Device) net {
	return []func(tensor.Device) net{lenet, mlp784,
		func(d tensor.Device) net { return gpt(d, "gpt", 4, 128, 32) },
		func(d tensor.Device) net { return gpt(d, "gptsmall", 2, 64, 8) }, resnet18, unet}
}

func lenet(d tensor.Device) net {
	const batch = 128
	rng := tensor.NewRNG(1)
	conv := func(in, out int) *nn.Conv {
		return nn.NewConv(d, rng, nn.ConvConfig{In: in, Out: out, Kernel: []int{5, 5}, ConvOptions: tensor.ConvOptions{Padding: []int{2}}})
	}
	pool := &nn.MaxPool{Window: []int{2, 2}}
	m := nn.Sequential{conv(1, 32), nn.ReLU, pool, conv(32, 64), nn.ReLU, pool, &nn.Flatten{},
		nn.NewLinear(d, rng, nn.LinearConfig{In: 3136, Out: 512}), nn.ReLU, nn.NewLinear(d, rng, nn.LinearConfig{In: 512, Out: 10})}
	x := autograd.Const(rng.Uniform(d, 0, 1, batch, 1, 28, 28))
	return classifier("lenet", m, func() *node { return m.Forward(x) }, rng.Ints(d, 10, batch))
}

func mlp784(d tensor.Device) net {
	const batch = 512
	rng := tensor.NewRNG(1)
	linear := func(in, out int) *nn.Linear { return nn.NewLinear(d, rng, nn.LinearConfig{In: in, Out: out}) }
	m := nn.Sequential{linear(784, 256), nn.Tanh, linear(256, 128), nn.GELU, nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{128}}), linear(128, 10)}
	x := autograd.Const(rng.Uniform(d, 0, 1, batch, 784))
	return classifier("mlp784", m, func() *node { return m.Forward(x) }, rng.Ints(d, 10, batch))
}

func gpt(d tensor.Device, name string, blocks, width, batch int) net {
	const tokens, words, heads = 64, 65, 4
	rng := tensor.NewRNG(1)
	var m struct {
		Words, Places *nn.Embedding
		Blocks        []*nn.TransformerBlock
		Norm          *nn.LayerNorm
		Head          *nn.Linear
	}
	m.Words = nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: words, Size: width})
	m.Places = nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: tokens, Size: width})
	for range blocks {
		m.Blocks = append(m.Blocks, nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{
			Size: width, Heads: heads, Activation: nn.GELU, NormFirst: true, Causal: true}))
	}
	m.Norm = nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{width}})
	m.Head = nn.NewLinear(d, rng, nn.LinearConfig{In: width, Out: words, NoBias: true})
	text := rng.Ints(d, words, batch, tokens)
	return classifier(name, &m, func() *node {
		x := m.Words.Forward(text).Add(m.Places.Weight)
		for _, b := range m.Blocks {
			x = b.Forward(x)
		}
		return m.Head.Forward(m.Norm.Forward(x)).Reshape(batch*tokens, words)
	}, rng.Ints(d, words, batch*tokens))
}

// count reports what was counted or seen once.
func (s *Suite) count(name, unit string, v float64) {
	s.Report(Result{Name: name, Unit: unit, Median: v, Low: v, High: v, Runs: 1})
}

// nets measures training steps of whole networks, eager and recorded.
func (s *Suite) nets(ctx context.Context) error { return s.each(ctx, netRows()) }

func (s *Suite) each(ctx context.Context, rows []func(tensor.Device) net) error {
	for _, row := range rows {
		var err error
		tensor.Scope(s.Device, func() { err = s.net(ctx, row(s.Device)) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Suite) net(ctx context.Context, n net) error {
	opt := optim.NewAdamW(nn.Params(n.model), optim.AdamWDefaults(optim.Constant(1e-3)))
	defer opt.Free()
	step := func() error {
		var loss *node
		if s.Type.Half() {
			autograd.Autocast(s.Device, s.Type, func() { loss = n.loss() })
		} else {
			loss = n.loss()
		}
		if err := loss.Backward(); err != nil {
			return err
		}
		loss.Free()
		if err := opt.Step(); err != nil {
			return err
		}
		opt.ZeroGrad()
		return nil
	}
	name := fmt.Sprintf("net %s ", n.name)
	if _, err := s.timeErr(ctx, name+"eager", "us", 0, 0, s.flushed(step)); err != nil {
		return err
	}
	rec, err := replay.Record(s.Device, func() ([]*tensor.Tensor, error) { return nil, step() })
	if err != nil {
		return err
	}
	defer rec.Free()
	report := rec.Report()
	s.count(name+"launches eager", "launches", float64(report.Step))
	s.count(name+"launches recorded", "launches", float64(report.Launches))
	s.count(name+"memory eager", "MB", float64(report.EagerBytes)/1e6)
	s.count(name+"memory recorded", "MB", float64(report.PlannedBytes)/1e6)
	s.count(name+"recording", "ms", report.Took.Seconds()*1e3)
	s.count(name+"recording builds", "ms", report.Building.Seconds()*1e3)
	if _, err = s.timeErr(ctx, name+"recorded", "us", 0, 0, s.flushed(rec.Run)); err != nil || s.Launches == 0 {
		return err
	}
	return s.slowest(name, rec)
}

// slowest reports the slowest launches of a recording.
func (s *Suite) slowest(name string, rec *replay.Recording) error {
	times, err := rec.Profile()
	slices.SortStableFunc(times, func(a, b replay.LaunchTime) int { return cmp.Compare(b.Took, a.Took) })
	for _, l := range times[:min(len(times), s.Launches)] {
		s.count(name+l.String(), "us", l.Took.Seconds()*1e6)
	}
	return err
}
