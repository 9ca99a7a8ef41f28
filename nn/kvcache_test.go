package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// kvBlocks are blocks whose attentions differ.
var kvBlocks = map[string]nn.TransformerBlockConfig{
	"plain":        {Size: 8, Heads: 2, NormFirst: true},
	"norms behind": {Size: 8, Heads: 4, Activation: nn.GELU, NoBias: true},
	"one head":     {Size: 6, Heads: 1},
	"groups":       {Size: 8, Heads: 4, KeyValueHeads: 2, NormFirst: true},
	"one group":    {Size: 9, Heads: 3, KeyValueHeads: 1},
	"rotary":       {Size: 8, Heads: 2, NormFirst: true, Rotary: nn.RotaryConfig{Base: 10000}},
	"interleaved":  {Size: 8, Heads: 2, KeyValueHeads: 1, Rotary: nn.RotaryConfig{Base: 100, Interleaved: true}},
	"in part":      {Size: 12, Heads: 2, Rotary: nn.RotaryConfig{Base: 100, Dim: 2}},
	"dropout":      {Size: 8, Heads: 2, Dropout: 0.3},
}

// TestKVCache: a prompt in one pass and then one token after the other, eagerly and by a recorded step,
// give what the whole gives at once.
func TestKVCache(t *testing.T) {
	const length = 9
	for name, cfg := range kvBlocks {
		t.Run(name, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				for _, batch := range []int{1, 3} {
					rng := tensor.NewRNG(4)
					cfg.Causal = true
					net := []*nn.TransformerBlock{nn.NewTransformerBlock(d, rng, cfg), nn.NewTransformerBlock(d, rng, cfg)}
					nn.Eval(net)
					x := rng.Normal(d, 0, 1, batch, length, cfg.Size)
					through := func(x *autograd.Node, cache *nn.KVCache) *tensor.Tensor {
						for _, b := range net {
							x = b.Cached(x, cache)
						}
						return x.Value()
					}
					autograd.NoGrad(d, func() {
						want := through(autograd.Const(x), nil)
						cache := nn.NewKVCache(net, nn.KVCacheConfig{Length: length, Batch: batch})
						step := func(from, to int) {
							t.Helper()
							if at, err := cache.Next(x.Slice(1, from, to)).Int32s(); err != nil || int(at[0]) != from || len(at) != to-from {
								t.Errorf("positions %v from %d to %d, err %v", at, from, to, err)
							}
							what := fmt.Sprintf("batch %d, positions %d to %d", batch, from, to)
							same(t, what, through(autograd.Const(x.Slice(1, from, to)), cache), want.Slice(1, from, to).Copy(), 1e-5)
						}
						token := tensor.Zeros(d, batch, 1, cfg.Size)
						var rec *replay.Recording
						for range 2 { // with what the first run has left
							step(0, 4)
							step(4, 5)
							step(5, 7)
							cache.Truncate(6)
							step(6, 7)
							if rec == nil {
								var err error
								rec, err = replay.Record(d, func() ([]*tensor.Tensor, error) {
									cache.Next(token)
									return []*tensor.Tensor{through(autograd.Const(token), cache)}, nil
								})
								if err != nil {
									t.Fatal(err)
								}
								cache.Truncate(7)
							}
							for i := 7; i < length; i++ {
								token.SetInPlace(x.Slice(1, i, i+1))
								if err := rec.Run(); err != nil {
									t.Fatal(err)
								}
								same(t, "recorded", rec.Outputs()[0], want.Slice(1, i, i+1).Copy(), 1e-5)
							}
							if err := rec.Run(); !errors.Is(err, nn.ErrCacheFull) || cache.Len() != length {
								t.Errorf("a step in a full cache: %v, %d positions", err, cache.Len())
							}
							cache.Truncate(0)
						}
					})
				}
			})
		})
	}
}

// TestKVCacheForgets: what was NaN is not seen after Truncate.
func TestKVCacheForgets(t *testing.T) {
	d := devtest.CPU(t)
	net := nn.NewTransformerBlock(d, tensor.NewRNG(1), nn.TransformerBlockConfig{Size: 4, Heads: 2, Causal: true})
	cache := nn.NewKVCache(net, nn.KVCacheConfig{Length: 3})
	defer cache.Free()
	autograd.NoGrad(d, func() {
		for _, v := range []float64{math.NaN(), 1} {
			x := tensor.Full(d, v, 1, 2, 4)
			cache.Next(x)
			y, err := net.Cached(autograd.Const(x), cache).Float64s()
			if err != nil || slices.ContainsFunc(y, math.IsNaN) != math.IsNaN(v) {
				t.Errorf("of %v: %v, err %v", v, y, err)
			}
			cache.Truncate(0)
		}
	})
}

// TestKVCacheQuantized: a quantized model has a cache, too.
func TestKVCacheQuantized(t *testing.T) {
	d := devtest.CPU(t)
	for _, groups := range []int{4, 2} {
		cfg := nn.TransformerBlockConfig{Size: 16, Heads: 4, KeyValueHeads: groups, Causal: true}
		net := nn.NewTransformerBlock(d, tensor.NewRNG(1), cfg)
		if _, err := nn.QuantizeWeights(net, tensor.QuantizeOptions{}); err != nil {
			t.Fatal(err)
		}
		x := tensor.NewRNG(2).Normal(d, 0, 1, 1, 4, 16).To(tensor.Float32)
		cache := nn.NewKVCache(net, nn.KVCacheConfig{Length: 4})
		autograd.NoGrad(d, func() {
			want := net.Forward(autograd.Const(x)).Value()
			cache.Next(x)
			same(t, "quantized", net.Cached(autograd.Const(x), cache).Value(), want, 1e-4)
		})
	}
}

// TestKVCacheTypes: a model in 16 bits, or within Autocast, has what it computes at once.
func TestKVCacheTypes(t *testing.T) {
	d := devtest.CPU(t)
	for _, typ := range []tensor.Type{tensor.BFloat16, tensor.Float16} {
		for _, cast := range []bool{false, true} {
			cfg := nn.TransformerBlockConfig{Size: 8, Heads: 2, KeyValueHeads: 1, Causal: true, Rotary: nn.RotaryConfig{Base: 100}}
			net := nn.NewTransformerBlock(d, tensor.NewRNG(1), cfg)
			x := tensor.NewRNG(2).Normal(d, 0, 1, 1, 5, 8)
			if !cast {
				nn.To(net, typ)
				x = x.To(typ)
			}
			cache := nn.NewKVCache(net, nn.KVCacheConfig{Length: 5})
			compare := func() {
				want := net.Forward(autograd.Const(x)).Value()
				for i := range 5 {
					token := x.Slice(1, i, i+1)
					cache.Next(token)
					got := net.Cached(autograd.Const(token), cache).Value()
					if got.Type() != want.Type() {
						t.Errorf("%v, Autocast %v: a result of %v, want %v", typ, cast, got.Type(), want.Type())
					}
					same(t, fmt.Sprint(typ), got, want.Slice(1, i, i+1).Copy(), 0.05)
				}
			}
			autograd.NoGrad(d, func() {
				if cast {
					autograd.Autocast(d, typ, compare)
				} else {
					compare()
				}
			})
		}
	}
}

// TestGroupedQueries: queries in groups are those of an attention whose keys and values are repeated,
// with every mask, and so are their gradients.
func TestGroupedQueries(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const size, heads, groups, l = 8, 4, 2, 5
		rng := tensor.NewRNG(3)
		few := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: size, Heads: heads, KeyValueHeads: groups})
		all := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: size, Heads: heads})
		few.InBias.Value().SetInPlace(rng.Normal(d, 0, 1, 16))
		repeated := func(x *tensor.Tensor, axis int) *tensor.Tensor {
			parts := x.SplitWithSizes(axis, size, groups*2, groups*2)
			for i := range parts[1:] {
				p := parts[1+i].MoveDim(axis, 0)
				n := p.Shape()
				wide := p.Reshape(append([]int{groups, 2}, n[1:]...)...).RepeatInterleave(heads/groups, 0)
				parts[1+i] = wide.Reshape(append([]int{size}, n[1:]...)...).MoveDim(0, axis)
			}
			return tensor.Concat(axis, parts...)
		}
		all.InWeight.Value().SetInPlace(repeated(few.InWeight.Value(), 1))
		all.InBias.Value().SetInPlace(repeated(few.InBias.Value(), 0))
		all.Out.Weight.Value().SetInPlace(few.Out.Weight.Value())
		for name, shape := range map[string][]int{"none": nil, "matrix": {l, l}, "one of all heads": {1, l, l}, "of each head": {heads, l, l}, "of the batch": {2, 1, 1, l}} {
			var results [2][]*tensor.Tensor
			for i, layer := range []*nn.MultiHeadAttention{few, all} {
				x := autograd.Param(tensor.NewRNG(5).Normal(d, 0, 1, 2, l, size), "x")
				var mask *autograd.Node
				if shape != nil {
					mask = autograd.Param(tensor.NewRNG(6).Normal(d, 0, 1, shape...), "mask")
				}
				y := layer.Attend(x, x, x, mask).Retain()
				if err := y.Square().Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				results[i] = []*tensor.Tensor{y.Value(), x.Grad()}
				if mask != nil {
					results[i] = append(results[i], mask.Grad())
				}
				for _, p := range nn.Params(layer) {
					p.ZeroGrad()
				}
			}
			for i, want := range results[1] {
				same(t, fmt.Sprintf("mask %s, result %d", name, i), results[0][i], want, 1e-4)
			}
		}
	})
}

// TestRotary: queries and keys are turned by positions, so that their product depends on the distance
// alone, and neither a rotation nor its gradient changes lengths.
func TestRotary(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, interleaved := range []bool{false, true} {
			x := autograd.Param(tensor.New(d, []float64{1, 2, 3, 4, 5}).To(d.DefaultType()).Reshape(1, 5), "x")
			angles := tensor.New(d, []float64{0.5, 2}).To(d.DefaultType())
			y := nn.RotaryEmbedding(x, autograd.Const(angles.Cos()), autograd.Const(angles.Sin()), interleaved).Retain()
			c, s := []float64{math.Cos(0.5), math.Cos(2)}, []float64{math.Sin(0.5), math.Sin(2)}
			want := []float64{1*c[0] - 3*s[0], 2*c[1] - 4*s[1], 1*s[0] + 3*c[0], 2*s[1] + 4*c[1], 5}
			if interleaved {
				want = []float64{1*c[0] - 2*s[0], 1*s[0] + 2*c[0], 3*c[1] - 4*s[1], 3*s[1] + 4*c[1], 5}
			}
			same(t, fmt.Sprintf("interleaved %v", interleaved), y.Value(), tensor.New(d, want).To(d.DefaultType()).Reshape(1, 5), 1e-6)
			if err := y.Square().Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			same(t, "gradient", x.Grad(), x.Value().MulScalar(2), 1e-5)
		}
	})
}

// TestKVCacheMisuse: what a cache is not for is an error that says what to do.
func TestKVCacheMisuse(t *testing.T) {
	d := devtest.CPU(t)
	cfg := nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Causal: true}
	rng := tensor.NewRNG(1)
	l := nn.NewMultiHeadAttention(d, rng, cfg)
	x := autograd.Const(tensor.Zeros(d, 1, 2, 4))
	cacheOf := func(model any) *nn.KVCache { return nn.NewKVCache(model, nn.KVCacheConfig{Length: 3}) }
	quiet := func(l *nn.MultiHeadAttention, of any, n int) func() {
		return func() {
			autograd.NoGrad(d, func() {
				c := cacheOf(of)
				if n > 0 {
					c.Next(x.Value().Slice(1, 0, n))
				}
				l.Cached(x, c)
			})
		}
	}
	open, drops := cfg, cfg
	open.Causal, drops.Dropout = false, 0.5
	all, dropping := nn.NewMultiHeadAttention(d, rng, open), nn.NewMultiHeadAttention(d, rng, drops)
	for name, c := range map[string]struct {
		f    func()
		kind error
		text string
	}{
		"no length":       {func() { nn.NewKVCache(l, nn.KVCacheConfig{}) }, tensor.ErrShape, "Length is 0"},
		"no batch":        {func() { nn.NewKVCache(l, nn.KVCacheConfig{Length: 1, Batch: -1}) }, tensor.ErrShape, "Batch is -1"},
		"no attention":    {func() { cacheOf(nn.NewLinear(d, rng, nn.LinearConfig{In: 1, Out: 1})) }, tensor.ErrValue, "no MultiHeadAttention"},
		"a zero cache":    {func() { (&nn.KVCache{}).Next(tensor.Zeros(d, 0, 1)) }, tensor.ErrValue, "NewKVCache makes one"},
		"a step of none":  {func() { cacheOf(l).Next(tensor.Zeros(d, 1, 0)) }, tensor.ErrShape, "one position or more: the cache has a Batch of 1"},
		"a full cache":    {func() { c := cacheOf(l); c.Next(x.Value()); c.Next(x.Value()) }, nn.ErrCacheFull, "2 more do not fit behind 2 of 3 positions: make it longer, or Truncate it"},
		"a long step":     {func() { cacheOf(l).Next(tensor.Zeros(d, 1, 4)) }, nn.ErrCacheFull, "behind 0 of 3"},
		"another batch":   {func() { cacheOf(l).Next(tensor.Zeros(d, 2, 1)) }, tensor.ErrShape, "a Batch of 1"},
		"without tokens":  {func() { (*nn.KVCache)(nil).Next(tensor.Zeros(d, 2)) }, tensor.ErrShape, "one position or more"},
		"a truncation":    {func() { cacheOf(l).Truncate(1) }, tensor.ErrValue, "to 1 positions, of 0"},
		"another model":   {quiet(l, all, 2), tensor.ErrValue, "another model"},
		"without Next":    {quiet(l, l, 0), tensor.ErrValue, "begins with Next"},
		"other positions": {quiet(l, l, 1), tensor.ErrShape, "Next began 1 positions"},
		"called twice": {func() {
			autograd.NoGrad(d, func() { c := cacheOf(l); c.Next(x.Value()); l.Cached(l.Cached(x, c), c) })
		}, tensor.ErrValue, "called again in a step"},
		"truncated in a step": {func() {
			c := cacheOf(l)
			if _, err := replay.Record(d, func() ([]*tensor.Tensor, error) { c.Truncate(0); return nil, nil }); err != nil {
				panic(err)
			}
		}, replay.ErrRecording, "KVCache.Truncate"},
		"with a graph": {func() { c := cacheOf(l); c.Next(x.Value()); l.Cached(x, c) }, tensor.ErrValue, "autograd.NoGrad"},
		"not causal":   {quiet(all, all, 2), tensor.ErrValue, "not Causal"},
		"in training":  {quiet(dropping, dropping, 2), tensor.ErrValue, "nn.Eval"},
		"heads": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 6, Heads: 3, KeyValueHeads: 2})
		}, tensor.ErrValue, "3 heads do not share 2"},
		"an odd rotation": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 6, Heads: 2, Rotary: nn.RotaryConfig{Base: 10}})
		}, tensor.ErrValue, "Rotary.Dim is 3, of 3 features"},
		"a base": {func() {
			nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Rotary: nn.RotaryConfig{Base: math.Inf(1)}})
		}, tensor.ErrValue, "Rotary.Base is +Inf"},
		"angles": {func() { nn.RotaryEmbedding(x, x, x, false) }, tensor.ErrShape, "an angle for each pair"},
	} {
		err := tensor.Try(c.f)
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
