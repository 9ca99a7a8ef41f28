package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// Conv is a convolution over 1, 2 or 3 axes: see [autograd.Node.Conv].
type Conv struct {
	Weight *autograd.Node // [out, in/groups, kernel…]
	Bias   *autograd.Node // [out]; nil for a layer without
	// Quantized is the weights of a layer whose Weight [QuantizeWeights] has replaced, nil of others. Weight is nil
	// then.
	Quantized *tensor.QuantizedTensor `nn:"weight"`

	options tensor.ConvOptions
}

// ConvConfig describes a convolution.
type ConvConfig struct {
	In, Out            int   // channels; required
	Kernel             []int // size along each spatial axis; its length says how many there are; required
	tensor.ConvOptions       // stride, padding, dilation, groups
	// Weight and Bias draw the parameters; nil: UniformFanIn, as PyTorch does.
	Weight, Bias Initializer
	NoBias       bool // without bias
}

// NewConv returns a layer, with its parameters drawn from rng. It panics with tensor.ErrValue
// unless the kernel has 1 to 3 axes and the groups divide the channels, and with tensor.ErrShape
// for sizes below 1. [Conv.Forward] looks at the other options.
func NewConv(d tensor.Device, rng *tensor.RNG, cfg ConvConfig) *Conv {
	defer tensorapi.Rename("nn", "NewConv")
	groups := checkChannels("NewConv", cfg.In, cfg.Out, cfg.Kernel, cfg.Groups)
	fanIn, fanOut := cfg.In/groups*volume(cfg.Kernel), cfg.Out/groups*volume(cfg.Kernel)
	shape := append([]int{cfg.Out, cfg.In / groups}, cfg.Kernel...)
	l := &Conv{Weight: draw(d, rng, cfg.Weight, fanIn, fanOut, shape...), options: cfg.ConvOptions}
	if !cfg.NoBias {
		l.Bias = draw(d, rng, cfg.Bias, fanIn, fanOut, cfg.Out)
	}
	return l
}

// Forward returns the convolution of x [batch, in, …], [batch, out, …].
func (l *Conv) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("Conv", l != nil && (l.Weight != nil || l.Quantized != nil))
	defer inLayer(l.Weight, l.Bias)
	return traced(l, func() *autograd.Node {
		if l.Quantized != nil {
			return autograd.ConvQuantized(x, l.Quantized, l.Bias, l.options)
		}
		return x.Conv(l.Weight, l.Bias, l.options)
	})
}

// ConvTranspose is a transposed convolution over 1, 2 or 3 axes: see [autograd.Node.ConvTranspose].
type ConvTranspose struct {
	Weight *autograd.Node // [in, out/groups, kernel…]
	Bias   *autograd.Node // [out]; nil for a layer without

	options tensor.ConvTransposeOptions
}

// ConvTransposeConfig describes a transposed convolution.
type ConvTransposeConfig struct {
	In, Out                     int   // channels; required
	Kernel                      []int // size along each spatial axis; its length says how many there are; required
	tensor.ConvTransposeOptions       // stride, padding, dilation, groups
	// Weight and Bias draw the parameters; nil: UniformFanIn, whose fan-in is that of the
	// convolution which this one is the gradient of, out/groups·kernel, as in PyTorch.
	Weight, Bias Initializer
	NoBias       bool // without bias
}

// NewConvTranspose returns a layer, with its parameters drawn from rng. It panics as [NewConv]
// does.
func NewConvTranspose(d tensor.Device, rng *tensor.RNG, cfg ConvTransposeConfig) *ConvTranspose {
	defer tensorapi.Rename("nn", "NewConvTranspose")
	groups := checkChannels("NewConvTranspose", cfg.In, cfg.Out, cfg.Kernel, cfg.Groups)
	fanIn, fanOut := cfg.Out/groups*volume(cfg.Kernel), cfg.In/groups*volume(cfg.Kernel)
	shape := append([]int{cfg.In, cfg.Out / groups}, cfg.Kernel...)
	l := &ConvTranspose{Weight: draw(d, rng, cfg.Weight, fanIn, fanOut, shape...), options: cfg.ConvTransposeOptions}
	if !cfg.NoBias {
		l.Bias = draw(d, rng, cfg.Bias, fanIn, fanOut, cfg.Out)
	}
	return l
}

// Forward returns the transposed convolution of x [batch, in, …], [batch, out, …].
func (l *ConvTranspose) Forward(x *autograd.Node) *autograd.Node {
	mustBeMade("ConvTranspose", l != nil && l.Weight != nil)
	defer inLayer(l.Weight, l.Bias)
	return traced(l, func() *autograd.Node { return x.ConvTranspose(l.Weight, l.Bias, l.options) })
}

// checkChannels returns the groups of a convolution, 1 if none are named.
func checkChannels(op string, in, out int, kernel []int, groups int) int {
	mustSizes(op, "In", in)
	mustSizes(op, "Out", out)
	mustSizes(op, "Kernel", kernel...)
	if groups == 0 {
		groups = 1
	}
	if len(kernel) < 1 || len(kernel) > 3 || groups < 1 || in%groups != 0 || out%groups != 0 {
		misuse(op, tensor.ErrValue, "from %d to %d channels in %d groups, with a kernel of %v: the kernel has a size for each of 1 to 3 axes, and groups divide the channels", in, out, groups, kernel)
	}
	return groups
}

func volume(kernel []int) int {
	n := 1
	for _, k := range kernel {
		n *= k
	}
	return n
}
