// Package generate continues sequences of tokens with a model: it takes a prompt in one pass, and then
// computes one token after the other by a recorded step, with the keys and values of earlier tokens in a
// cache.
//
//	type Model struct{ … }
//
//	// Forward returns the scores of the token behind each, [batch, n, words].
//	func (m *Model) Forward(tokens *tensor.Tensor, cache *nn.KVCache) *autograd.Node
//
// A [Generator] is made once, for any number of prompts:
//
//	g, err := generate.New(d, model, generate.Config{
//		Length: 256,
//		Sample: generate.SampleOptions{Temperature: 0.8, TopK: 40},
//		RNG:    tensor.NewRNG(1),
//	})
//	for tokens, err := range g.Generate(prompt) {
//		if err != nil || tokens[0] == end {
//			break
//		}
//	}
//
// [Sample] draws a token of scores; it is an operation that can be recorded, and of use alone, too.
package generate
