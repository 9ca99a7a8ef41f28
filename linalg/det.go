package linalg

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Det returns the determinants [...] of matrices A [..., n, n]; that of a matrix without rows is 1. It
// panics with tensor.ErrShape if matrices are not square, and with tensor.ErrType unless they are of
// float32 or float64.
//
// Gradient: g times the cofactors of A, also where A is singular. The gradient of the cofactors is made of
// A⁻¹, and is NaN there.
func Det(a *autograd.Node) *autograd.Node {
	const op = "Det"
	m := squareOf(op, a)
	av := a.ValueFor(op)
	f := factorise(op, m, av)
	defer f.free()
	y := f.det(m)
	result := autograd.NewOp(op, y, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		x, det := regularInverse(op, m, av)
		defer x.Free()
		defer det.Free()
		if in.CreateGraph() {
			box := det.Reshape(m.shape(1, 1)...)
			defer box.Free()
			each := cofactors(op, m, a, x.Mul(box))
			in.AccumulateNode(0, each.Mul(g.Reshape(m.shape(1, 1)...)))
			return
		}
		scale := det.Mul(g.Value())
		defer scale.Free()
		box := scale.Reshape(m.shape(1, 1)...)
		defer box.Free()
		in.Accumulate(0, x.Mul(box))
	}, av)
	if trace.On() {
		trace.Record(op, []any{a}, result)
	}
	return result
}

// regularInverse returns A⁻ᵀ and the determinants of matrices A. A pivot of 0 in their factors is replaced by a small
// one, so that det·A⁻ᵀ is the cofactors of singular matrices, too.
func regularInverse(op string, m matrices, a *tensor.Tensor) (x, det *tensor.Tensor) {
	t := a.MoveDim(-1, -2)
	defer t.Free()
	f := factorise(op, m, t)
	defer f.free()
	if m.rows > 0 {
		f.lu = f.regular()
	}
	eye := tensor.Eye(a.Device(), m.rows, m.rows)
	defer eye.Free()
	ones := eye.To(m.typ)
	defer ones.Free()
	all := ones.Expand(m.shape(m.rows, m.rows)...)
	defer all.Free()
	return f.solve(all), f.det(m)
}

// cofactors returns the node of y, the cofactors Y = det·B of matrices A, with B = A⁻ᵀ. Its gradient is
// ⟨g, B⟩·Y − B·gᵀ·Y.
func cofactors(op string, m matrices, a *autograd.Node, y *tensor.Tensor) *autograd.Node {
	return autograd.NewOp(op, y, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		b := solveOf(op, transposed(a), identity(a, m.rows).Expand(m.shape(m.rows, m.rows)...))
		inner := g.Mul(b).Sum(-2, -1, tensor.Keepdims)
		in.AccumulateNode(0, inner.Mul(in.Output()).Sub(b.MatMul(transposed(g)).MatMul(in.Output())))
	}, a.Value(), y)
}

// det returns the determinants.
func (f factors) det(m matrices) *tensor.Tensor {
	d := f.lu.Diagonal(0, -2, -1)
	defer d.Free()
	product := d.Prod(-1)
	defer product.Free()
	y := product.Mul(f.sign)
	defer y.Free()
	return y.Reshape(m.lead...)
}

// regular returns the factors with ε in place of a pivot of 0, and frees those that it replaces.
func (f factors) regular() *tensor.Tensor {
	eps, _ := kernels.Float32.Epsilon()
	if f.lu.Type() == tensor.Float64 {
		eps, _ = kernels.Float64.Epsilon()
	}
	defer f.lu.Free()
	eye := tensor.Eye(f.lu.Device(), f.lu.Shape()[1], f.lu.Shape()[2])
	defer eye.Free()
	diagonal := eye.EqScalar(1)
	defer diagonal.Free()
	zero := f.lu.EqScalar(0)
	defer zero.Free()
	replaced := zero.LogicalAnd(diagonal)
	defer replaced.Free()
	return f.lu.MaskedFill(replaced, eps)
}

// SlogDet returns the signs and the logarithms of the magnitudes of the determinants of matrices A
// [..., n, n], which do not overflow: det = sign·exp(logarithm). Of a singular matrix they are 0 and
// −∞. It panics with tensor.ErrShape if matrices are not square, and with tensor.ErrType unless they
// are of float32 or float64.
//
// Gradient: g·A⁻ᵀ of the logarithm, NaN where A is singular; the sign has none.
func SlogDet(a *autograd.Node) (sign, logarithm *autograd.Node) {
	const op = "SlogDet"
	m := squareOf(op, a)
	av := a.ValueFor(op)
	f := factorise(op, m, av)
	defer f.free()
	d := f.lu.Diagonal(0, -2, -1)
	defer d.Free()
	signs := d.Sign()
	defer signs.Free()
	product := signs.Prod(-1)
	defer product.Free()
	all := product.Mul(f.sign)
	defer all.Free()
	size := d.Abs()
	defer size.Free()
	logs := size.Log()
	defer logs.Free()
	sum := logs.Sum(-1)
	defer sum.Free()
	y := sum.Reshape(m.lead...)
	sign = autograd.NewOp(op, all.Reshape(m.lead...), nil, nil)
	return sign, autograd.NewOp(op, y, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		each := identity(a, m.rows).Mul(g.Reshape(m.shape(1, 1)...))
		in.AccumulateNode(0, solveOf(op, transposed(a), each))
	}, av)
}
