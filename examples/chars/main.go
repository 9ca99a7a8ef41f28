// Chars trains a small transformer to continue a text, character by character, and writes what it
// makes up.
//
//	go run ./examples/chars --steps 2000 --checkpoint chars.safetensors
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/checkpoint"
	"github.com/clgrad/clgrad/examples/internal/program"
	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

var (
	text        = pflag.String("text", "examples/chars/testdata/opticks.txt", "the text, a `file` in UTF-8")
	device      = pflag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	seed        = pflag.Uint64("seed", 1, "`number` that weights, batches and what is written follow from")
	blocks      = pflag.Int("blocks", 2, "how `many` blocks there are")
	width       = pflag.Int("width", 64, "`features` of a character")
	heads       = pflag.Int("heads", 4, "how `many` heads a block has")
	window      = pflag.Int("context", 64, "how many `characters` it sees")
	batch       = pflag.Int("batch", 16, "`pieces` of the text in a step")
	steps       = pflag.Int("steps", 2000, "`number` of steps")
	rate        = pflag.Float64("lr", 1e-3, "learning `rate`")
	length      = pflag.Int("write", 500, "`characters` to write")
	temperature = pflag.Float64("temperature", 0.8, "0 writes what is likeliest, larger `numbers` more of the rest")
	file        = pflag.String("checkpoint", "", "`file` to keep the run in, and to resume from if it is there")
	every       = pflag.Duration("every", 3*time.Second, "`time` between lines that say the loss, and between checkpoints")
	typ         = program.MixedPrecision()
	asJSON      = pflag.Bool("json", false, "print the results as JSON, too")
)

// read returns the characters that a text has, and the text as their numbers.
func read(path string) (alphabet []rune, numbers []int32, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	runes := []rune(string(raw))
	if !utf8.Valid(raw) || len(runes)-len(runes)*9/10 <= *window {
		return nil, nil, fmt.Errorf("%s is no text in UTF-8 of which a tenth is more than the context of %d", path, *window)
	}
	alphabet = slices.Compact(slices.Sorted(slices.Values(runes)))
	for _, r := range runes {
		at, _ := slices.BinarySearch(alphabet, r)
		numbers = append(numbers, int32(at))
	}
	return alphabet, numbers, nil
}

type model struct {
	Words, Places *nn.Embedding
	Blocks        []*nn.TransformerBlock
	Norm          *nn.LayerNorm
	Head          *nn.Linear
}

func newModel(d tensor.Device, words int) *model {
	rng := tensor.NewRNG(*seed)
	m := &model{
		Words:  nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: words, Size: *width}),
		Places: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: *window, Size: *width}),
		Norm:   nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{*width}}),
		Head:   nn.NewLinear(d, rng, nn.LinearConfig{In: *width, Out: words}),
	}
	for range *blocks {
		m.Blocks = append(m.Blocks, nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: *width, Heads: *heads, Activation: nn.GELU, NormFirst: true, Causal: true}))
	}
	return m
}

// Forward returns, for characters x [n, length], what the model thinks of each as the next one:
// [n, length, words]. cache has the keys and values of those before x; nil: there are none.
func (m *model) Forward(x *tensor.Tensor, cache *nn.KVCache) *autograd.Node {
	h := m.Words.Forward(x).Add(m.Places.Forward(cache.Next(x)))
	for _, b := range m.Blocks {
		h = b.Cached(h, cache)
	}
	return m.Head.Forward(m.Norm.Forward(h))
}

// pieces returns those of a text that begin at starts, and the characters that follow on theirs.
func pieces(d tensor.Device, text []int32, starts []int) (x, y *tensor.Tensor) {
	var these, next []int32
	for _, at := range starts {
		these, next = append(these, text[at:at+*window]...), append(next, text[at+1:at+1+*window]...)
	}
	return tensor.New(d, these, len(starts), *window), tensor.New(d, next)
}

func newOptimizer(m *model) optim.Optimizer {
	return optim.NewAdamW(nn.Params(m), optim.AdamWDefaults(optim.Constant(*rate)))
}

// train continues with a run until its last step, or until ctx ends. It returns the mean time of a
// step.
func (m *model) train(ctx context.Context, d tensor.Device, text []int32) (step time.Duration, err error) {
	opt, now := newOptimizer(m), 0
	settings := fmt.Sprintf("blocks %d, width %d, heads %d, context %d, batch %d, lr %g, seed %d, type %v, text %.6x",
		*blocks, *width, *heads, *window, *batch, *rate, *seed, *typ, sha256.Sum256(fmt.Append(nil, text)))
	kept := settings
	parts := checkpoint.State{"model": nn.StateDict(m), "optimizer": opt, "settings": &kept, "step": &now}
	if *file != "" {
		if err := checkpoint.Load(*file, parts); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if kept != settings {
			return 0, fmt.Errorf("%s is of a run with %s, and this one has %s", *file, kept, settings)
		}
	}
	began, first, said := time.Now(), now, time.Now()
	for stop := false; !stop && now < *steps; {
		rng, starts := rand.New(rand.NewPCG(*seed, uint64(now))), make([]int, *batch) // so a run needs no state to continue
		for i := range starts {
			starts[i] = rng.IntN(len(text) - *window)
		}
		x, y := pieces(d, text, starts)
		var loss *autograd.Node
		autograd.Autocast(d, *typ, func() { loss = autograd.CrossEntropy(m.Forward(x, nil).Flatten(0, 1), y) })
		if err := optim.Minimize(opt, loss); err != nil {
			return 0, err
		}
		now++
		if stop = ctx.Err() != nil; !stop && now < *steps && time.Since(said) < *every {
			continue
		}
		value, err := loss.Item()
		if err == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
			err = fmt.Errorf("the loss is %v after step %d: try a smaller --lr", value, now)
		}
		if err == nil && *file != "" {
			err = checkpoint.Save(*file, parts)
		}
		if err != nil {
			return 0, err
		}
		said, step = time.Now(), time.Since(began)/time.Duration(now-first)
		end := "\n"
		if term.IsTerminal(int(os.Stderr.Fd())) && !stop && now < *steps {
			end = "  \r" // the next line comes over this one
		}
		fmt.Fprintf(os.Stderr, "step %d of %d, loss %.4f, %d µs a step%s", now, *steps, value, step.Microseconds(), end)
	}
	if now < *steps {
		return 0, fmt.Errorf("interrupted after step %d of %d", now, *steps)
	}
	return step, nil
}

// test returns the loss on what the model has not seen, and the part of the characters that it
// foresees.
func (m *model) test(d tensor.Device, text []int32) (loss, accuracy float64, err error) {
	var starts []int
	for at := 0; at+*window < len(text) && len(starts) < 64; at += *window {
		starts = append(starts, at)
	}
	x, y := pieces(d, text, starts)
	autograd.NoGrad(d, func() {
		scores := m.Forward(x, nil).Flatten(0, 1)
		if loss, err = autograd.CrossEntropy(scores, y).Item(); err == nil {
			accuracy, err = scores.ArgMax(1).Eq(y).To(tensor.Float32).Mean().Item()
		}
	})
	return loss, accuracy, err
}

// write returns what the model makes up after a first character.
func (m *model) write(d tensor.Device, alphabet []rune, first int32) (text string, err error) {
	g, err := generate.New(d, m, generate.Config{Length: *window, Keep: *window / 2,
		Sample: generate.SampleOptions{Temperature: *temperature}, RNG: tensor.NewRNG(*seed)})
	if err != nil {
		return "", err
	}
	defer g.Free()
	tokens, err := g.Take(*length, []int32{first})
	for _, token := range tokens[0] {
		text += string(alphabet[token])
	}
	return text, err
}

func chars(ctx context.Context) error {
	if min(*blocks, *width, *heads, *window-1, *batch) < 1 || *width%*heads != 0 || min(*steps, *length) < 0 || !(*temperature >= 0) {
		return errors.New("sizes are 1 or more, the context 2, heads divide the width, and steps, what is written and temperature are 0 or more")
	}
	alphabet, numbers, err := read(*text)
	if err != nil {
		return err
	}
	// The largest tensors: scores, attentions and what the blocks have inside, for a step, and
	// weights.
	step := float64(*batch) * float64(*window) * max(float64(len(alphabet)), float64(*heads)*float64(*window), 4*float64(*width))
	if weights := 4 * float64(*width) * max(float64(*width), float64(len(alphabet))); max(step, weights) > math.MaxInt32 {
		return errors.New("these sizes make tensors of more than 2147483647 numbers: choose smaller ones")
	}
	d, err := tensor.Open(*device, tensor.Options{Builds: program.Builds})
	if err != nil {
		return err
	}
	defer d.Close()
	net, seen := newModel(d, len(alphabet)), len(numbers)*9/10
	took, err := net.train(ctx, d, numbers[:seen])
	if err != nil {
		return err
	}
	loss, accuracy, err := net.test(d, numbers[seen:])
	said, failed := net.write(d, alphabet, numbers[0])
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	_, err = fmt.Printf("%s\n\nloss %.4f, %.2f %% are foreseen, in text that was not trained on\n", said, loss, 100*accuracy)
	if err == nil && *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"accuracy": accuracy, "loss": loss, "step_us": took.Microseconds(), "device": d.Name()})
	}
	return err
}

func main() { program.Interruptible("chars", chars) }
