package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// MaxPool is [autograd.Node.MaxPool] as a layer.
type MaxPool struct {
	Window []int // required
	tensor.MaxPoolOptions
}

// Forward returns the maxima of windows over the last axes of x.
func (l *MaxPool) Forward(x *autograd.Node) *autograd.Node {
	return traced(l, func() *autograd.Node {
		return x.MaxPool(l.Window, l.MaxPoolOptions)
	})
}

// AvgPool is [autograd.Node.AvgPool] as a layer.
type AvgPool struct {
	Window []int // required
	tensor.AvgPoolOptions
}

// Forward returns the means of windows over the last axes of x.
func (l *AvgPool) Forward(x *autograd.Node) *autograd.Node {
	return traced(l, func() *autograd.Node {
		return x.AvgPool(l.Window, l.AvgPoolOptions)
	})
}

// AdaptiveMaxPool is [autograd.Node.AdaptiveMaxPool] as a layer.
type AdaptiveMaxPool struct {
	Size []int // of the output; required
}

// Forward returns the maxima of as many windows over the last axes of x as the size says.
func (l *AdaptiveMaxPool) Forward(x *autograd.Node) *autograd.Node {
	return traced(l, func() *autograd.Node { return x.AdaptiveMaxPool(l.Size) })
}

// AdaptiveAvgPool is [autograd.Node.AdaptiveAvgPool] as a layer.
type AdaptiveAvgPool struct {
	Size []int // of the output; required
}

// Forward returns the means of as many windows over the last axes of x as the size says.
func (l *AdaptiveAvgPool) Forward(x *autograd.Node) *autograd.Node {
	return traced(l, func() *autograd.Node { return x.AdaptiveAvgPool(l.Size) })
}

// Flatten makes one axis of those after the first, the batch: for a [Linear] after a [Conv].
type Flatten struct{}

// Forward returns x [batch, …] as [batch, elements of an item].
func (l *Flatten) Forward(x *autograd.Node) *autograd.Node {
	return traced(l, func() *autograd.Node { return x.Flatten(1, -1) })
}
