package fusedmlp

import (
	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

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

// Perceptron is linear layers in training, z = x·w + b, of which each reads what a formula makes of
// the result of the one before, and of what earlier ones read. There may be any formulas, widths
// and biases. [MLPShape] is the special case that has a faster kernel.
type Perceptron struct {
	Layers            []Layer    // the first reads X
	Error, OutputGrad *expr.Expr // the loss of an output X(0) and its target X(1), and the gradient of the output
	Labels            *Labels    // in their place: the loss is the cross-entropy of the outputs
}

// Labels says what the cross-entropy of the outputs and a label of each sample is.
type Labels struct {
	Ignore    int32      // samples with this label do not count
	Smoothing float64    // how much of a target is that of all classes alike
	Weighted  bool       // classes have weights
	Mean      bool       // the loss is the mean over the labels that count, by their weights, else the sum
	Up        *expr.Expr // the gradient of the loss of each sample, of how many labels count, or of the sum of their weights X(0)
}

// Layer is one layer of a Perceptron.
type Layer struct {
	Inputs, Outputs int        // how many of each
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

// Size returns the elements of the parameters, padded to their alignment.
func (p *Perceptron) Size() int {
	last := p.Layers[len(p.Layers)-1]
	return gradsums.Aligned(max(last.Weights+last.Inputs*last.Outputs, last.Bias+last.Outputs))
}
