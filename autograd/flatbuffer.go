package autograd

import (
	"github.com/clgrad/clgrad/internal/hooks"
	"github.com/clgrad/clgrad/tensor"
)

// api implements the interface of package flatparams, which documents the methods.
type api struct{}

func init() { hooks.Autograd = api{} }

func (api) Attach(p *Node, buffer any, grad *tensor.Tensor) {
	had := p.grad
	p.flatBuffer, p.gradBuffer = buffer, grad
	if had != nil {
		grad.SetInPlace(had)
		p.grad = grad
		had.Free()
	}
}

func (api) Detach(p *Node) {
	p.ownGrad()
	p.gradBuffer.Free()
	p.grad, p.gradBuffer, p.flatBuffer = nil, nil, nil
}

func (api) Attached(p *Node) (buffer any) { return p.flatBuffer }
