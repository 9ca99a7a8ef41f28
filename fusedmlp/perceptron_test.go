package fusedmlp

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// ofWidth is a perceptron of as many layers of a width.
func ofWidth(layers, width int) *Perceptron {
	p := &Perceptron{Error: expr.Input(0), OutputGrad: expr.Input(0)}
	for i := range layers {
		l := Layer{Inputs: width, Outputs: width, Weights: i * width * width, Bias: -1}
		if i < layers-1 {
			l.Value, l.InputGrad = expr.Input(0).Tanh(), expr.Input(2)
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

// TestPerceptronLimits: what there is no room for is refused, on a GPU also where many samples
// would go through small tiles; shares of the gradient take a bounded number of elements.
func TestPerceptronLimits(t *testing.T) {
	gpu, cpu := kernels.Target{Units: 100, LocalMem: 48 << 10}, kernels.Target{CPU: true, Units: 4}
	for _, c := range []struct {
		p       *Perceptron
		samples int
		l       kernels.Target
		ok      bool
	}{
		{ofWidth(3, 64), 100000, gpu, true}, {ofWidth(3, 128), 100, gpu, true}, {ofWidth(3, 128), 100000, gpu, true}, {ofWidth(6, 128), 100, gpu, true}, {ofWidth(6, 128), 100000, gpu, false},
		{ofWidth(8, 128), 100, gpu, true}, {ofWidth(3, 96), 100000, gpu, true}, {ofWidth(4, 96), 100000, gpu, false}, {ofWidth(8, 96), 10000, gpu, true},
		{ofWidth(6, 128), 100000, cpu, true}, {ofWidth(9, 16), 10, cpu, false}, {ofWidth(2, 129), 10, cpu, false}, {ofWidth(3, 64), 100, kernels.Target{Units: 9, LocalMem: 32 << 10}, false},
	} {
		if err := c.p.CheckSamples(c.samples, kernels.Float32, c.l); (err == nil) != c.ok {
			t.Errorf("%d layers of %d, %d samples, %+v: %v", len(c.p.Layers), c.p.Layers[0].Inputs, c.samples, c.l, err)
		}
	}
	fused := ofWidth(5, 96)
	for i := range fused.Layers[:4] {
		fused.Layers[i].InputGrad = expr.Input(0).Mul(expr.Input(2))
	}
	if err := fused.CheckSamples(100000, kernels.Float32, gpu); err != nil {
		t.Error(err)
	}
	fused.Layers[1].Join = expr.Input(0).Add(expr.Input(2))
	if fused.CheckSamples(100000, kernels.Float32, gpu) == nil {
		t.Error("of many samples, a deep step adds gradients up")
	}
	for _, p := range []*Perceptron{ofWidth(2, 16), ofWidth(8, 128)} {
		groups := p.Groups(1<<20, 8, gpu)
		if groups*p.Size() > perceptronShares || groups < gpu.Units {
			t.Errorf("%d groups of %d elements", groups, p.Size())
		}
	}
}

// TestPerceptronBlocks: on a GPU blocks grow with the samples of each unit, and those of many
// parameters are large sooner.
func TestPerceptronBlocks(t *testing.T) {
	gpu := kernels.Target{Units: 100, LocalMem: 48 << 10}
	for _, c := range []struct {
		p          *Perceptron
		n, block   int
		groupsMost int
	}{
		{ofWidth(2, 64), 1599, 8, 200}, {ofWidth(2, 64), 1600, 16, 100}, {ofWidth(2, 64), 12799, 16, 400}, {ofWidth(2, 64), 12800, 32, 400},
		{ofWidth(8, 96), 3200, 16, 200}, {ofWidth(8, 96), 3201, 32, 101},
	} {
		block := c.p.Block(c.n, kernels.Float32, gpu)
		if groups := c.p.Groups(c.n, block, gpu); block != c.block || groups != c.groupsMost {
			t.Errorf("%d layers of %d, %d samples: %d groups of blocks of %d, want %d of %d", len(c.p.Layers), c.p.Layers[0].Inputs, c.n, groups, block, c.groupsMost, c.block)
		}
	}
}

// TestGradientPlaces: gradients that are joined later are kept in places of their width, each of
// which is taken over where it is read last.
func TestGradientPlaces(t *testing.T) {
	chain := perceptronOf(fn.Tanh, true, 8, 8, 8, 8, 2)
	for i := range 3 {
		withSkip(chain, i, i, 1)
	}
	for _, c := range []struct {
		p          *Perceptron
		at, widths []int
	}{
		{chain, []int{-1, 0, 0, 0, -1}, []int{8}},
		{withSkip(withSkip(perceptronOf(fn.Tanh, true, 8, 8, 4, 4, 2), 0, 0, 1), 2, 2, 1), []int{-1, 1, -1, 0, -1}, []int{4, 8}},
		{withSkip(withSkip(perceptronOf(fn.Tanh, true, 8, 8, 8, 8, 2), 0, 1, 1), 1, 2, 1), []int{-1, -1, 1, 0, -1}, []int{8, 8}},
		{ofWidth(3, 8), []int{-1, -1, -1, -1}, nil},
	} {
		if at, widths := c.p.gradientPlaces(); !slices.Equal(at, c.at) || !slices.Equal(widths, c.widths) {
			t.Errorf("places %v of %v elements, want %v of %v", at, widths, c.at, c.widths)
		}
	}
}

// TestPassesMade: a kernel is made once for all perceptrons that it trains alike, and for no other.
func TestPassesMade(t *testing.T) {
	build := func() *Perceptron {
		return labelled(perceptronOf(fn.GELU, true, 5, 16, 16, 3), -100, 0.25, expr.Const(1).Div(expr.Input(0)))
	}
	k := build().Loss(kernels.Float32, 8, false)
	if build().Loss(kernels.Float32, 8, false) != k {
		t.Error("the same perceptron has two kernels")
	}
	for name, change := range map[string]func(p *Perceptron){
		"inputs":             func(p *Perceptron) { p.Layers[0].Inputs = 6 },
		"outputs":            func(p *Perceptron) { p.Layers[2].Outputs = 4 },
		"weights elsewhere":  func(p *Perceptron) { p.Layers[1].Weights += 128 },
		"a bias elsewhere":   func(p *Perceptron) { p.Layers[1].Bias += 128 },
		"no bias":            func(p *Perceptron) { p.Layers[1].Bias = -1 },
		"another value":      func(p *Perceptron) { p.Layers[0].Value = expr.Input(0).Tanh() },
		"another gradient":   func(p *Perceptron) { p.Layers[0].InputGrad = expr.Input(2) },
		"another that stays": func(p *Perceptron) { p.Layers[0].Kept = expr.Input(0).Tanh() },
		"a join":             func(p *Perceptron) { withSkip(p, 1, 1, 1) },
		"an ignored label":   func(p *Perceptron) { p.Labels.Ignore = 1 },
		"smoothing":          func(p *Perceptron) { p.Labels.Smoothing = 0.5 },
		"classes of weights": func(p *Perceptron) { p.Labels.Weighted = true },
		"a sum":              func(p *Perceptron) { p.Labels.Mean = false },
		"another scale":      func(p *Perceptron) { p.Labels.Up = expr.Const(2).Div(expr.Input(0)) },
	} {
		p := build()
		change(p)
		if p.Loss(kernels.Float32, 8, false) == k {
			t.Errorf("%s: it has the kernel of another perceptron", name)
		}
	}
	for name, other := range map[string]*kernels.Kernel{"float64": build().Loss(kernels.Float64, 8, false), "a block": build().Loss(kernels.Float32, 16, false),
		"gradients of the inputs": build().Loss(kernels.Float32, 8, true)} {
		if other == k {
			t.Errorf("%s: it has the kernel of another pass", name)
		}
	}
}

// TestPassSums: what gradients read of sums lies in global memory where local memory has no room
// for it beside the samples of a tile, and passes that keep no sums have none there. Tiles are as
// large as the rest allows. Of deep perceptrons what layers make lies there, too, and on CPUs all
// that a thread's stack may have no room for.
func TestStepSums(t *testing.T) {
	gpu, cpu := kernels.Target{Units: 100, LocalMem: 48 << 10}, kernels.Target{CPU: true, Units: 4}
	for _, c := range []struct {
		layers, width, samples int
		sums                   bool
		l                      kernels.Target
		block, scratch         int
	}{
		{3, 128, 100, true, gpu, 8, 0}, {2, 96, 12800, true, gpu, 32, 3 * 32 * 100}, {2, 96, 12799, true, gpu, 16, 0},
		{2, 96, 12800, false, gpu, 32, 0}, {2, 64, 12800, true, gpu, 32, 0}, {3, 128, 12800, true, cpu, 8, 0},
		{8, 128, 100, true, gpu, 8, 7 * 132 * 8 * 3}, {5, 96, 12800, true, gpu, 32, 8 * 100 * 32 * 3}, {8, 128, 1000, true, gpu, 8, 7 * 132 * 8 * 3},
		{8, 128, 100, true, cpu, 8, 3 * (15*96*128 + 15*128*128 + 8*128 + 3*96*128)},
	} {
		p := ofWidth(c.layers, c.width)
		for i := range p.Layers[:c.layers-1] {
			if c.sums {
				p.Layers[i].InputGrad = expr.Input(0).Mul(expr.Input(2))
			}
		}
		if err := p.CheckSamples(c.samples, kernels.Float32, c.l); err != nil {
			t.Error(err)
		}
		block, n := p.Block(c.samples, kernels.Float32, c.l), 0
		for _, of := range p.Scratch(block, 3, kernels.Float32, false, c.l) {
			n += of
		}
		k := p.Loss(kernels.Float32, block, false)
		if params := 8 + min(1, c.scratch); block != c.block || n != c.scratch || len(k.Params) != params {
			t.Errorf("%+v: blocks of %d, %d elements outside, %d parameters", c, block, n, len(k.Params))
		}
	}
}

// TestPassScales: the magnitude on which a pass's tolerance is a share, worked out by hand: a
// residual connection adds to the slope of its layer, and a loss of labels that is a mean is that
// large though its gradient is small.
func TestPassScales(t *testing.T) {
	for skips, want := range []float64{1, 2} {
		p := perceptronOf(fn.ReLU, true, 4, 4, 4, 3)
		if skips > 0 {
			withSkip(p, 1, 1, 1)
		}
		if got := p.pass(kernels.Float64, 8, false).steepness(); got != want {
			t.Errorf("%d connections: %v, want %v", skips, got, want)
		}
	}
	labels := kernels.BufferArg(kernels.HostBufferOf([]int32{0, 2, 1, 3}), 0, 4) // of three classes; 1 is ignored
	p := labelled(perceptronOf(fn.ReLU, true, 4, 4, 3), 1, 0, expr.Const(1e-6).Div(expr.Input(0)))
	each := 2 + math.Log(3)
	for mean, want := range map[bool]float64{true: 0.5 * each, false: 0.5e-6 * each} {
		p.Labels.Mean = mean
		if got := p.pass(kernels.Float64, 8, false).targetScale([]kernels.Arg{1: labels}); math.Abs(got-want) > 1e-12*want {
			t.Errorf("mean %v: %v, want %v", mean, got, want)
		}
	}
}

// TestLabelLoss: the loss of labels is that of its definition, and the gradient is its derivative.
func TestLabelLoss(t *testing.T) {
	const classes, h = 3, 1e-6
	labels, weights := []int32{2, 1, 0, -1, 3}, []float64{0.5, 2, 3} // 1 is ignored, and the last two are no classes
	z := []float64{0.3, -1, 2, 1, 1, 1, -0.5, 0.25, 4, 1, 2, 3, 3, 2, 1}
	for _, smoothing := range []float64{0, 0.3} {
		for _, of := range [][]float64{nil, weights} {
			l := &Labels{Ignore: 1, Smoothing: smoothing, Weighted: of != nil}
			loss := func(z []float64) (sum float64) {
				for i, label := range labels[:3] {
					if label == 1 {
						continue
					}
					row, all := z[i*classes:(i+1)*classes], 0.0
					for _, v := range row {
						all += math.Exp(v)
					}
					for k, v := range row {
						share := smoothing / classes
						if k == int(label) {
							share += 1 - smoothing
						}
						if of != nil {
							share *= of[k]
						}
						sum += share * (math.Log(all) - v)
					}
				}
				return sum
			}
			d := make([]float64, len(z))
			if got, want := labelLoss(nil, l, z, d, labels, of, 2), loss(z); math.Abs(got-want) > 1e-12 {
				t.Errorf("smoothing %v, weights %v: the loss is %v, want %v", smoothing, of, got, want)
			}
			for i := range z {
				up, down := slices.Clone(z), slices.Clone(z)
				up[i] += h
				down[i] -= h
				if want := 2 * (loss(up) - loss(down)) / (2 * h); math.Abs(d[i]-want) > 1e-7 {
					t.Errorf("smoothing %v, weights %v: the gradient of output %d is %v, want %v", smoothing, of, i, d[i], want)
				}
			}
		}
	}
}

// TestPassLossBound: what float32 loses where it adds the losses of many samples up one by one is
// within the bound of a loss that is their sum, and not within that of the gradients, if those are
// of the mean, or of a loss that is the mean.
func TestStepLossBound(t *testing.T) {
	const n = 6061
	p := ofWidth(2, 16)
	p.Labels = &Labels{Ignore: -100, Up: expr.Const(1).Div(expr.Input(0))}
	k := p.Loss(kernels.Float32, 8, false)
	p.Labels = &Labels{Ignore: -100, Mean: true, Up: expr.Const(1).Div(expr.Input(0))}
	mean := p.Loss(kernels.Float32, 8, false)
	vec := func(x []float32) kernels.Arg { return kernels.BufferArg(kernels.HostBufferOf(x), 0, len(x)) }
	args := []kernels.Arg{vec(make([]float32, n*16)), kernels.BufferArg(kernels.HostBufferOf(make([]int32, n)), 0, n), vec(make([]float32, p.Size())),
		vec(make([]float32, p.Size())), vec(make([]float32, 1)), vec(nil), kernels.IntArg(n)}
	each := float32(2.3199)
	sum := float32(0)
	for range n {
		sum += each
	}
	want := kernels.HostBufferOf([]float32{float32(n * float64(each))})
	margin := compare.MarginOf(k, kernels.Float32, args)
	if margin.Differs(4, kernels.HostBufferOf([]float32{sum}), want) != -1 {
		t.Errorf("a sum of %v for %v is beyond the bound of the loss", sum, want.At(0))
	}
	if margin.Differs(3, kernels.HostBufferOf([]float32{sum}), want) != 0 {
		t.Errorf("a gradient of %v for %v is within the bound", sum, want.At(0))
	}
	if compare.MarginOf(mean, kernels.Float32, args).Differs(4, kernels.HostBufferOf([]float32{sum}), want) != 0 {
		t.Errorf("a mean of %v for %v is within the bound", sum, want.At(0))
	}
	if margin.Differs(4, kernels.HostBufferOf([]float32{1.01 * sum}), want) != 0 {
		t.Error("a loss that is off by a hundredth is within the bound")
	}
}
