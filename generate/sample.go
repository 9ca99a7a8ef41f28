package generate

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// SampleOptions say how a token is drawn of scores. They are applied in this order, which is that of
// Hugging Face's transformers. The zero value is greedy: the token of the highest score.
type SampleOptions struct {
	// RepetitionPenalty divides the scores of tokens that were seen, or multiplies those below 0; 0 and 1:
	// none.
	RepetitionPenalty float64
	// Temperature divides the scores: below 1 likely tokens become likelier. 0, and below 1e-30 where
	// quotients overflow: greedy, whatever TopK and TopP say.
	Temperature float64
	// TopK is how many of the highest scores are kept; 0: all. Scores equal to the last of them are, too.
	TopK int
	// TopP keeps the most probable tokens whose probabilities together reach it, at least one; 0 and 1:
	// all. Those as probable as the last of them are kept, too.
	TopP float64
}

// check returns an error that says which option is out of range.
func (o SampleOptions) check() error {
	wrong := func(field string, value any, want string) error {
		return &tensor.Error{Pkg: "generate", Op: "Sample", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("%s is %v: %s", field, value, want)}
	}
	switch {
	case !(o.RepetitionPenalty >= 0) || math.IsInf(o.RepetitionPenalty, 1):
		return wrong("RepetitionPenalty", o.RepetitionPenalty, "it is finite and above 0, and 0 for none")
	case !(o.Temperature >= 0) || math.IsInf(o.Temperature, 1):
		return wrong("Temperature", o.Temperature, "it is finite, and 0 or more")
	case o.TopK < 0:
		return wrong("TopK", o.TopK, "it is 0 or more")
	case !(o.TopP >= 0 && o.TopP <= 1):
		return wrong("TopP", o.TopP, "it is in [0, 1]")
	}
	return nil
}

// greedy reports whether nothing is drawn.
func (o SampleOptions) greedy() bool { return o.Temperature < 1e-30 }

// penalizes reports whether what was seen counts.
func (o SampleOptions) penalizes() bool { return o.RepetitionPenalty != 0 && o.RepetitionPenalty != 1 }

// penalty is a score x, of a token that was seen where w is not 0, with a penalty.
var penalty = func() *kernels.Function {
	x, seen, p, zero := expr.Input(0), expr.Input(1), expr.Param(0), expr.Const(0)
	return &kernels.Function{Name: "repetition_penalty", Scalars: []float64{1.5},
		Value: expr.Where(seen.Eq(zero), x, expr.Where(x.Lt(zero), x.Mul(p), x.Div(p)))}
}()

// Sample returns a token for each row of scores [batch, words], in Int64 [batch]. seen, of Bool and the
// shape of the scores, says which tokens a RepetitionPenalty is for; nil without one. rng draws the tokens;
// nil for greedy options. In a recorded step each run draws anew.
//
// It panics with tensor.ErrShape for scores that have not two axes or no words, and for seen of another
// shape, with tensor.ErrType for seen of another type, and with tensor.ErrValue for options out of range, a
// penalty without seen, and other than greedy options without an RNG.
func Sample(scores, seen *tensor.Tensor, rng *tensor.RNG, options ...SampleOptions) *tensor.Tensor {
	var o SampleOptions
	if len(options) > 1 {
		misuse("Sample", tensor.ErrValue, fmt.Sprintf("%d SampleOptions: give one", len(options)))
	}
	if len(options) == 1 {
		o = options[0]
	}
	if err := o.check(); err != nil {
		panic(err)
	}
	mustBeScores(scores)
	if o.penalizes() {
		mustBeSeen(seen, scores)
	}
	if o.greedy() {
		return o.processed(scores, seen).ArgMax(1)
	}
	if rng == nil {
		misuse("Sample", tensor.ErrValue, "a Temperature needs an RNG: make one with tensor.NewRNG")
	}
	return o.processed(scores, seen).Softmax(1).Multinomial(1, false, rng).Reshape(-1)
}

// processed returns the scores whose softmax is drawn from: −∞ where a token is not kept.
func (o SampleOptions) processed(scores, seen *tensor.Tensor) *tensor.Tensor {
	if o.penalizes() {
		scores = tensor.Map(penalty, []float64{o.RepetitionPenalty}, scores, seen)
	}
	if o.greedy() {
		return scores
	}
	if scores.Type() == tensor.Float16 || scores.Type() == tensor.BFloat16 {
		scores = scores.To(tensor.Float32) // quotients and sums of probabilities have no room in 16 bits
	}
	scores = scores.DivScalar(min(o.Temperature, math.MaxFloat32))
	if lowest := o.lowest(scores); lowest != nil {
		scores = scores.MaskedFill(scores.Lt(lowest), math.Inf(-1))
	}
	return scores
}

// lowest returns the lowest score of each row that is kept, [batch, 1], nil if all are.
func (o SampleOptions) lowest(scores *tensor.Tensor) *tensor.Tensor {
	top, nucleus := o.TopK > 0 && o.TopK < scores.Shape()[1], o.TopP > 0 && o.TopP < 1
	if !top && !nucleus {
		return nil
	}
	var sorted *tensor.Tensor // from the highest
	if top {
		sorted, _ = scores.TopK(o.TopK, 1)
	} else {
		sorted, _ = scores.Sort(1, tensor.SortOptions{Descending: true})
	}
	if !nucleus {
		return sorted.Slice(1, -1, tensor.End)
	}
	p := sorted.Softmax(1)
	before := p.CumSum(1).Sub(p) // the probability of those above
	const least = 1e-37          // above 0 in float32: the first is kept
	return sorted.MaskedFill(before.GeScalar(max(o.TopP, least)), math.Inf(1)).Min(1, tensor.Keepdims)
}

func mustBeScores(scores *tensor.Tensor) {
	if scores == nil {
		misuse("Sample", tensor.ErrValue, "the scores are nil")
	}
	if shape := scores.Shape(); len(shape) != 2 || shape[1] == 0 {
		misuse("Sample", tensor.ErrShape, "scores are [batch, words], of one word or more", scores)
	}
}

func mustBeSeen(seen, scores *tensor.Tensor) {
	switch {
	case seen == nil:
		misuse("Sample", tensor.ErrValue, "a RepetitionPenalty needs to know what was seen: a Bool for each score", scores)
	case seen.Type() != tensor.Bool:
		misuse("Sample", tensor.ErrType, fmt.Sprintf("seen is of bool, not %v", seen.Type()), seen)
	case !slices.Equal(seen.Shape(), scores.Shape()):
		misuse("Sample", tensor.ErrShape, "seen has the shape of the scores", scores, seen)
	}
}

// misuse panics with an error about some tensors.
func misuse(op string, kind error, detail string, ts ...*tensor.Tensor) {
	e := &tensor.Error{Pkg: "generate", Op: op, Kind: kind, Detail: detail}
	for _, t := range ts {
		e.Shapes = append(e.Shapes, t.Shape())
	}
	panic(e)
}
