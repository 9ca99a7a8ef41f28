package generate_test

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// net is a model of one block, whose scores are products with its table of tokens.
type net struct {
	Words *nn.Embedding
	Block *nn.TransformerBlock
}

func (n *net) Forward(tokens *tensor.Tensor, cache *nn.KVCache) *autograd.Node {
	cache.Next(tokens)
	h := n.Block.Cached(n.Words.Forward(tokens), cache)
	last := h.Slice(1, -1, tensor.End)
	return last.MatMul(n.Words.Weight.T())
}

// A model continues a prompt, and then another one.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	const words = 8
	rng := tensor.NewRNG(1)
	model := &net{
		Words: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: words, Size: words}),
		Block: nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: words, Heads: 2, Causal: true}),
	}
	nn.Eval(model)

	g, err := generate.New(d, model, generate.Config{
		Length: 16,
		Sample: generate.SampleOptions{Temperature: 0.8, TopK: 3, RepetitionPenalty: 1.1},
		RNG:    rng,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Free()
	for _, prompt := range [][]int32{{3}, {1, 0}} {
		var written []int32
		for tokens, err := range g.Generate(prompt) {
			if err != nil {
				fmt.Println(err)
				return
			}
			if written = append(written, tokens[0]); len(written) == 4 {
				break
			}
		}
		fmt.Println(len(written), "tokens behind", prompt)
	}
	// Output:
	// 4 tokens behind [3]
	// 4 tokens behind [1 0]
}
