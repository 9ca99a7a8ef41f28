// Package compose is operations that are made of others, each written once for tensors and for the nodes of graphs.
//
// Line op:composed of the table of operations makes their methods. An operand that does not suit an operation is a
// panic with a [Misuse], of which those methods make the error of their package.
package compose

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
)

// Array is a tensor or a node. Each method is that of a tensor.
type Array[T any] interface {
	Shape() []int
	Rank() int
	Type() kernels.DType

	Reshape(shape ...int) T
	Transpose(axes ...int) T
	Slice(axis, from, to int) T
	Select(axis, index int) T
	Unsqueeze(axis int) T
	Diagonal(offset, first, second int) T

	Sum(axes ...int) T
	Norm(p float64, axes ...int) T

	DivScalar(a float64) T
	MaxScalar(a float64) T
	Sigmoid() T
	IsNaN() T
	Add(y T) T
	Sub(y T) T
	Mul(y T) T
	Div(y T) T
	Ne(y T) T
	Lerp(y T, weight float64) T
	Where(cond, y T) T
}

// Misuse is what is wrong with an operand.
type Misuse struct {
	Kind   Kind
	Detail string
}

// Kind is the kind of a misuse, as errors of package tensor have it.
type Kind uint8

// The kinds.
const (
	Shape Kind = iota
	Axis
	Value
)

// misuse panics with a Misuse.
func misuse(kind Kind, format string, args ...any) { panic(Misuse{kind, fmt.Sprintf(format, args...)}) }

// axisOf resolves an axis, which may count from the end.
func axisOf(axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	if a < 0 || a >= rank {
		misuse(Axis, "axis %d of rank %d", axis, rank)
	}
	return a
}

// product returns the number of elements of a shape.
func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
