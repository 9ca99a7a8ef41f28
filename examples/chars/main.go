// Chars trains a small transformer to continue a text, character by character, and writes what it makes up.
//
//	go run ./examples/chars --steps 2000 --checkpoint chars.safetensors
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/checkpoint"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
	"golang.org/x/term"
)

var (
	text        = flag.String("text", "examples/chars/testdata/opticks.txt", "the text, a `file` in UTF-8")
	device      = flag.String("device", "", "what to compute on, such as cpu, opencl or nvidia")
	seed        = flag.Uint64("seed", 1, "`number` that weights, batches and what is written follow from")
	blocks      = flag.Int("blocks", 2, "how `many` blocks there are")
	width       = flag.Int("width", 64, "`features` of a character")
	heads       = flag.Int("heads", 4, "how `many` heads a block has")
	window      = flag.Int("context", 64, "how many `characters` it sees")
	batch       = flag.Int("batch", 16, "`pieces` of the text in a step")
	steps       = flag.Int("steps", 2000, "`number` of steps")
	rate        = flag.Float64("lr", 1e-3, "learning `rate`")
	length      = flag.Int("write", 500, "`characters` to write")
	temperature = flag.Float64("temperature", 0.8, "0 writes what is likeliest, larger `numbers` more of the rest")
	file        = flag.String("checkpoint", "", "`file` to keep the run in, and to go on from if it is there")
	every       = flag.Duration("every", 3*time.Second, "`time` between lines that say the loss, and between checkpoints")
	asJSON      = flag.Bool("json", false, "print the results as JSON, too")
)

// corpus is a text as numbers of its characters.
type corpus struct {
	alphabet    []rune
	train, test []int32 // the last tenth is for testing
	digest      [sha256.Size]byte
}

func read(path string) (c corpus, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if !utf8.Valid(raw) {
		return c, fmt.Errorf("%s is no text in UTF-8", path)
	}
	runes := []rune(string(raw))
	c.alphabet = slices.Clone(runes)
	slices.Sort(c.alphabet)
	c.alphabet = slices.Compact(c.alphabet)
	numbers := make([]int32, len(runes))
	for i, r := range runes {
		at, _ := slices.BinarySearch(c.alphabet, r)
		numbers[i] = int32(at)
	}
	c.train, c.test = numbers[:len(numbers)*9/10], numbers[len(numbers)*9/10:]
	if len(c.test) <= *window {
		return c, fmt.Errorf("%s has %d characters: a tenth of them is to be more than the context of %d", path, len(runes), *window)
	}
	c.digest = sha256.Sum256(raw)
	return c, nil
}

type model struct {
	Words, Places *nn.Embedding
	Blocks        nn.Sequential
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
		m.Blocks = append(m.Blocks, nn.NewTransformerBlock(d, rng,
			nn.TransformerBlockConfig{Size: *width, Heads: *heads, Activation: nn.GELU, NormFirst: true, Causal: true}))
	}
	return m
}

// scores returns, for characters x [n, length], what the model thinks of each as the next one: [n·length, words].
func (m *model) scores(x *tensor.Tensor) *autograd.Node {
	h := m.Words.Forward(x).Add(m.Places.Weight.Slice(0, 0, x.Shape()[1]))
	return m.Head.Forward(m.Norm.Forward(m.Blocks.Forward(h))).Flatten(0, 1)
}

// pieces returns those of a text that begin at starts, as one list, and the characters that follow.
func pieces(text []int32, starts []int) (x, y []int32) {
	for _, at := range starts {
		x, y = append(x, text[at:at+*window]...), append(y, text[at+1:at+1+*window]...)
	}
	return x, y
}

// run is what a checkpoint has beside the weights and the optimizer's state.
type run struct {
	Settings string
	Step     int
}

// trainer does steps of training, on batches that are uploaded to x and y.
type trainer struct {
	net  *model
	opt  optim.Optimizer
	x, y *tensor.Tensor
}

func newTrainer(d tensor.Device, words int) *trainer {
	t := &trainer{net: newModel(d, words), x: tensor.ZerosOf(d, tensor.Int32, *batch, *window), y: tensor.ZerosOf(d, tensor.Int32, *batch**window)}
	t.opt = optim.NewAdamW(nn.Params(t.net), optim.AdamWDefaults(optim.Constant(*rate)))
	return t
}

func (t *trainer) step() ([]*tensor.Tensor, error) {
	loss := autograd.CrossEntropy(t.net.scores(t.x), t.y)
	return []*tensor.Tensor{loss.Value()}, optim.Minimize(t.opt, loss)
}

// load sets x and y to the batch of a step.
func (t *trainer) load(text []int32, step int) {
	rng := rand.New(rand.NewPCG(*seed, uint64(step)))
	starts := make([]int, *batch)
	for i := range starts {
		starts[i] = rng.IntN(len(text) - *window)
	}
	x, y := pieces(text, starts)
	tensor.Upload(t.x, x)
	tensor.Upload(t.y, y)
}

// train goes on with a run until its last step, or until ctx ends. It returns the mean time of a step.
func (t *trainer) train(ctx context.Context, d tensor.Device, c corpus) (step time.Duration, err error) {
	now := run{Settings: fmt.Sprintf("blocks %d, width %d, heads %d, context %d, batch %d, lr %g, seed %d, text %.12x",
		*blocks, *width, *heads, *window, *batch, *rate, *seed, c.digest)}
	parts := checkpoint.Parts{"model": nn.StateDict(t.net), "optimizer": t.opt, "run": &now}
	settings := now.Settings
	var start bytes.Buffer
	if err := checkpoint.Write(&start, parts); err != nil {
		return 0, err
	}
	rec, err := replay.Record(d, t.step)
	if err != nil {
		return 0, err
	}
	defer rec.Free()
	// To be recorded, the step was done twice: the run begins where it was before.
	if err := checkpoint.Read(bytes.NewReader(start.Bytes()), int64(start.Len()), parts); err != nil {
		return 0, err
	}
	if *file != "" {
		if err := checkpoint.Load(*file, parts); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if now.Settings != settings {
			return 0, fmt.Errorf("%s is of a run with %s, and this one has %s", *file, now.Settings, settings)
		}
	}
	began, first, said := time.Now(), now.Step, time.Now()
	for stop := false; !stop && now.Step < *steps; {
		t.load(c.train, now.Step)
		if err := rec.Run(); err != nil {
			return 0, err
		}
		now.Step++
		if stop = ctx.Err() != nil; !stop && now.Step < *steps && time.Since(said) < *every {
			continue
		}
		loss, err := rec.Outputs()[0].Item()
		if err != nil {
			return 0, err
		}
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return 0, fmt.Errorf("the loss is %v after step %d: try a smaller --lr", loss, now.Step)
		}
		if *file != "" {
			if err := checkpoint.Save(*file, parts); err != nil {
				return 0, err
			}
		}
		said, step = time.Now(), time.Since(began)/time.Duration(now.Step-first)
		before, after := "", "\n"
		if term.IsTerminal(int(os.Stderr.Fd())) && !stop && now.Step < *steps {
			before, after = "\r\x1b[K", ""
		}
		fmt.Fprintf(os.Stderr, "%sstep %d of %d, loss %.4f, %d µs a step%s", before, now.Step, *steps, loss, step.Microseconds(), after)
	}
	if now.Step < *steps {
		return step, fmt.Errorf("interrupted after step %d of %d", now.Step, *steps)
	}
	return step, nil
}

// test returns the loss on what the model has not seen, and the part of the characters that it foresees.
func (m *model) test(d tensor.Device, text []int32) (loss, accuracy float64, err error) {
	var starts []int
	for at := 0; at+*window < len(text) && len(starts) < 64; at += *window {
		starts = append(starts, at)
	}
	x, y := pieces(text, starts)
	autograd.NoGrad(d, func() {
		scores, labels := m.scores(tensor.New(d, x, len(starts), *window)), tensor.New(d, y)
		if loss, err = autograd.CrossEntropy(scores, labels).Item(); err == nil {
			accuracy, err = scores.ArgMax(1).Eq(labels).To(tensor.Real).Mean().Item()
		}
	})
	return loss, accuracy, err
}

// write returns what the model makes up after a first character.
func (m *model) write(d tensor.Device, alphabet []rune, first int32) (string, error) {
	rng := rand.New(rand.NewPCG(*seed, math.MaxUint64))
	numbers, runes := []int32{first}, []rune{}
	for range *length {
		var scores []float64
		var err error
		tensor.Scope(d, func() {
			autograd.NoGrad(d, func() {
				tail := numbers[max(0, len(numbers)-*window):]
				scores, err = m.scores(tensor.New(d, tail, 1, len(tail))).Select(0, -1).Value().Float64s()
			})
		})
		if err != nil {
			return "", err
		}
		// The largest, with a number of Gumbel's distribution added to each score, is drawn from the softmax.
		best, most := 0, math.Inf(-1)
		for i, score := range scores {
			if score -= *temperature * math.Log(rng.ExpFloat64()); score > most {
				best, most = i, score
			}
		}
		numbers, runes = append(numbers, int32(best)), append(runes, alphabet[best])
	}
	return string(runes), nil
}

func chars(ctx context.Context) error {
	if min(*blocks, *width, *heads, *window, *batch) < 1 || *width%*heads != 0 || min(*steps, *length) < 0 || !(*temperature >= 0) {
		return errors.New("sizes are 1 or more, heads divide the width, and steps, what is written and temperature are 0 or more")
	}
	c, err := read(*text)
	if err != nil {
		return err
	}
	d, err := tensor.Open(*device)
	if err != nil {
		return err
	}
	defer d.Close()
	var t *trainer
	if err := tensor.Maybe(func() { t = newTrainer(d, len(c.alphabet)) }); err != nil {
		return err
	}
	step, err := t.train(ctx, d, c)
	if err != nil {
		return err
	}
	loss, accuracy, err := t.net.test(d, c.test)
	if err != nil {
		return err
	}
	said, err := t.net.write(d, c.alphabet, c.train[0])
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%s\n\nloss %.4f, %.2f %% are foreseen, in text that was not trained on\n", said, loss, 100*accuracy)
	if err == nil && *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"accuracy": accuracy, "loss": loss, "step_us": step.Microseconds(), "device": d.Name()})
	}
	return err
}

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := chars(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "chars:", err)
		os.Exit(1)
	}
}
