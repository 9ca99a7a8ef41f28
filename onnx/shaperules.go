package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// shapeRule is Shape of an [Operator].
type shapeRule = func(c *ShapeCall) []Known

func dataTypeName(n int) string { return onnxpb.DataType(n).String() }

// sameAs returns the rule of outputs that have the type and shape of inputs.
func sameAs(inputs ...int) shapeRule {
	return func(c *ShapeCall) []Known {
		out := make([]Known, len(inputs))
		for k, i := range inputs {
			out[k] = c.In(i).as(c.Type(i))
		}
		return out
	}
}

// sameOf returns the rule of an output that has the shape of input 0 and a type.
func sameOf(typ string) shapeRule {
	return func(c *ShapeCall) []Known { return []Known{c.In(0).as(typ)} }
}

// typed returns a rule with another type of the first output.
func typed(rule shapeRule, typ string) shapeRule {
	return func(c *ShapeCall) []Known {
		out := rule(c)
		if len(out) > 0 {
			out[0].Type = typ
		}
		return out
	}
}

// ofRank returns an output of a type of which the rank alone is known.
func ofRank(typ string, rank int) Known { return Known{Type: typ, Dims: make([]Dim, rank)} }

// listOfType returns a list of a type.
func listOfType(typ string, n Dim) Known { return Known{Type: typ, Dims: []Dim{n}} }

// scalarOf returns a number of a type.
func scalarOf(typ string) Known { return Known{Type: typ, Dims: []Dim{}} }

// dimsAlong returns shapes one behind the other: that of a scalar is not nil.
func dimsAlong[T any](parts ...[]T) []T { return append([]T{}, slices.Concat(parts...)...) }

// eachElement returns the rule of f of each element, which knows small tensors; f may be nil.
func eachElement(typ string, f func(x element, typ string) element) shapeRule {
	return func(c *ShapeCall) []Known {
		in := c.In(0)
		out := in.as(in.Type)
		if typ != "" {
			out.Type = typ
		}
		if f != nil && in.elements != nil {
			out.elements = make([]element, len(in.elements))
			for i, e := range in.elements {
				out.elements[i] = f(e, in.Type)
			}
		}
		return []Known{out}
	}
}

// ofNumber returns f of an element that is a known number, and nothing of another.
func ofNumber(f func(x float64) float64) func(x element, typ string) element {
	return func(x element, typ string) element {
		if n, ok := x.number(); ok {
			return elementOf(f(n), typ)
		}
		return element{}
	}
}

// rounding is f, which leaves integers as they are.
func rounding(f func(x float64) float64) func(x element, typ string) element {
	return func(x element, typ string) element {
		if x.isFloat {
			return elementOf(f(x.float), typ)
		}
		return x
	}
}

// broadcasting returns the rule of f of the elements of two inputs or more that are broadcast; f may be nil. typ is the
// type of the output, "" that of the first input.
func broadcasting(typ string, f func(x, y element, typ string) element) shapeRule {
	return func(c *ShapeCall) []Known {
		var out Known
		for i := range c.Len() {
			in := c.In(i)
			if i == 0 {
				out = in
				continue
			}
			dims := in.Dims
			if c.Version() < 7 && i == 1 {
				dims = c.alignedDims(out.Dims, dims)
			}
			both := Known{Type: out.Type, Dims: c.broadcast(out.Dims, dims)}
			if out.elements != nil && in.elements != nil && f != nil {
				both.elements = c.pairs(out, Known{Dims: dims, elements: in.elements}, both, f)
			}
			out = both
		}
		if typ != "" {
			out.Type = typ
		}
		if c.Len() == 1 && f == nil {
			out.elements = nil
		}
		return []Known{out}
	}
}

// alignedDims is aligned of shapes: y's axes are those of x from the attribute axis on.
func (c *ShapeCall) alignedDims(x, y []Dim) []Dim {
	axis := c.Int("axis", -1)
	if x == nil || y == nil || axis < 0 || len(y)+axis >= len(x) {
		return y
	}
	return slices.Concat(y, slices.Repeat([]Dim{NewDim(1)}, len(x)-axis-len(y)))
}

// pairs returns f of the elements of x and y, which are broadcast to a shape.
func (c *ShapeCall) pairs(x, y, to Known, f func(x, y element, typ string) element) []element {
	shape, ok := to.small()
	a, okA := x.spread(shape)
	b, okB := y.spread(shape)
	if !ok || !okA || !okB {
		return nil
	}
	list := make([]element, len(a))
	for i := range list {
		list[i] = f(a[i], b[i], x.Type)
	}
	return list
}

// spread returns the elements of k that is broadcast to a shape.
func (k Known) spread(shape []int) ([]element, bool) {
	from, ok := k.small()
	if !ok || len(from) > len(shape) {
		return nil, false
	}
	own := k.elementsOf(lenOf(from))
	list := make([]element, lenOf(shape))
	walk(shape, func(i int, at []int) {
		place := 0
		for a, n := range from {
			place *= n
			if n > 1 {
				place += at[len(at)-len(from)+a]
			}
		}
		list[i] = own[place]
	})
	return list, true
}

func lenOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// walk calls f with the place of each element of a shape, and its index, which is f's until it returns.
func walk(shape []int, f func(i int, at []int)) {
	at := make([]int, len(shape))
	for i := range lenOf(shape) {
		f(i, at)
		for a := len(shape) - 1; a >= 0; a-- {
			if at[a]++; at[a] < shape[a] {
				break
			}
			at[a] = 0
		}
	}
}

// moved returns a tensor of a shape whose elements are those of k at the places that from returns for an index, −1 for
// one that is not known.
func (k Known) moved(dims []Dim, from func(at, shape []int) int) Known {
	out := Known{Type: k.Type, Dims: dims}
	shape, ok := out.small()
	in, okIn := k.small()
	if k.elements == nil || !ok || !okIn {
		return out
	}
	own := k.elementsOf(lenOf(in))
	out.elements = make([]element, lenOf(shape))
	walk(shape, func(i int, at []int) {
		if place := from(at, in); place >= 0 && place < len(own) {
			out.elements[i] = own[place]
		}
	})
	return out
}

// placeOf returns the place of an index in a shape.
func placeOf(at, shape []int) int {
	place := 0
	for a, n := range shape {
		place = place*n + at[a]
	}
	return place
}

// reshaped returns k with another shape.
func (k Known) reshaped(dims []Dim) Known {
	return Known{Type: k.Type, Dims: dims, elements: k.elements}
}

// The elements of arithmetic. Floats are computed in the type that the operator has.

func added(x, y element, typ string) element {
	return arithmetic(x, y, typ, Dim.Add, func(a, b float64) float64 { return a + b })
}

func subtracted(x, y element, typ string) element {
	return arithmetic(x, y, typ, Dim.Sub, func(a, b float64) float64 { return a - b })
}

func multiplied(x, y element, typ string) element {
	return arithmetic(x, y, typ, Dim.Mul, func(a, b float64) float64 { return a * b })
}

func lesser(x, y element, typ string) element { return arithmetic(x, y, typ, Dim.Min, math.Min) }

func greater(x, y element, typ string) element { return arithmetic(x, y, typ, Dim.Max, math.Max) }

func arithmetic(x, y element, typ string, exact func(d, e Dim) Dim, f func(a, b float64) float64) element {
	if !x.isFloat && !y.isFloat {
		return element{dim: exact(x.dim, y.dim)}
	}
	return ofNumbers(x, y, typ, f)
}

// ofNumbers returns f of two known numbers, and nothing of others.
func ofNumbers(x, y element, typ string, f func(a, b float64) float64) element {
	a, okA := x.number()
	b, okB := y.number()
	if !okA || !okB {
		return element{}
	}
	return elementOf(f(a, b), typ)
}

// divided is x/y, of integers rounded towards 0: of a quotient that may be negative nothing is known.
func divided(x, y element, typ string) element {
	if typ == "float" || typ == "double" {
		if q, ok := x.dim.exactly(y.dim); ok && !x.isFloat && !y.isFloat && !y.dim.is(0) {
			return element{dim: q}
		}
		return ofNumbers(x, y, typ, func(a, b float64) float64 { return a / b })
	}
	if x.dim.atLeast(0) && y.dim.atLeast(1) {
		return element{dim: x.dim.Div(y.dim)}
	}
	a, okA := x.dim.int64()
	b, okB := y.dim.int64()
	if okA && okB && b != 0 && b != -1 {
		return element{dim: dimOf(a / b)}
	}
	return element{}
}

// remaining is the remainder of a division.
func remaining(x, y element, typ string) element {
	if !x.dim.atLeast(0) || !y.dim.atLeast(1) {
		return element{}
	}
	return element{dim: x.dim.Sub(x.dim.Div(y.dim).Mul(y.dim))}
}

// comparing returns 1 or 0 where f of x − y is the same in every run.
func comparing(f func(difference Dim) (holds, known bool)) func(x, y element, typ string) element {
	return func(x, y element, typ string) element {
		if x.isFloat || y.isFloat {
			return element{}
		}
		holds, known := f(x.dim.Sub(y.dim))
		return truth(holds, known)
	}
}

func truth(holds, known bool) element {
	switch {
	case !known:
		return element{}
	case holds:
		return element{dim: NewDim(1)}
	}
	return element{dim: NewDim(0)}
}

func isZero(d Dim) (holds, known bool) {
	minus := NewDim(0).Sub(d)
	if n, ok := d.int64(); ok {
		return n == 0, true
	}
	return false, d.atLeast(1) || minus.atLeast(1)
}

func isPositive(d Dim) (holds, known bool) {
	if d.atLeast(1) {
		return true, true
	}
	return false, NewDim(0).Sub(d).atLeast(0)
}

func isNegative(d Dim) (holds, known bool) { return isPositive(NewDim(0).Sub(d)) }

// opposite is f of the opposite question.
func opposite(f func(d Dim) (holds, known bool)) func(d Dim) (holds, known bool) {
	return func(d Dim) (bool, bool) {
		holds, known := f(d)
		return !holds, known
	}
}
