package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// seenOf returns which of so many words are in each list.
func seenOf(d tensor.Device, lists [][]int, words int) *tensor.Tensor {
	seen := make([]bool, len(lists)*words)
	for i, list := range lists {
		for _, token := range list {
			seen[i*words+token] = true
		}
	}
	return tensor.New(d, seen, len(lists), words)
}

// TestNumbers: tokens have the probabilities of Hugging Face's processors.
func TestNumbers(t *testing.T) {
	raw, err := os.ReadFile("../testdata/generation/sampling.json") // by scripts/generation/reference.py
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Scores [][]float64
		Seen   [][]int
		Cases  []struct {
			Penalty, Temperature, TopP float64
			TopK                       int
			Probabilities              [][]float64
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range file.Cases {
			n, words := len(c.Probabilities), len(file.Scores[0])
			o := SampleOptions{RepetitionPenalty: c.Penalty, Temperature: c.Temperature, TopK: c.TopK, TopP: c.TopP}
			scores := devtest.New(d, slices.Concat(file.Scores[:n]...), n, words)
			got, err := o.processed(scores, seenOf(d, file.Seen[:n], words)).Softmax(1).Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range slices.Concat(c.Probabilities...) {
				if !(math.Abs(got[i]-want) <= 1e-6) || want == 0 && got[i] != 0 {
					t.Errorf("%+v: element %d is %v, want %v", o, i, got[i], want)
				}
			}
		}
	})
}

// TestTies: what is as likely as the last that is kept is kept, too.
func TestTies(t *testing.T) {
	d := devtest.CPU(t)
	scores := tensor.New(d, []float64{1, 3, 2, 2, 0, math.Inf(-1)}, 1, 6)
	for o, want := range map[SampleOptions]string{
		{Temperature: 1, TopK: 2}:                "[false true true true false false]",
		{Temperature: 1, TopK: 6}:                "[true true true true true false]",
		{Temperature: 1, TopK: 1, TopP: 0.9}:     "[false true false false false false]",
		{Temperature: 1, TopP: 0.6}:              "[false true true true false false]",
		{Temperature: 1, TopP: 1}:                "[true true true true true false]",
		{Temperature: 1, TopP: 1e-9}:             "[false true false false false false]",
		{Temperature: 1e-3, TopK: 5, TopP: 0.99}: "[false true false false false false]",
	} {
		if got, err := o.processed(scores, nil).IsFinite().Bools(); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%+v keeps %v, want %v, err %v", o, got, want, err)
		}
	}
}

// TestDraws: tokens come as often as they are likely, greedy ones are the first of the highest, and one
// seed gives the same tokens, eagerly and recorded.
func TestDraws(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n = 4000
		p := []float64{0.5, 0.3, 0.15, 0.05}
		scores := devtest.New(d, p, 1, 4).Log().Expand(n, 4)
		for o, want := range map[SampleOptions][]float64{
			{Temperature: 1}:            p,
			{Temperature: 1, TopK: 2}:   {0.625, 0.375, 0, 0},
			{Temperature: 0.5}:          {0.25 / 0.365, 0.09 / 0.365, 0.0225 / 0.365, 0.0025 / 0.365},
			{Temperature: 2, TopP: 0.3}: {1, 0, 0, 0},
			{}:                          {1, 0, 0, 0},
			{TopK: 3, TopP: 0.9}:        {1, 0, 0, 0},
		} {
			tokens, err := Sample(scores, nil, tensor.NewRNG(1), o).Int64s()
			if err != nil {
				t.Fatal(err)
			}
			counts := make([]float64, 4)
			for _, token := range tokens {
				counts[token]++
			}
			for i, c := range counts {
				if sd := math.Sqrt(n * want[i] * (1 - want[i])); math.Abs(c-n*want[i]) > 5*sd {
					t.Errorf("%+v: token %d comes %v times, want %v", o, i, c, n*want[i])
				}
			}
		}
		o := SampleOptions{Temperature: 1, TopK: 3, TopP: 0.99, RepetitionPenalty: 1.2}
		rng, seen := tensor.NewRNG(2), seenOf(d, [][]int{{0}, {1}, {2}}, 4)
		scores = tensor.NewRNG(3).Normal(d, 0, 1, 3, 4)
		var eager []string
		for range 6 {
			tokens, err := Sample(scores, seen, rng, o).Int64s()
			if err != nil {
				t.Fatal(err)
			}
			eager = append(eager, fmt.Sprint(tokens))
		}
		rng = tensor.NewRNG(2)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			return []*tensor.Tensor{Sample(scores, seen, rng, o)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range eager[2:] {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			if tokens, err := rec.Outputs()[0].Int64s(); err != nil || fmt.Sprint(tokens) != want {
				t.Errorf("recorded: %v, want %v, err %v", tokens, want, err)
			}
		}
		if slices.Equal(eager[:3], eager[3:]) {
			t.Error("it draws the same again")
		}
	})
}

// TestSampleMisuse: a wrong option, or wrong operands, are errors that name them.
func TestSampleMisuse(t *testing.T) {
	d := devtest.CPU(t)
	scores, rng := tensor.Zeros(d, 2, 3), tensor.NewRNG(1)
	of := func(o SampleOptions) func() { return func() { Sample(scores, nil, rng, o) } }
	for name, c := range map[string]struct {
		f    func()
		kind error
		text string
	}{
		"temperature": {of(SampleOptions{Temperature: -1}), tensor.ErrValue, "Temperature is -1"},
		"NaN":         {of(SampleOptions{Temperature: math.NaN()}), tensor.ErrValue, "Temperature is NaN"},
		"top-k":       {of(SampleOptions{TopK: -2}), tensor.ErrValue, "TopK is -2"},
		"top-p":       {of(SampleOptions{TopP: 1.5}), tensor.ErrValue, "TopP is 1.5"},
		"penalty":     {of(SampleOptions{RepetitionPenalty: -1}), tensor.ErrValue, "RepetitionPenalty is -1"},
		"unseen":      {of(SampleOptions{RepetitionPenalty: 2}), tensor.ErrValue, "needs to know what was seen"},
		"options":     {func() { Sample(scores, nil, rng, SampleOptions{}, SampleOptions{}) }, tensor.ErrValue, "give one"},
		"RNG":         {func() { Sample(scores, nil, nil, SampleOptions{Temperature: 1}) }, tensor.ErrValue, "tensor.NewRNG"},
		"no words":    {func() { Sample(tensor.Zeros(d, 2, 0), nil, rng) }, tensor.ErrShape, "one word or more"},
		"axes":        {func() { Sample(tensor.Zeros(d, 2), nil, rng) }, tensor.ErrShape, "[2]"},
		"seen":        {func() { Sample(scores, tensor.Zeros(d, 2, 3), rng, SampleOptions{RepetitionPenalty: 2}) }, tensor.ErrType, "of bool"},
		"another shape": {func() {
			Sample(scores, tensor.ZerosOf(d, tensor.Bool, 3), rng, SampleOptions{RepetitionPenalty: 2})
		}, tensor.ErrShape, "[2 3] [3]"},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if y := Sample(tensor.Zeros(d, 0, 3), nil, nil); !slices.Equal(y.Shape(), []int{0}) {
		t.Errorf("of no rows: %v", y.Shape())
	}
}

// TestKernels holds the penalty to its host kernel.
func TestKernels(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		k := fused.Map(penalty.Alone(), kernels.Float32, fused.AccessPattern{Rank: 1})
		if err := kerneltest.All(d, true, k); err != nil {
			t.Error(err)
		}
	})
}
