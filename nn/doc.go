// Package nn is layers, models made of them, initialisers and state dicts, over package autograd.
//
// A layer is a struct of parameters with a method Forward. A model is a pointer to any struct of
// layers, with a Forward of its own:
//
//	type Net struct {
//		Conv *nn.Conv
//		Head *nn.Linear
//	}
//
//	func (n *Net) Forward(x *autograd.Node) *autograd.Node {
//		return n.Head.Forward(n.Conv.Forward(x).ReLU().Flatten(1, -1))
//	}
//
//	net := &Net{
//		Conv: nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 8, Kernel: []int{3, 3}}),
//		Head: nn.NewLinear(d, rng, nn.LinearConfig{In: 8 * 6 * 6, Out: 10}),
//	}
//	opt := optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(1e-3)))
//
// [Params], [StateDict], [Train], [Eval] and [Freeze] find the parts of a model in the fields of
// its structs, exported or not, and in pointers, interfaces, slices, arrays and maps by strings. A
// parameter is a *[autograd.Node] that [autograd.Param] made. A buffer, such as the running
// statistics of a [BatchNorm], is a *[tensor.Tensor] whose field has a tag: it is kept in state
// dicts and not trained.
//
// The path of a parameter is the names of fields in snake case, indices and keys, joined by dots:
// Net's are conv.weight, conv.bias, head.weight and head.bias. An embedded struct adds nothing. A
// tag says otherwise:
//
//	Blocks []*Block         `nn:"block#"`            // block0.…, block1.…; without the tag blocks.0.…
//	Layers []*Block         `nn:"layer#,from=1"`     // layer1.…, layer2.…
//	Back   []*autograd.Node `nn:"w_l#_reverse"`      // w_l0_reverse, w_l1_reverse, …
//	Q      *nn.Linear       `nn:"q_proj"`            // another name
//	W      *autograd.Node   `nn:"weight,transposed"` // a state dict holds the transpose
//	Mean   *tensor.Tensor   `nn:"running_mean"`      // a buffer
//	Parent *Net             `nn:"-"`                 // left out
//
// Stability: the API stays within a minor version; what goes in the next one is
// replaced, and its release notes say by what.
package nn
