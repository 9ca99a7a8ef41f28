package augment

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// batch is the sizes of a batch of pictures.
type batch struct{ n, channels, height, width int }

// mustBeBatch returns the sizes of x, [n, channels, height, width].
func mustBeBatch(op string, x *tensor.Tensor) batch {
	if x == nil {
		panic(misuse(op, tensor.ErrValue, "the tensor is nil"))
	}
	s := x.Shape()
	if len(s) != 4 {
		panic(misuse(op, tensor.ErrShape, "pictures are a batch [n, channels, height, width]", s))
	}
	return batch{s[0], s[1], s[2], s[3]}
}

// mustBeFloats panics unless x is of floats.
func mustBeFloats(op string, x *tensor.Tensor) {
	if !x.Type().Float() {
		panic(misuse(op, tensor.ErrType, fmt.Sprintf(
			"pictures are of floats in [0, 1], not %v: x.To(tensor.Float32).DivScalar(255) converts Uint8", x.Type()), x.Shape()))
	}
}

func mustBeProbability(op string, p float64) {
	if !(p >= 0 && p <= 1) {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("the probability is %v: it is in [0, 1]", p)))
	}
}

// mustBeRange panics unless 0 < r[0] ≤ r[1] ≤ most.
func mustBeRange(op, name string, r [2]float64, most float64) {
	if !(r[0] > 0 && r[0] <= r[1] && r[1] <= most) || math.IsInf(r[1], 1) {
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("%s is %v: two numbers above 0, the lesser first", name, r)))
	}
}

func misuse(op string, kind error, detail string, shapes ...[]int) *tensor.Error {
	return &tensor.Error{Pkg: "augment", Op: op, Kind: kind, Shapes: shapes, Detail: detail}
}

// option returns the one option of a call, or its zero value.
func option[T any](op string, options []T) (o T) {
	switch len(options) {
	case 0:
	case 1:
		o = options[0]
	default:
		panic(misuse(op, tensor.ErrValue, fmt.Sprintf("pass one %T", o)))
	}
	return o
}

// freeing returns what f computes, and frees what that made on the way.
func freeing(d tensor.Device, f func() *tensor.Tensor) *tensor.Tensor {
	var y *tensor.Tensor
	tensor.Scope(d, func() { y = f().View().Retain() })
	defer y.Free()
	return y.View()
}
