// GPT2 continues a text with a GPT-2 in Hugging Face's layout: a folder with config.json,
// model.safetensors, vocab.json and merges.txt.
//
//	go run ./examples/gpt2 --model gpt2 --text "Not all those who wander"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

var (
	folder      = pflag.String("model", "", "`folder` of the model")
	text        = pflag.String("text", "", "the `text` to continue")
	device      = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	length      = pflag.Int("write", 40, "`tokens` to write")
	temperature = pflag.Float64("temperature", 0, "0 writes what is likeliest, larger `numbers` more of the rest")
	topK        = pflag.Int("top-k", 0, "`number` of the likeliest tokens to draw from; 0: all")
	topP        = pflag.Float64("top-p", 0, "`probability` that the tokens to draw from have together; 0: all")
	penalty     = pflag.Float64("repetition-penalty", 1, "`factor` against tokens that were there before")
	seed        = pflag.Uint64("seed", 1, "`number` that draws follow from")
)

// config is what is read of config.json.
type config struct {
	Vocab     int     `json:"vocab_size"`
	Positions int     `json:"n_positions"`
	Width     int     `json:"n_embd"`
	Blocks    int     `json:"n_layer"`
	Heads     int     `json:"n_head"`
	Hidden    int     `json:"n_inner"` // 0: 4·Width
	Eps       float64 `json:"layer_norm_epsilon"`
}

// model is a GPT-2. The scores are products with the table of tokens.
type model struct {
	Tokens, Positions *nn.Embedding
	Blocks            []*nn.TransformerBlock
	Norm              *nn.LayerNorm
}

func newModel(d tensor.Device, c config) *model {
	rng := tensor.NewRNG(0)
	m := &model{
		Tokens:    nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: c.Vocab, Size: c.Width, Weight: nn.Zeros}),
		Positions: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: c.Positions, Size: c.Width, Weight: nn.Zeros}),
		Norm:      nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{c.Width}, Eps: c.Eps}),
	}
	for range c.Blocks {
		m.Blocks = append(m.Blocks, nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: c.Width, Heads: c.Heads, Hidden: c.Hidden,
			Activation: nn.FromFunction(fn.GELUTanh), NormFirst: true, Causal: true, Eps: c.Eps, Weight: nn.Zeros}))
	}
	return m
}

// Forward returns the scores of the token behind the last, [batch, 1, vocab].
func (m *model) Forward(tokens *tensor.Tensor, cache *nn.KVCache) *autograd.Node {
	h := m.Tokens.Forward(tokens).Add(m.Positions.Forward(cache.Next(tokens)))
	for _, b := range m.Blocks {
		h = b.Cached(h, cache)
	}
	return m.Norm.Forward(h.Slice(1, -1, tensor.End)).MatMul(m.Tokens.Weight.T())
}

// names are those of the model's parameters for Hugging Face's.
var names = strings.NewReplacer("wte.", "tokens.", "wpe.", "positions.", "ln_f.", "norm.", "h.", "blocks.", "ln_1.", "norm1.", "ln_2.", "norm2.",
	"attn.c_attn.", "self_attn.in_proj_", "attn.c_proj.", "self_attn.out_proj.", "mlp.c_fc.", "linear1.", "mlp.c_proj.", "linear2.")

// load returns the model of a folder.
func load(d tensor.Device, folder string) (*model, config, error) {
	c := config{Eps: 1e-5}
	if err := readJSON(filepath.Join(folder, "config.json"), &c); err != nil {
		return nil, c, err
	}
	if min(c.Vocab, c.Positions-1, c.Width, c.Blocks, c.Heads) < 1 || c.Hidden < 0 || c.Width%c.Heads != 0 {
		return nil, c, fmt.Errorf("%s: config.json is of no GPT-2: %+v", folder, c)
	}
	path := filepath.Join(folder, "model.safetensors")
	file, _, err := tensor.LoadSafetensors(d, path)
	if err != nil {
		return nil, c, err
	}
	dict, shapes := tensor.Dict{}, map[string][]int{}
	for name, t := range file {
		name = strings.TrimPrefix(name, "transformer.")
		shapes[name] = t.Shape()
		switch {
		case strings.HasSuffix(name, ".attn.bias"), strings.HasSuffix(name, ".attn.masked_bias"), name == "lm_head.weight":
			continue // masks, and the table of tokens again
		case strings.Contains(name, ".c_") && strings.HasSuffix(name, ".weight") && t.Rank() == 2:
			t = t.T() // [in, out] in the file, and [out, in] in state dicts
		}
		dict[names.Replace(name)] = t
	}
	if err := c.check(shapes); err != nil {
		return nil, c, fmt.Errorf("%s: %w", path, err)
	}
	m := newModel(d, c)
	if err := nn.LoadStateDict(m, dict); err != nil {
		return nil, c, fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range file {
		t.Free()
	}
	return m, c, nil
}

// check returns an error unless tensors have the sizes of a config: before a model is made, of any size.
func (c config) check(shapes map[string][]int) error {
	hidden := c.Hidden
	if hidden == 0 {
		hidden = 4 * c.Width
	}
	for _, want := range []struct {
		name  string
		shape []int
	}{
		{"wte.weight", []int{c.Vocab, c.Width}}, {"wpe.weight", []int{c.Positions, c.Width}},
		{fmt.Sprintf("h.%d.mlp.c_fc.bias", c.Blocks-1), []int{hidden}},
	} {
		if got, is := shapes[want.name]; !is || !slices.Equal(got, want.shape) {
			return fmt.Errorf("%s has shape %v, and %v by config.json", want.name, got, want.shape)
		}
	}
	return nil
}

func readJSON(path string, to any) error {
	raw, err := os.ReadFile(path)
	if err == nil {
		if err = json.Unmarshal(raw, to); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return err
}

// write calls f with the text of each token behind a prompt, and returns how many tokens a second there
// were behind the first.
func write(ctx context.Context, g *generate.Generator, t *tokenizer, prompt []int32, n int, f func(text string)) (speed float64, err error) {
	var began time.Time
	written := 0
	for next, err := range g.Generate(prompt) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		f(t.decode(next))
		if written++; written == 1 {
			began = time.Now()
		}
		if written == n {
			break
		}
	}
	return float64(written-1) / time.Since(began).Seconds(), nil
}

func gpt2(ctx context.Context) error {
	if *folder == "" || *length < 1 {
		return errors.New("--model names a folder, and --write is 1 or more")
	}
	t, err := readTokenizer(*folder)
	if err != nil {
		return err
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	m, c, err := load(d, *folder)
	if err != nil {
		return err
	}
	prompt := t.encode(*text)
	if len(prompt) == 0 {
		prompt = []int32{t.end}
	}
	g, err := generate.New(d, m, generate.Config{Length: c.Positions, Keep: c.Positions / 2, RNG: tensor.NewRNG(*seed),
		Sample: generate.SampleOptions{Temperature: *temperature, TopK: *topK, TopP: *topP, RepetitionPenalty: *penalty}})
	if err != nil {
		return err
	}
	defer g.Free()
	fmt.Print(*text)
	speed, err := write(ctx, g, t, prompt, *length, func(text string) { fmt.Print(text) })
	fmt.Println()
	if err == nil {
		fmt.Fprintf(os.Stderr, "%.1f tokens a second, %d launches each\n", speed, g.Report().Launches)
	}
	return err
}

func main() { program.Interruptible("gpt2", gpt2) }
