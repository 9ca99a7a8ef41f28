package nn

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// ErrCacheFull is the kind of errors of a [KVCache] that has no room for the positions of a step.
var ErrCacheFull = errors.New("the cache of keys and values is full")

// KVCache holds the keys and values that the attentions of a model computed for earlier positions,
// for evaluation: a step computes those of new positions alone. Its size is fixed, and the position is
// a step scalar: a recorded step serves every position.
//
//	cache := nn.NewKVCache(net, nn.KVCacheConfig{Length: 256})
//
//	positions := cache.Next(x) // of tokens [1, n]: 7, 8, …
//	h := words.Forward(x).Add(places.Forward(positions))
//	h = block.Cached(h, cache) // [1, n, size]
//
// A nil cache is none: Next gives the positions from 0 on, and Cached is Forward, so that training has the
// same code.
//
// A step takes whatever number of positions: a prompt whole, then one token after the other. Attention
// is causal, and of all Length positions: those that are not there yet are masked.
type KVCache struct {
	batch, length int
	used          int
	step          *kvStep         // the last that began
	positions     *tensor.Tensor  // of it
	steps         map[int]*kvStep // by their number of positions
	layers        map[*MultiHeadAttention]*keysValues
}

// KVCacheConfig describes a cache.
type KVCacheConfig struct {
	Length int // positions; required
	Batch  int // sequences, which are at the same position; 0: 1
}

// kvStep is a step of n positions. Its step scalar is the first of them.
type kvStep struct {
	n     int
	first *kernels.StepScalars
}

// keysValues is what the cache has of a layer, [length, batch·heads·d].
type keysValues struct {
	keys, values *tensor.Tensor
	step         *kvStep // that wrote to it last
	turn         int     // of the step
}

// NewKVCache returns an empty cache for every [MultiHeadAttention] of a model. It panics with
// tensor.ErrShape for sizes below 1, and with tensor.ErrValue for a model without attention.
func NewKVCache(model any, cfg KVCacheConfig) *KVCache {
	defer tensorapi.Rename("nn", "NewKVCache")
	const op = "NewKVCache"
	mustSizes(op, "Length", cfg.Length)
	if cfg.Batch == 0 {
		cfg.Batch = 1
	}
	mustSizes(op, "Batch", cfg.Batch)
	c := &KVCache{batch: cfg.Batch, length: cfg.Length}
	c.steps, c.layers = map[int]*kvStep{}, map[*MultiHeadAttention]*keysValues{}
	w := walker{once: true, module: func(_ string, part reflect.Value) {
		if part.Type() != attentionType || !part.CanAddr() {
			return
		}
		l := (*MultiHeadAttention)(part.Addr().UnsafePointer())
		if l.heads == 0 {
			return
		}
		d, typ := l.cached()
		width := cfg.Batch * l.groups * l.size() / l.heads
		room := func() *tensor.Tensor { return tensor.ZerosOf(d, typ, cfg.Length, width).Retain() }
		c.layers[l] = &keysValues{keys: room(), values: room()}
	}}
	w.value("", tag{}, reflect.ValueOf(model))
	if len(c.layers) == 0 {
		misuse(op, tensor.ErrValue, "the model has no MultiHeadAttention: pass a pointer to one that has")
	}
	return c
}

// Len returns how many positions are in use, 0 of a nil cache.
func (c *KVCache) Len() int {
	if c == nil {
		return 0
	}
	return c.used
}

// Next begins a step of x, [batch, n] tokens or [batch, n, …], and returns its positions, Int32 [n]:
// Len(), Len() + 1 and so on, or of a nil cache 0, 1 and so on, for models that embed them. The step's
// layers are called after it. It panics with [ErrCacheFull] if there is no room for n positions, which a
// recorded step returns, and with tensor.ErrShape for other sequences than the cache's.
func (c *KVCache) Next(x *tensor.Tensor) *tensor.Tensor {
	const op = "KVCache.Next"
	if x == nil {
		misuse(op, tensor.ErrValue, "the tensor of the step is nil")
	}
	shape := x.Shape()
	if len(shape) < 2 || shape[1] == 0 || c != nil && shape[0] != c.batch {
		detail := "a step is of [batch, n, …], of one position or more"
		if c != nil {
			detail += fmt.Sprintf(": the cache has a Batch of %d", c.batch)
		}
		panic(&tensor.Error{Pkg: "nn", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: detail})
	}
	n := shape[1]
	if c == nil {
		return tensor.ArangeOf(x.Device(), tensor.Int32, 0, float64(n), 1)
	}
	mustBeMade("KVCache", len(c.layers) > 0)
	s := c.steps[n]
	if s == nil {
		s = &kvStep{n: n}
		s.first = kernels.NewStepScalars(1, func(numbers []kernels.Arg) error {
			if n > c.length-c.used {
				return &tensor.Error{Pkg: "nn", Op: op, Kind: ErrCacheFull, Detail: fmt.Sprintf(
					"%d more do not fit behind %d of %d positions: make it longer, or Truncate it", n, c.used, c.length)}
			}
			numbers[0] = kernels.IntArg(c.used)
			c.used += n
			return nil
		})
		c.steps[n] = s
	}
	if err := s.first.Next(); err != nil {
		panic(err)
	}
	c.step, c.positions = s, tensorapi.Impl.Positions(x.Device(), s.first.Arg(0), n, c.length)
	return c.positions
}

// Truncate forgets the positions from n on, between steps: 0 empties the cache. It panics with
// tensor.ErrValue if there are not as many.
func (c *KVCache) Truncate(n int) {
	if n < 0 || n > c.Len() {
		misuse("KVCache.Truncate", tensor.ErrValue, "to %d positions, of %d", n, c.Len())
	}
	if c == nil {
		return
	}
	tensorapi.NotRecorded("KVCache.Truncate")
	for _, kv := range c.layers { // a NaN there would count, though masked
		for _, t := range []*tensor.Tensor{kv.keys, kv.values} {
			rest := t.Slice(0, n, c.used)
			rest.ZeroInPlace()
			rest.Free()
		}
	}
	c.used = n
}

// Free frees the memory of the cache.
func (c *KVCache) Free() {
	if c == nil {
		return
	}
	for _, kv := range c.layers {
		kv.keys.Free()
		kv.values.Free()
	}
}

// of returns what the cache has of a layer. It panics unless the layer is one of the cache's model, and
// x […] begins with the sequences and positions of the step, for which it was not called before.
func (c *KVCache) of(l *MultiHeadAttention, x *tensor.Tensor) *keysValues {
	const op = "Cached"
	kv := c.layers[l]
	switch shape := x.Shape(); {
	case kv == nil:
		misuse(op, tensor.ErrValue, "the cache was made for another model: NewKVCache takes the one with this layer")
	case c.step == nil:
		misuse(op, tensor.ErrValue, "a step begins with Next of the cache")
	case len(shape) < 2 || !slices.Equal(shape[:2], []int{c.batch, c.step.n}):
		panic(&tensor.Error{Pkg: "nn", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape},
			Detail: fmt.Sprintf("the step is of [%d, %d, …]: the cache has a Batch of %d, and Next began %d positions",
				c.batch, c.step.n, c.batch, c.step.n)})
	case kv.step == c.step && kv.turn == c.step.first.Step():
		misuse(op, tensor.ErrValue, "the layer is called again in a step: a layer has one cache, so call Next before, or make two layers")
	}
	kv.step, kv.turn = c.step, c.step.first.Step()
	return kv
}

// put writes x [batch, heads, n, d] to the positions of the step, and returns all positions [batch,
// heads, length, d] of one of the cache's tensors.
func (c *KVCache) put(to *tensor.Tensor, x *autograd.Node) *autograd.Node {
	shape := x.Shape()
	heads, d := shape[1], shape[3]
	rows := x.Value().Transpose(2, 0, 1, 3).Reshape(c.step.n, c.batch*heads*d)
	tensorapi.Impl.SetRows(to, c.positions, rows)
	return autograd.Const(to.Reshape(c.length, c.batch, heads, d).Transpose(1, 2, 0, 3))
}
