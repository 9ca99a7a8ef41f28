package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// MultiMarginOptions says how a MultiMargin loss is computed.
type MultiMarginOptions struct {
	Margin    float64        // 0: 1
	Squared   bool           // what is within the margin is squared: PyTorch's p = 2
	Weights   *tensor.Tensor // [classes], by which the loss of each label is multiplied; nil: by 1
	Reduction Reduction      // what becomes of the losses of many labels
}

// MultiMargin returns the loss of scores x [N, C] with labels t [N] of integers,
//
//	loss[i] = w[t]/C·Σ_k max(0, margin − x[t] + x[k]),   k ≠ t
//
// It panics with tensor.ErrShape, with tensor.ErrType for labels of another type, with tensor.ErrIndex
// for one of no class, and with tensor.ErrValue for a margin below 0. Gradients are those of the formula.
func MultiMargin(x *Node, labels *tensor.Tensor, options ...MultiMarginOptions) *Node {
	const op = "MultiMargin"
	defer tensorapi.Rename("autograd", op)
	how := optional(op, options)
	margin := how.Margin
	if margin == 0 {
		margin = 1
	}
	positive(op, "the margin", margin)
	shape := x.use(op).Shape()
	if len(shape) != 2 || labels == nil || labels.Rank() != 1 || labels.Len() != shape[0] || shape[1] == 0 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape}, Detail: "scores are [N, classes], and labels [N]"})
	}
	classes := float64(shape[1])
	of := x
	x = castFloat32(x)
	x = asFloats(x, x)
	column := labels.Unsqueeze(1)
	own := x.Gather(1, column).keeping(column)
	beyond := labels.OneHot(shape[1])
	mask := beyond.To(tensor.Bool)
	beyond.Free()
	loss := x.Sub(own).AddScalar(margin).MaxScalar(0)
	if how.Squared {
		loss = loss.Square()
	}
	loss = loss.MaskedFill(Const(mask), 0).keeping(mask).Sum(1).DivScalar(classes)
	if how.Weights != nil {
		weights := how.Weights.IndexSelect(0, labels)
		loss = loss.Mul(Const(weights)).keeping(weights)
	}
	return lowered(how.Reduction.of(op, loss), of)
}

// CosineEmbedding returns 1 − cos where the target is 1, and max(0, cos − margin) where it is −1, of the
// cosine of the angle of x and w, [N, D] or [D], along their last axis, with targets [N] or []; of another
// target, 0. PyTorch's 1e−12 is added to the squares. It panics with tensor.ErrShape unless x and w have one
// shape. Gradients are those of the operations that it is made of.
func CosineEmbedding(x, w, target *Node, margin float64, options ...LossOptions) *Node {
	const op = "CosineEmbedding"
	defer tensorapi.Rename("autograd", op)
	alike(op, x, w)
	target.use(op)
	if x.Rank() < 1 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrAxis, Shapes: [][]int{x.Shape()}, Detail: "the angle is along the last axis, and there is none"})
	}
	of := []*Node{x, w}
	x, w = computed(castFloat32(x)), computed(castFloat32(w))
	const least = 1e-12 // PyTorch has it as a float32
	squares := func(x *Node) *Node { return x.Square().Sum(-1).AddScalar(float64(float32(least))) }
	cos := x.Mul(w).Sum(-1).Div(squares(x).Mul(squares(w)).Sqrt())
	alikeTarget(op, cos, target)
	loss := cos.RSubScalar(1).MaskedFill(target.NeScalar(1), 0).Add(cos.SubScalar(margin).MaxScalar(0).MaskedFill(target.NeScalar(-1), 0))
	return lowered(optional(op, options).Reduction.of(op, loss), of...)
}

// alikeTarget panics unless there is a target for each of x.
func alikeTarget(op string, x, target *Node) {
	if !sameShape(x, target) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{x.Shape(), target.Shape()},
			Detail: fmt.Sprintf("there is a target for each of %d", x.value.Len())})
	}
}

func sameShape(x, y *Node) bool { return slices.Equal(x.Shape(), y.Shape()) }

// GaussianOptions says how a GaussianNLL is computed.
type GaussianOptions struct {
	Full      bool      // with the constant ½·ln 2π
	Eps       float64   // the least variance; 0: 1e-6
	Reduction Reduction // what becomes of the losses of many elements
}

// GaussianNLL returns the negative logarithm of the likelihood of targets t under normal distributions with
// the means x, of their shape, and variances v, which broadcast to it,
//
//	½·(ln max(v, eps) + (x − t)²/max(v, eps))
//
// It panics with tensor.ErrShape, and with tensor.ErrValue unless eps is above 0. That v is 0 or more is not
// checked. Gradients are those of the formula; as in PyTorch, that of v where it is below eps is that at eps.
// Source: Nix, Weigend, "Estimating the mean and variance of the target probability distribution", 1994.
func GaussianNLL(x, target, variance *Node, options ...GaussianOptions) *Node {
	const op = "GaussianNLL"
	defer tensorapi.Rename("autograd", op)
	alike(op, x, target)
	how := optional(op, options)
	if how.Eps == 0 {
		how.Eps = 1e-6
	}
	positive(op, "eps", how.Eps)
	variance.use(op)
	of := []*Node{x, target, variance}
	x, target, variance = computed(castFloat32(x)), computed(castFloat32(target)), computed(castFloat32(variance))
	v := variance.Add(variance.MaxScalar(how.Eps).Sub(variance).Detach())
	loss := v.Log().Add(x.Sub(target).Square().Div(v)).MulScalar(0.5)
	if !sameShape(loss, x) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{x.Shape(), variance.Shape()}, Detail: "variances broadcast to the means"})
	}
	if how.Full {
		const half = 0.918938533204672741780329736405617639861397473637783412817 // ½·ln 2π
		loss = loss.AddScalar(half)
	}
	return lowered(how.Reduction.of(op, loss), of...)
}
