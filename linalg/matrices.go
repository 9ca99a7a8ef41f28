package linalg

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// matrices is what a batch of matrices is like.
type matrices struct {
	lead       []int // the axes before those of the matrices
	count      int   // of matrices
	rows, cols int
	typ        tensor.Type
}

// matricesOf returns what x is like. It panics unless x is a batch of matrices of float32 or float64.
func matricesOf(op string, x *autograd.Node) matrices {
	v := x.ValueFor(op)
	shape := v.Shape()
	if typ := v.Type(); typ != tensor.Float32 && typ != tensor.Float64 {
		misuse(op, tensor.ErrType, fmt.Sprintf("an operand is of type %v: convert it with To(tensor.Float32)", typ), x)
	}
	if len(shape) < 2 {
		misuse(op, tensor.ErrShape, "an operand is a matrix, or a batch of them: [..., rows, columns]", x)
	}
	m := matrices{count: 1, typ: v.Type()}
	m.lead, m.rows, m.cols = shape[:len(shape)-2], shape[len(shape)-2], shape[len(shape)-1]
	for _, n := range m.lead {
		m.count *= n
	}
	return m
}

// squareOf is matricesOf of square matrices.
func squareOf(op string, x *autograd.Node) matrices {
	m := matricesOf(op, x)
	if m.rows != m.cols {
		misuse(op, tensor.ErrShape, "the matrices are square", x)
	}
	return m
}

// shape returns that of the batch with other last axes.
func (m matrices) shape(last ...int) []int { return append(slices.Clip(m.lead), last...) }

// optional returns the settings of a call.
func optional[O any](op string, x *autograd.Node, options []O) (o O) {
	if len(options) > 1 {
		misuse(op, tensor.ErrValue, fmt.Sprintf("more than one %T", o), x)
	}
	if len(options) == 1 {
		o = options[0]
	}
	return o
}

// transposed returns the transpose of every matrix of x.
func transposed(x *autograd.Node) *autograd.Node { return x.MoveDim(-1, -2) }

// empty makes a tensor like x of another shape.
func empty(x *tensor.Tensor, shape ...int) *tensor.Tensor {
	return tensor.EmptyOf(x.Device(), x.Type(), shape...)
}

// identity returns the identity matrix of n rows as a constant of the type and device of x.
func identity(x *autograd.Node, n int) *autograd.Node {
	eye := tensor.Eye(x.Device(), n, n)
	defer eye.Free()
	return autograd.Const(eye.To(x.Type()))
}

// misuse panics with a *tensor.Error about operands.
func misuse(op string, kind error, detail string, xs ...*autograd.Node) {
	e := &tensor.Error{Pkg: "linalg", Op: op, Kind: kind, Detail: detail}
	for _, x := range xs {
		e.Shapes = append(e.Shapes, x.Shape())
	}
	panic(e)
}
