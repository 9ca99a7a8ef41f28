package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// WeightNorm is a weight of which length and direction are trained apart: g·v/|v|, with a length for each index
// of one axis, that of the outputs. A layer has one in place of its weight:
//
//	type Layer struct {
//		Weight *nn.WeightNorm `nn:"parametrizations.weight"` // PyTorch's name
//	}
//
// and takes l.Weight.Node() in Forward. Source: Salimans, Kingma, "Weight Normalization", 2016.
type WeightNorm struct {
	G *autograd.Node `nn:"original0"` // of the weight's rank, with 1 along the other axes
	V *autograd.Node `nn:"original1"` // of the weight's shape

	axis int
}

// NewWeightNorm returns the WeightNorm that is w at first, with lengths along an axis, which may count from the end.
// It panics with tensor.ErrAxis.
func NewWeightNorm(w *tensor.Tensor, axis int) *WeightNorm {
	defer tensorapi.Rename("nn", "NewWeightNorm")
	l := &WeightNorm{axis: axisOf("NewWeightNorm", w, axis)}
	l.G, l.V = autograd.Param(length(autograd.Const(w), l.axis).Value(), ""), autograd.Param(w, "")
	return l
}

// Node returns the weight.
func (l *WeightNorm) Node() *autograd.Node {
	mustBeMade("WeightNorm", l != nil && l.V != nil)
	defer inLayer(l.V)
	return traced(l, func() *autograd.Node { return l.V.Mul(l.G.Div(length(l.V, l.axis))) })
}

// length returns the norms of the parts of w along an axis, with 1 along the others.
func length(w *autograd.Node, axis int) *autograd.Node {
	others := []int{tensor.Keepdims}
	for a := range w.Rank() {
		if a != axis {
			others = append(others, a)
		}
	}
	if len(others) == 1 { // of one axis each element is its own part
		return w.Abs()
	}
	return w.Norm(2, others...)
}

func axisOf(op string, w *tensor.Tensor, axis int) int {
	if w == nil {
		misuse(op, tensor.ErrValue, "the weight is nil")
	}
	a := axis
	if a < 0 {
		a += w.Rank()
	}
	if a < 0 || a >= w.Rank() {
		misuse(op, tensor.ErrAxis, "axis %d of a weight of rank %d", axis, w.Rank())
	}
	return a
}

// SpectralNorm is a weight divided by its largest singular value, that of the matrix whose rows are along one axis,
// which is estimated by power iteration: a step of it each time in training, from the vectors of the step before. A
// layer has one in place of its weight, as with [WeightNorm]. Source: Miyato, Kataoka, Koyama, Yoshida, "Spectral
// Normalization for Generative Adversarial Networks", 2018.
type SpectralNorm struct {
	Original *autograd.Node `nn:"original"` // the weight as it is trained
	U        *tensor.Tensor `nn:"0._u"`     // [rows], the left singular vector
	V        *tensor.Tensor `nn:"0._v"`     // [columns], the right one

	axis, steps int
	eps         float64
	eval        bool
}

// SpectralNormConfig describes a SpectralNorm.
type SpectralNormConfig struct {
	Axis  int     // whose indices are the rows of the matrix
	Steps int     // of the power iteration each time; 0: 1
	Eps   float64 // the least length of a vector; 0: 1e-12
}

// NewSpectralNorm returns the SpectralNorm of a weight w, with singular vectors after 15 steps from random ones. It
// panics with tensor.ErrAxis, and with tensor.ErrShape for a weight without elements.
func NewSpectralNorm(w *tensor.Tensor, rng *tensor.RNG, cfg SpectralNormConfig) *SpectralNorm {
	const op = "NewSpectralNorm"
	defer tensorapi.Rename("nn", op)
	l := &SpectralNorm{axis: axisOf(op, w, cfg.Axis), steps: max(cfg.Steps, 1), eps: orElse(cfg.Eps, 1e-12)}
	if w.Len() == 0 {
		misuse(op, tensor.ErrShape, "a weight %v has no elements", w.Shape())
	}
	l.Original = autograd.Param(w, "")
	rows := w.Shape()[l.axis]
	tensor.Scope(w.Device(), func() {
		l.U = rng.Normal(w.Device(), 0, 1, rows).To(w.Type()).Retain()
		l.V = tensor.ZerosOf(w.Device(), w.Type(), w.Len()/rows).Retain()
		for range 15 {
			l.iterate(l.matrix(autograd.Const(w)).Value())
		}
	})
	return l
}

// matrix returns the weight as a matrix.
func (l *SpectralNorm) matrix(w *autograd.Node) *autograd.Node {
	shape := w.Shape()
	order := []int{l.axis}
	for a := range shape {
		if a != l.axis {
			order = append(order, a)
		}
	}
	return w.Transpose(order...).Reshape(shape[l.axis], w.Value().Len()/shape[l.axis])
}

// iterate does a step of the power iteration of a matrix.
func (l *SpectralNorm) iterate(m *tensor.Tensor) {
	tensor.Scope(m.Device(), func() {
		l.V.SetInPlace(m.T().MatMul(l.U).Normalize(2, 0, l.eps))
		l.U.SetInPlace(m.MatMul(l.V).Normalize(2, 0, l.eps))
	})
}

// Node returns the weight over its largest singular value. In training it does steps of the power iteration first.
// Gradients flow through the weight in that value, not through the vectors.
func (l *SpectralNorm) Node() *autograd.Node {
	mustBeMade("SpectralNorm", l != nil && l.Original != nil)
	defer inLayer(l.Original)
	tensorapi.ReadsFlag(&l.eval, "a SpectralNorm", "in evaluation", "in training")
	return traced(l, func() *autograd.Node {
		m := l.matrix(l.Original)
		if !l.eval {
			for range l.steps {
				l.iterate(m.Value())
			}
		}
		u, v := l.U.Copy(), l.V.Copy() // as they are now: the next step changes them in place
		largest := autograd.Const(u).Dot(m.MatMul(autograd.Const(v)))
		return l.Original.Div(largest)
	})
}

// SetTraining says whether the power iteration goes on.
func (l *SpectralNorm) SetTraining(on bool) {
	tensorapi.SetsFlags(&l.eval)
	l.eval = !on
}
