package generate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

const words, length = 11, 8

// model is a language model of two blocks.
type model struct {
	Words  *nn.Embedding
	Blocks []*nn.TransformerBlock
	Head   *nn.Linear
	Places *nn.Embedding // nil: none
	wrong  []int         // a shape that it returns instead
}

func newModel(d tensor.Device) *model {
	rng := tensor.NewRNG(7)
	m := &model{Words: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: words, Size: 8}), Head: nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: words, Weight: nn.Normal(1)})}
	for range 2 {
		m.Blocks = append(m.Blocks, nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 4, KeyValueHeads: 2, Causal: true,
			Rotary: nn.RotaryConfig{Base: 100}, Weight: nn.Normal(0.6)}))
	}
	return m
}

func (m *model) Forward(tokens *tensor.Tensor, cache *nn.KVCache) *autograd.Node {
	if m.wrong != nil {
		return autograd.Const(tensor.Zeros(tokens.Device(), m.wrong...))
	}
	positions := cache.Next(tokens)
	h := m.Words.Forward(tokens)
	if m.Places != nil {
		h = h.Add(m.Places.Forward(positions))
	}
	for _, b := range m.Blocks {
		h = b.Cached(h, cache)
	}
	return m.Head.Forward(h)
}

// continued returns n tokens behind a prompt, without a cache: the likeliest of all that the model sees of
// the last tokens. When it has seen most, it goes on with the last keep.
func (m *model) continued(t *testing.T, d tensor.Device, prompt []int32, n, keep int, penalty float64) (tokens []int32) {
	t.Helper()
	window, all := slices.Clone(prompt), slices.Clone(prompt)
	for range n {
		if len(window) > length {
			window = window[len(window)-keep:]
		}
		autograd.NoGrad(d, func() {
			scores, err := m.Forward(tensor.New(d, window, 1, len(window)), nil).Select(1, -1).Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i := range scores {
				switch seen := slices.Contains(all, int32(i)); {
				case seen && scores[i] < 0:
					scores[i] *= penalty
				case seen:
					scores[i] /= penalty
				}
			}
			next := int32(slices.Index(scores, slices.Max(scores)))
			tokens, window, all = append(tokens, next), append(window, next), append(all, next)
		})
	}
	return tokens
}

// TestGreedy: a generator writes what the model without a cache writes, prompt after prompt, beyond the
// length of the cache where it keeps some tokens; with the kernels for GPUs, too.
func TestGreedy(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		m := newModel(d)
		for _, keep := range []int{0, 1, 5, length - 1} {
			for _, penalty := range []float64{1, 1.6} {
				n := 20
				if keep == 0 {
					n = 5
				}
				g, err := generate.New(d, m, generate.Config{Length: length, Batch: 2, Keep: keep, Sample: generate.SampleOptions{RepetitionPenalty: penalty}})
				if err != nil {
					t.Fatal(err)
				}
				for _, prompts := range [][][]int32{{{1, 2, 3}, {10, 0, 4}}, {{5}, {6}}, {{1, 2, 3, 1}, {2, 2, 2, 2}}} {
					got, err := g.Take(n, prompts...)
					if err != nil {
						t.Fatal(err)
					}
					for i, p := range prompts {
						if want := m.continued(t, d, p, n, keep, penalty); !slices.Equal(got[i], want) {
							t.Errorf("keep %d, penalty %v: %v continues %v, want %v", keep, penalty, p, got[i], want)
						}
					}
				}
				g.Free()
			}
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// TestLongPrompt: of a prompt beyond the cache its end counts, if tokens are kept, and else it is an error;
// so is a cache that is full.
func TestLongPrompt(t *testing.T) {
	d := devtest.CPU(t)
	m := newModel(d)
	long := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	g, err := generate.New(d, m, generate.Config{Length: length, Keep: 4})
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Take(6, long)
	if want := m.continued(t, d, long[2:], 6, 4, 1); err != nil || !slices.Equal(got[0], want) {
		t.Errorf("%v, want %v, err %v", got, want, err)
	}
	g.Free()
	if g, err = generate.New(d, m, generate.Config{Length: length}); err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	if _, err := g.Take(6, long); !errors.Is(err, nn.ErrCacheFull) || !strings.Contains(err.Error(), "10 more do not fit behind 0 of 8") {
		t.Errorf("a long prompt: %v", err)
	}
	if got, err := g.Take(20, long[:3]); !errors.Is(err, nn.ErrCacheFull) || len(got[0]) != length-3+1 {
		t.Errorf("a full cache: %d tokens, %v", len(got[0]), err)
	}
	if got, err := g.Take(2, long[:3]); err != nil || len(got[0]) != 2 {
		t.Errorf("after a full cache: %v, %v", got, err)
	}
}

// TestSeed: one seed gives the same tokens, and the RNG goes on from prompt to prompt.
func TestSeed(t *testing.T) {
	d := devtest.CPU(t)
	m := newModel(d)
	var texts []string
	for _, seed := range []uint64{1, 1, 2} {
		rng := tensor.NewRNG(seed)
		g, err := generate.New(d, m, generate.Config{Length: length, Keep: 4, RNG: rng, Sample: generate.SampleOptions{Temperature: 2, TopP: 0.95}})
		if err != nil {
			t.Fatal(err)
		}
		if rng.Calls != 0 {
			t.Errorf("New has drawn %d times", rng.Calls)
		}
		for range 2 {
			got, err := g.Take(30, []int32{1})
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, fmt.Sprint(got))
		}
		g.Free()
	}
	if texts[0] != texts[2] || texts[1] != texts[3] {
		t.Error("one seed gives other tokens")
	}
	if texts[0] == texts[1] || texts[0] == texts[4] {
		t.Error("the tokens of all are the same")
	}
}

// TestMisuse: settings, models and prompts that are wrong are errors.
func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	good := generate.Config{Length: 4}
	for name, c := range map[string]struct {
		change func(c *generate.Config, m *model)
		want   string
	}{
		"length":       {func(c *generate.Config, m *model) { c.Length = 1 }, "Length is 1"},
		"batch":        {func(c *generate.Config, m *model) { c.Batch = -1 }, "Batch is -1"},
		"keep":         {func(c *generate.Config, m *model) { c.Keep = 4 }, "Keep is 4"},
		"RNG":          {func(c *generate.Config, m *model) { c.Sample.Temperature = 1 }, "the RNG is nil"},
		"sample":       {func(c *generate.Config, m *model) { c.Sample.TopP = 2 }, "TopP is 2"},
		"no attention": {func(c *generate.Config, m *model) { m.Blocks = nil }, "no MultiHeadAttention"},
		"scores":       {func(c *generate.Config, m *model) { m.wrong = []int{1, words} }, "the model returns scores [1, 1 or more, words]"},
		"few words": {func(c *generate.Config, m *model) {
			m.Words = nn.NewEmbedding(d, tensor.NewRNG(1), nn.EmbeddingConfig{Rows: 3, Size: 8})
		}, "axis 0 has 3"},
		"few places": {func(c *generate.Config, m *model) {
			m.Places = nn.NewEmbedding(d, tensor.NewRNG(1), nn.EmbeddingConfig{Rows: 3, Size: 8})
		}, "a table of positions has as many rows as Length, 4, or more"},
		"training": {func(c *generate.Config, m *model) {
			m.Blocks[0] = nn.NewTransformerBlock(d, tensor.NewRNG(1), nn.TransformerBlockConfig{Size: 8, Heads: 4, Causal: true, Dropout: 0.5})
		}, "nn.Eval"},
	} {
		m, cfg := newModel(d), good
		c.change(&cfg, m)
		if _, err := generate.New(d, m, cfg); err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "generate: ") != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	g, err := generate.New(d, newModel(d), generate.Config{Length: 4, Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	for want, prompts := range map[string][][]int32{
		"1 prompts for a Batch of 2": {{1}}, "prompt 1 has 2 tokens, the first 1": {{1}, {1, 2}}, "prompt 0 has 0 tokens": {{}, {}},
		"prompt 1 has the token 11: tokens are 0 to 10": {{1}, {11}}, "prompt 0 has the token -1": {{-1}, {1}},
	} {
		if _, err := g.Take(1, prompts...); err == nil || !strings.HasPrefix(err.Error(), "generate: Generate: bad value: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
