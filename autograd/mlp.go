package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// FusedMLP trains a perceptron with a squared-error loss in one launch per pass: forward, loss and the
// gradients of all parameters. It is no part of what this package promises.
type FusedMLP struct {
	arena *Arena
	shape ops.MLPShape
	built map[mlpVariant]*kernels.Kernel
}

// mlpVariant is what kernels of one shape differ in.
type mlpVariant struct {
	block     int // samples
	inputGrad bool
}

// Loss is what a [FusedMLP] minimises. It is no part of what this package promises.
type Loss int

// The losses.
const (
	SquaredLoss  Loss = iota // Σ (net(x) − target)²
	AbsoluteLoss             // Σ |net(x) − target|; its gradient at 0 is 0
)

// NewFusedMLP returns the fused form of the network whose parameters an arena holds, in the order weights
// and bias of each hidden layer, weights of the output layer; hidden layers are followed by a leaky ReLU
// of the given slope, the output layer has neither bias nor activation. The error says why a network
// cannot be fused: train it layer by layer.
func NewFusedMLP(arena *Arena, slope float64, loss Loss) (*FusedMLP, error) {
	refuse := func(format string, args ...any) (*FusedMLP, error) {
		return nil, fmt.Errorf("autograd: fused perceptron: "+format, args...)
	}
	p := arena.Params
	if len(p) < 3 || len(p)%2 == 0 {
		return refuse("%d parameters: it has weights and bias for each hidden layer, and weights for the output", len(p))
	}
	for i, q := range p {
		if rank := 2 - i%2; len(q.Shape()) != rank {
			return refuse("parameter %d (%q) has shape %v, of another rank than %d", i, q.Name(), q.Shape(), rank)
		}
	}
	s := ops.MLPShape{Inputs: p[0].Shape()[0], Width: p[0].Shape()[1], Layers: len(p) / 2, Outputs: p[len(p)-1].Shape()[1],
		Slope: slope, Absolute: loss == AbsoluteLoss}
	for i, q := range p {
		want := []int{s.Width, s.Width}
		if i == 0 {
			want[0] = s.Inputs
		}
		if i == len(p)-1 {
			want[1] = s.Outputs
		}
		if i%2 == 1 {
			want = want[1:]
		}
		if !slices.Equal(q.Shape(), want) {
			return refuse("parameter %d (%q) has shape %v, want %v: hidden layers are of one width", i, q.Name(), q.Shape(), want)
		}
	}
	if err := s.Check(arena.Values.Device().Real(), arena.Values.Device().Limits()); err != nil {
		return refuse("%w", err)
	}
	return &FusedMLP{arena, s, map[mlpVariant]*kernels.Kernel{}}, nil
}

// kernel returns the kernel of a variant.
func (m *FusedMLP) kernel(v mlpVariant) *kernels.Kernel {
	k := m.built[v]
	if k == nil {
		k = ops.MLPLoss(m.shape, m.arena.Values.Device().Real(), v.block, v.inputGrad)
		m.built[v] = k
	}
	return k
}

// Try tries the kernel of passes over n samples, with the gradient of the input or without. The error says why it is
// not to be used on its device: train layer by layer. See [tensor.TrialEnv].
func (m *FusedMLP) Try(n int, inputGrad bool) error {
	d := m.arena.Values.Device()
	return plumbing.Try(d, m.kernel(mlpVariant{m.shape.Block(n, d.Real(), d.Limits()), inputGrad}))
}

// Loss returns the network's loss for x [n, inputs] against a constant target [n, outputs]. The gradients of the
// parameters, and of x if it needs one, are computed in the same launch, the former as shares for groups of
// samples. They are added up, in a fixed order, when the gradients are read, and the loss when it is; AdamW
// reads the shares themselves. It panics with tensor.ErrShape, and with tensor.ErrValue if the target needs a
// gradient.
func (m *FusedMLP) Loss(x, target *Node) *Node {
	const op = "MLPLoss"
	xv, tv := x.use(op), target.use(op)
	s, d := m.shape, xv.Device()
	n := xv.Len() / s.Inputs
	if n == 0 || !slices.Equal(xv.Shape(), []int{n, s.Inputs}) || !slices.Equal(tv.Shape(), []int{n, s.Outputs}) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{xv.Shape(), tv.Shape()},
			Detail: fmt.Sprintf("the network has %d inputs and %d outputs", s.Inputs, s.Outputs)})
	}
	if tv.Device() != d || m.arena.Values.Device() != d {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrDevice, Shapes: [][]int{xv.Shape(), tv.Shape()},
			Detail: "the input, the target and the parameters must be on one"})
	}
	if target.needs {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Detail: "the fused network gives no gradient for its target: train it layer by layer"})
	}
	v := mlpVariant{s.Block(n, d.Real(), d.Limits()), x.needs && !noGrad(d)}
	kernel := m.kernel(v)
	groups := s.Groups(n, v.block, d.Limits())
	// The paddings between parameters stay undefined in the shares, and so in the arena's gradients: an update
	// may make anything of the paddings of the values, which nobody reads.
	shares, losses := tensor.Empty(d, groups, s.Size()), tensor.Empty(d, groups)
	dx := losses // the kernel does not look at it
	if v.inputGrad {
		dx = tensor.Empty(d, xv.Shape()...)
	}
	tensor.Launch(d, kernel, xv.Arg(), tv.Arg(), m.arena.Values.Arg(), shares.Arg(), losses.Arg(), dx.Arg(), kernels.I(n))
	inputs := append([]*Node{x, target}, m.arena.Params...)
	node, mode := apply(op, tensor.Empty(d), inputs, func(g *Node, in *Grads) {
		if in.Recorded() {
			in.none("train layer by layer: the fused pass computes it at once with the loss")
			return
		}
		if v.inputGrad {
			in.scaled(0, dx, g.value)
		}
		in.fromShares(2, m.arena, shares, g.value)
	}, []*tensor.Tensor{m.arena.Values})
	node.parts = losses
	node.scratch = []*tensor.Tensor{shares}
	if v.inputGrad {
		node.scratch = append(node.scratch, dx)
	}
	if node.backward == nil {
		node.freeScratch()
	}
	node.watched(mode, inputs)
	return node
}

// scaled delivers seed·g for a scalar seed, which usually is the 1 of a Backward without one.
func (in *Grads) scaled(i int, g, seed *tensor.Tensor) {
	if plumbing.IsOne(seed) {
		in.Share(i, g)
		return
	}
	in.Give(i, g.Mul(seed))
}

// fromShares delivers g·Σ of shares [groups, arena's length] to the parameters of an arena, which are the
// inputs from first on. If none has a gradient yet, the shares are kept as they are.
func (in *Grads) fromShares(first int, a *Arena, shares, g *tensor.Tensor) {
	a.gather()
	fresh := true
	for _, p := range a.Params {
		fresh = fresh && p.grad == nil && in.walk.straight(p)
	}
	if fresh {
		a.setShares(shares, g)
		return
	}
	sum := tensor.Empty(g.Device(), a.Values.Len())
	defer sum.Free()
	reduceShares(sum, shares, g)
	for i, p := range a.Params {
		part := a.Place(sum, i, p.Shape())
		in.Share(first+i, part)
		part.Free()
	}
}

// reduceShares writes seed·Σ shares [groups, size] to sum [size].
func reduceShares(sum, shares, seed *tensor.Tensor) {
	tensor.Launch(sum.Device(), ops.ReduceShares, shares.Arg(), seed.Arg(), sum.Arg(), kernels.I(sum.Len()),
		kernels.I(shares.Shape()[0]))
}
