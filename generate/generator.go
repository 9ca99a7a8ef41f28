package generate

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// Model is a language model.
type Model interface {
	// Forward returns scores of the token behind the last of tokens, Int32 [batch, n]: [batch, m, words], of
	// which the last m counts; m may be n. The keys and values of earlier tokens are in the cache, for
	// which it calls cache.Next(tokens) once, and Cached of its attentions.
	Forward(tokens *tensor.Tensor, cache *nn.KVCache) *autograd.Node
}

// Config describes a [Generator].
type Config struct {
	Length int           // tokens of a sequence that the cache holds, 2 or more; required
	Batch  int           // sequences that are continued together; 0: 1
	Sample SampleOptions // how tokens are drawn; the zero value is greedy
	RNG    *tensor.RNG   // draws them; required unless greedy
	// Keep is how many of the last tokens go on when the cache is full: they are computed anew, in one
	// pass, at the positions from 0 on. 0: generation ends there, with nn.ErrCacheFull.
	Keep int
}

// Generator continues prompts with a model. It belongs to one goroutine at a time, as its device does.
type Generator struct {
	d       tensor.Device
	model   Model
	cfg     Config
	words   int
	cache   *nn.KVCache
	token   *tensor.Tensor // the last of each sequence, Int32 [batch, 1]
	seen    *tensor.Tensor // Bool [batch, words], nil without a penalty
	one     *tensor.Tensor // true
	rec     *replay.Recording
	history [][]int32 // the last tokens of each sequence, if there is a Keep
}

// New returns a generator, and records its step. The model is in evaluation. It returns an error for
// settings out of range, a model whose Forward panics with a tensor.Error, and a step that can't be
// recorded.
func New(d tensor.Device, model Model, cfg Config) (*Generator, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Batch == 0 {
		cfg.Batch = 1
	}
	g := &Generator{d: d, model: model, cfg: cfg}
	var err error
	if misused := tensor.Try(func() { err = g.record() }); misused != nil {
		err = misused
	}
	if err != nil {
		g.Free()
		return nil, wrapped(err)
	}
	return g, nil
}

// wrapped returns an error with the name of this package before it, once.
func wrapped(err error) error {
	if e, is := err.(*tensor.Error); is && e.Pkg == "generate" {
		return err
	}
	return fmt.Errorf("generate: %w", err)
}

func (c Config) check() error {
	if err := c.Sample.check(); err != nil {
		return err
	}
	wrong := func(field string, value int, want string) error {
		return &tensor.Error{Pkg: "generate", Op: "New", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("%s is %d: %s", field, value, want)}
	}
	switch {
	case c.Length < 2:
		return wrong("Length", c.Length, "it is 2 or more")
	case c.Batch < 0:
		return wrong("Batch", c.Batch, "it is 1 or more, and 0 for 1")
	case c.Keep < 0 || c.Keep >= c.Length:
		return wrong("Keep", c.Keep, fmt.Sprintf("it is below Length, %d, and 0 or more", c.Length))
	case !c.Sample.greedy() && c.RNG == nil:
		return &tensor.Error{Pkg: "generate", Op: "New", Kind: tensor.ErrValue,
			Detail: "the RNG is nil: one is needed for a Temperature"}
	}
	return nil
}

// record makes what the generator holds, and records a step in the empty cache.
func (g *Generator) record() error {
	g.cache = nn.NewKVCache(g.model, nn.KVCacheConfig{Length: g.cfg.Length, Batch: g.cfg.Batch})
	g.token = tensor.ZerosOf(g.d, tensor.Int32, g.cfg.Batch, 1).Retain()
	var rng tensor.RNG
	if g.cfg.RNG != nil {
		rng = *g.cfg.RNG
	}
	tensor.Scope(g.d, func() {
		g.words = g.scores(g.token).Shape()[1]
		g.scores(tensor.FullOf(g.d, tensor.Int32, float64(g.words-1), g.cfg.Batch, 1)) // which the model takes, too
	})
	if g.cfg.Sample.penalizes() {
		g.seen = tensor.ZerosOf(g.d, tensor.Bool, g.cfg.Batch, g.words).Retain()
		g.one = tensor.New(g.d, []bool{true}, 1, 1).Retain()
	}
	g.cache.Truncate(0)
	rec, err := replay.Record(g.d, func() ([]*tensor.Tensor, error) {
		g.next(g.token.Clamp(0, float64(g.words-1)))
		return nil, nil
	})
	if errors.Is(err, replay.ErrHostRead) {
		return fmt.Errorf("%w; a table of positions has as many rows as Length, %d, or more", err, g.cfg.Length)
	}
	if err != nil {
		return err
	}
	if g.rec = rec; g.cfg.RNG != nil { // as if nothing had been drawn
		g.cfg.RNG.Calls = rng.Calls
	}
	return g.d.Err()
}

// scores returns those of the token behind the last of tokens [batch, n]: [batch, words].
func (g *Generator) scores(tokens *tensor.Tensor) *tensor.Tensor {
	var y *tensor.Tensor
	autograd.NoGrad(g.d, func() { y = g.model.Forward(tokens, g.cache).Value() })
	shape := y.Shape()
	if len(shape) != 3 || shape[0] != g.cfg.Batch || shape[1] == 0 || g.words > 0 && shape[2] != g.words {
		misuse("Forward", tensor.ErrShape, fmt.Sprintf("the model returns scores [%d, 1 or more, words]", g.cfg.Batch), y)
	}
	return y.Select(1, -1)
}

// next takes tokens [batch, n] into the cache, and draws the token behind them.
func (g *Generator) next(tokens *tensor.Tensor) {
	scores := g.scores(tokens)
	if g.seen != nil {
		g.seen.SetInPlace(g.seen.Scatter(1, tokens, g.one.Expand(tokens.Shape()...)))
	}
	g.token.SetInPlace(Sample(scores, g.seen, g.cfg.RNG, g.cfg.Sample).To(tensor.Int32).Reshape(g.cfg.Batch, 1))
}

// Report returns what there is to know of the recorded step, such as how many launches a token takes.
func (g *Generator) Report() replay.Report { return g.rec.Report() }

// Generate continues prompts, one for each sequence of the batch and all of one length, without end: it
// gives the next token of each sequence, in a slice of the caller's, until the caller breaks off or there
// is an error, such as nn.ErrCacheFull. The next prompts begin anew; what the RNG draws goes on.
func (g *Generator) Generate(prompts ...[]int32) iter.Seq2[[]int32, error] {
	return func(yield func([]int32, error) bool) {
		err := g.begin(prompts)
		for err == nil {
			var tokens []int32
			if tokens, err = g.token.Int32s(); err != nil {
				break
			}
			g.remember(tokens)
			if !yield(tokens, nil) {
				return
			}
			err = g.advance()
		}
		yield(nil, wrapped(err))
	}
}

// Take returns the first n tokens that [Generator.Generate] gives for each prompt.
func (g *Generator) Take(n int, prompts ...[]int32) ([][]int32, error) {
	tokens := make([][]int32, len(prompts))
	if n < 1 {
		return tokens, nil
	}
	for next, err := range g.Generate(prompts...) {
		if err != nil {
			return tokens, err
		}
		for i, token := range next {
			tokens[i] = append(tokens[i], token)
		}
		if len(tokens[0]) == n {
			break
		}
	}
	return tokens, nil
}

// begin empties the cache and takes the prompts.
func (g *Generator) begin(prompts [][]int32) error {
	if err := g.mustBePrompts(prompts); err != nil {
		return err
	}
	if g.seen != nil {
		g.seen.ZeroInPlace()
	}
	g.history = nil
	if g.cfg.Keep > 0 {
		for _, p := range prompts {
			g.history = append(g.history, slices.Clone(p[max(0, len(p)-g.cfg.Length):]))
		}
		prompts = g.history
	}
	return g.take(prompts)
}

func (g *Generator) mustBePrompts(prompts [][]int32) error {
	wrong := func(format string, a ...any) error {
		return &tensor.Error{Pkg: "generate", Op: "Generate", Kind: tensor.ErrValue, Detail: fmt.Sprintf(format, a...)}
	}
	if len(prompts) != g.cfg.Batch {
		return wrong("%d prompts for a Batch of %d", len(prompts), g.cfg.Batch)
	}
	for i, p := range prompts {
		if len(p) == 0 || len(p) != len(prompts[0]) {
			return wrong("prompt %d has %d tokens, the first %d: they have the same number, 1 or more",
				i, len(p), len(prompts[0]))
		}
		for _, token := range p {
			if token < 0 || int(token) >= g.words {
				return wrong("prompt %d has the token %d: tokens are 0 to %d", i, token, g.words-1)
			}
		}
	}
	return nil
}

// take puts tokens of each sequence into the empty cache in one pass, and draws the next.
func (g *Generator) take(sequences [][]int32) error {
	g.cache.Truncate(0)
	misused := tensor.Try(func() {
		tensor.Scope(g.d, func() {
			g.next(tensor.New(g.d, slices.Concat(sequences...), len(sequences), len(sequences[0])))
		})
	})
	if misused != nil {
		return misused
	}
	return g.d.Err()
}

// remember adds tokens to the histories, of which it keeps the end.
func (g *Generator) remember(tokens []int32) {
	for i := range g.history {
		h := append(g.history[i], tokens[i])
		g.history[i] = h[max(0, len(h)-g.cfg.Keep):]
	}
}

// advance draws the token behind the last.
func (g *Generator) advance() error {
	if g.cfg.Keep > 0 && g.cache.Len() == g.cfg.Length {
		return g.take(g.history)
	}
	return g.rec.Run()
}

// Free frees the cache and the recording.
func (g *Generator) Free() {
	if g.rec != nil {
		g.rec.Free()
	}
	if g.cache != nil {
		g.cache.Free()
	}
	for _, t := range []*tensor.Tensor{g.token, g.seen, g.one} {
		if t != nil {
			t.Free()
		}
	}
}
