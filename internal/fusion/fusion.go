// Package fusion is where package replay learns which launches it may make one launch of, beyond
// those that say so of themselves: packages that bring kernels for that register them, and replay,
// which knows none of these packages, asks for what is registered.
//
// A program without package fusedmlp has no [Trainer]: its perceptrons are recorded layer by layer.
package fusion

import (
	"sync/atomic"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Trainer makes the kernels of fused training steps: one launch computes the layers of a
// perceptron, their loss and the gradients.
type Trainer interface {
	// CheckLayers returns why no kernel trains n layers, or nil.
	CheckLayers(n int) error
	// Step returns the kernels that train p on so many samples with reals of type t on a device
	// with the limits l. The error says why there are none.
	Step(p *Perceptron, samples int, t kernels.DType, l kernels.Target) (Step, error)
	// MatrixStep returns the kernels that do so on matrix units, and the limits that these have,
	// where that is faster.
	MatrixStep(p *Perceptron, samples int, units MatrixUnits) (step Step, l kernels.Target, ok bool)
}

// MatrixUnits are those of a device, for products whose factors are of a Precision.
type MatrixUnits struct {
	Precision kernels.Precision
	Real      kernels.DType
	Target    kernels.Target // that kernels with their instructions must fit
	// Has reports whether the device has the instructions for factors of a precision, TF32 or
	// float16, for groups of warps or for one. It tries them when it is first asked.
	Has func(factors kernels.Precision, grouped bool) bool
}

// Step is the kernels of a fused training step.
type Step interface {
	// Block returns in blocks of how many samples a step over n samples is shared out.
	Block(n int, t kernels.DType, l kernels.Target) int
	// Groups returns how many parts of the gradient a step over n samples in such blocks makes.
	Groups(n, block int, l kernels.Target) int
	// Loss returns the kernel: X, T, W, PART [groups, Size], LOSS [groups], DX, n, what Pack
	// writes, the weights of classes if there are any, and what Scratch names. It computes DX, the
	// gradient of X, if inputGrad is set.
	Loss(t kernels.DType, block int, inputGrad bool) *kernels.Kernel
	// Pack returns the kernel of a launch before the step, of the parameters and what the step
	// reads behind its other arguments, and how many elements of each; nil if there is none,
	// whatever it reads.
	Pack(t kernels.DType, inputGrad bool, l kernels.Target) (*kernels.Kernel, []int)
	// Scratch returns how many elements of memory groups keep things in, in each argument behind
	// these.
	Scratch(block, groups int, t kernels.DType, inputGrad bool, l kernels.Target) []int
}

// Gradients adds up gradients that launches leave in parts, and finds the optimizers' updates that
// do so where they read them.
type Gradients interface {
	// SumPartials returns the launch that writes to y the sum of gradients in parts [groups, size],
	// times the scalar factor [1].
	SumPartials(parts, factor, y kernels.Arg, size, groups int) (*kernels.Kernel, []kernels.Arg)
	// SumLoss returns the launch that writes to y the sum of losses [groups], times scale.
	SumLoss(losses, y kernels.Arg, groups int, scale float64) (*kernels.Kernel, []kernels.Arg)
	// Update returns the update that a launch with such arguments, which does the operations in
	// list, is. It returns nil for any other launch.
	Update(args []kernels.Arg, list []kernels.Operation) Update
	// Partials returns what a launch of kernel k sums on a device, if its result is the gradient of
	// parameters from element `at` on and it reads from element `from` of the parts on. It returns
	// nil if the launch does anything else.
	Partials(k *kernels.Kernel, args []kernels.Arg, at, from int, l kernels.Target) []Partial
}

// Update is one update of parameters by an optimizer.
type Update interface {
	// Gradient is what the launch reads of the gradient.
	Gradient() kernels.Arg
	// SumPartials returns the launch that adds the gradient up from parts [groups, parameters],
	// times the scalar factor [1]. It sets sum to scale times the sum of n losses as well, if there
	// are any.
	SumPartials(parts, factor kernels.Arg, groups int, losses, sum kernels.Arg, n int, scale float64) (*kernels.Kernel, []kernels.Arg)
	// SumBlocks returns the table of the launch that adds up the gradient of n parameters from
	// sums, and whether the gradient of all of them is a sum.
	SumBlocks(sums []Partial, n int) (table []int32, all bool)
	// SumByTable returns that launch: what is no sum is read from g.
	SumByTable(g, parts, table kernels.Arg) (*kernels.Kernel, []kernels.Arg)
}

// Partial is the gradient of N parameters from At on: each is a sum of Len parts, of which that of
// the first lies at From and is followed by those of the others. The next part of each lies N
// elements on. Wide is how many columns a work-group sums.
type Partial struct {
	At, N, From, Len, Wide int
}

var (
	trainer   atomic.Pointer[Trainer]
	gradients atomic.Pointer[Gradients]
)

// RegisterTrainer has recordings from now on fuse training steps with t; nil: with none.
func RegisterTrainer(t Trainer) {
	if t == nil {
		trainer.Store(nil)
		return
	}
	trainer.Store(&t)
}

// RegisteredTrainer returns the trainer, or nil.
func RegisteredTrainer() Trainer {
	if t := trainer.Load(); t != nil {
		return *t
	}
	return nil
}

// RegisterGradients has recordings from now on add up gradients by g.
func RegisterGradients(g Gradients) { gradients.Store(&g) }

// RegisteredGradients returns what adds up gradients: it is there in every program that opens a
// device.
func RegisteredGradients() Gradients { return *gradients.Load() }

// Perceptron is linear layers in training, z = x·w + b, of which each reads what a formula makes of
// the result of the one before, and of what earlier ones read. There may be any formulas, widths
// and biases.
type Perceptron struct {
	Layers            []Layer
	Error, OutputGrad *expr.Expr // the loss of an output X(0) and its target X(1), and the gradient of the output
	Labels            *Labels    // in their place: the loss is the cross-entropy of the outputs
}

// Labels says what the cross-entropy of the outputs and a label of each sample is.
type Labels struct {
	Ignore    int32
	Smoothing float64
	Weighted  bool       // classes have weights
	Mean      bool       // the loss is the mean over the labels that count, by their weights, else the sum
	Up        *expr.Expr // the gradient of the loss of each sample, of how many labels count, or of the sum of their weights X(0)
}

// Layer is one layer of a Perceptron.
type Layer struct {
	Inputs, Outputs int
	Weights, Bias   int        // where they start among the parameters; Bias is −1 for none
	Kept            *expr.Expr // of a hidden layer: k, what the next two read, of z = X(0); nil for z
	// Value is what the next layer reads, of k = X(0), and of what layer j reads X(1 + j), up to
	// this one. The last has one if the outputs are not z; then their gradient is that of its z,
	// too.
	Value     *expr.Expr
	InputGrad *expr.Expr // the gradient of z, of k = X(0), what the next reads X(1), and the gradient of that X(2); nil for X(2)
	// Join is the gradient of what the layer reads, of its own part X(0), and of the gradients of
	// what a later layer j reads X(j), or, of as many as there are layers, of the outputs: nil for
	// X(0).
	Join *expr.Expr
}

// ParameterAlign is the alignment of a parameter that an optimizer holds, in elements: 512 bytes of
// float32, the base alignment of NVIDIA devices.
const ParameterAlign = 128

// Aligned returns n elements up to the next parameter.
func Aligned(n int) int { return (n + ParameterAlign - 1) / ParameterAlign * ParameterAlign }

// Size returns the elements of the parameters, padded to their alignment.
func (p *Perceptron) Size() int {
	last := p.Layers[len(p.Layers)-1]
	return Aligned(max(last.Weights+last.Inputs*last.Outputs, last.Bias+last.Outputs))
}
