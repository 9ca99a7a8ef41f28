package optim

import (
	"fmt"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// ClipOptions says how gradients are clipped.
type ClipOptions struct {
	P float64 // of the norm, +Inf for the largest element; 0: 2
}

// ClipNorm multiplies the gradients of params, all by the same number, so that their norm together,
//
//	norm = (Σ |g|ᵖ)^(1/p)
//
// is at most most: by min(1, most/(norm + 1e−6)). It returns the norm from before, a scalar on the
// device, which nobody waits for, Float32 of gradients of 16 bits. Where that is NaN, all gradients become NaN; where it is
// infinite, which sums of powers that overflow make it, too, they become 0, and NaN where they were
// infinite. Parameters without a gradient are left out. It stands between Backward and Step. It
// panics with tensor.ErrValue if there are no params, one is nil or listed twice, or most or P is
// not above 0. Source: torch.nn.utils.clip_grad_norm_; Pascanu, Mikolov, Bengio, "On the difficulty
// of training recurrent neural networks", 2013.
func ClipNorm(params []*autograd.Node, most float64, options ...ClipOptions) (norm *tensor.Tensor) {
	const op = "ClipNorm"
	p := 2.0
	switch {
	case len(options) > 1:
		badCall(op, "a call takes one set of options")
	case len(options) == 1 && options[0].P != 0:
		p = options[0].P
	}
	if !(p > 0) {
		badCall(op, fmt.Sprintf("the P of the norm is %v: it is above 0", p))
	}
	grads := clipped(op, params, most)
	d := params[0].Device()
	var kept *tensor.Tensor
	tensor.Scope(d, func() {
		var norms []*tensor.Tensor
		for _, g := range grads {
			if g.Len() > 0 {
				norms = append(norms, widened(g).Norm(p))
			}
		}
		if len(norms) == 0 {
			kept = tensor.ZerosOf(d, params[0].Value().Type().Computed(), []int{}...).Retain()
			return
		}
		kept = tensor.Stack(0, norms...).Norm(p).Retain()
		by := kept.AddScalar(1e-6).RDivScalar(most).MinScalar(1)
		for _, g := range grads {
			g.MapInPlace(fn.Mul, nil, by)
		}
	})
	defer kept.Free()
	return kept.View() // which a scope of the caller sees
}

// widened returns a gradient of 16 bits as float32, in which its norm has room.
func widened(g *tensor.Tensor) *tensor.Tensor {
	if g.Type().Half() {
		return g.To(tensor.Float32)
	}
	return g
}

// ClipValue sets every element of the gradients of params to the nearest number in [−most, most]; a
// NaN stays. Parameters without a gradient are left out. It panics as [ClipNorm] does. Source:
// torch.nn.utils.clip_grad_value_.
func ClipValue(params []*autograd.Node, most float64) {
	for _, g := range clipped("ClipValue", params, most) {
		g.MapInPlace(fn.Clamp, []float64{-most, most})
	}
}

// clipped returns the gradients that there are.
func clipped(op string, params []*autograd.Node, most float64) (grads []*tensor.Tensor) {
	mustList(op, params)
	if !(most > 0) {
		badCall(op, fmt.Sprintf("the bound is %v: it is above 0", most))
	}
	for _, p := range params {
		if g := p.Grad(); g != nil {
			grads = append(grads, g)
		}
	}
	return grads
}

// mustList panics unless there are parameters, each once.
func mustList(op string, params []*autograd.Node) {
	if len(params) == 0 {
		badCall(op, "there are no parameters")
	}
	seen := make(map[*autograd.Node]bool, len(params))
	for i, p := range params {
		if p == nil || seen[p] {
			badCall(op, fmt.Sprintf("parameter %d is nil, or listed twice", i))
		}
		seen[p] = true
	}
}

func badCall(op, detail string) {
	panic(&tensor.Error{Pkg: "optim", Op: op, Kind: tensor.ErrValue, Detail: detail})
}
