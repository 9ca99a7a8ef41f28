package onnx

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// size is the size of an axis, or another number that may follow from dynamic ones, in each run.
type size []int

// fixed reports whether it is the same in all runs.
func (s size) fixed() bool { return !slices.ContainsFunc(s, func(n int) bool { return n != s[0] }) }

func (s size) equals(t size) bool { return slices.Equal(s, t) }

// shapeOf returns the shape of a value. It fails unless all runs have one rank.
func shapeOf(v value) []size {
	var shape []size
	for r := range v {
		of := tensorIn(v[r]).Shape()
		if r == 0 {
			shape = make([]size, len(of))
		}
		if len(of) != len(shape) {
			fail("the number of axes, %d, follows from the inputs", len(shape))
		}
		for axis, n := range of {
			shape[axis] = append(shape[axis], n)
		}
	}
	return shape
}

// constantSize returns n in all runs.
func (e *exporter) constantSize(n int) size { return slices.Repeat(size{n}, len(e.runs)) }

// fixedShape returns a shape that is the same in all runs, and fails if it is not.
func fixedShape(shape []size) []int {
	list := make([]int, len(shape))
	for i, s := range shape {
		if !s.fixed() {
			fail("it cannot be written for a dynamic size, of axis %d", i)
		}
		list[i] = s[0]
	}
	return list
}

// fixedSize returns a size that is the same in all runs, and fails if it is not.
func fixedSize(s size) int { return fixedShape([]size{s})[0] }

// shape returns the name of a vector with a shape. of are values whose sizes it may follow from.
func (e *exporter) shape(shape []size, of []value) string {
	if !slices.ContainsFunc(shape, func(s size) bool { return !s.fixed() }) {
		return e.list(fixedShape(shape)...)
	}
	var parts []string
	for i := 0; i < len(shape); {
		var row []int
		for ; i < len(shape) && shape[i].fixed(); i++ {
			row = append(row, shape[i][0])
		}
		if row != nil {
			parts = append(parts, e.list(row...))
		}
		if i < len(shape) {
			parts = append(parts, e.size(shape[i], of))
			i++
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return e.op("Concat", parts, integer("axis", 0))
}

// size returns the name of a vector of one element, a size: a constant, a size of an input or of the values, or a
// multiple of products of dynamic sizes plus a number. It fails if it is none of these.
func (e *exporter) size(s size, of []value) string {
	if s.fixed() {
		return e.list(s[0])
	}
	key := fmt.Sprint("size", s)
	if name := e.small[key]; name != "" {
		return name
	}
	for _, y := range e.symbols {
		if s.equals(y.sizes) {
			e.small[key] = e.sizeOfInput(y)
			return e.small[key]
		}
	}
	for _, v := range of {
		for axis, n := range shapeOf(v) {
			if s.equals(n) {
				return e.op("Shape", []string{e.name(v)}, integer("start", axis), integer("end", axis+1))
			}
		}
	}
	for set := 1; set < 1<<len(e.symbols); set++ {
		if name := e.affine(s, set); name != "" {
			e.small[key] = name
			return name
		}
	}
	fail("a size, %v for the example, follows from dynamic sizes in a way that is not a multiple plus a number", s[0])
	return ""
}

// sizeOfInput returns the name of a symbol's size, a vector of one element.
func (e *exporter) sizeOfInput(y *symbol) string {
	key := "symbol " + y.name
	if e.small[key] == "" {
		before := e.path
		e.path = ""
		e.small[key] = e.op("Shape", []string{e.options.Inputs[y.input]}, integer("start", y.axis), integer("end", y.axis+1))
		e.path = before
	}
	return e.small[key]
}

// affine returns the name of s = a/b·Π + c, Π being the product of a set of the symbols, or "" if it is none.
func (e *exporter) affine(s size, set int) string {
	product := e.constantSize(1)
	for i, y := range e.symbols {
		for r := range product {
			if set>>i&1 != 0 {
				product[r] *= y.sizes[r]
			}
		}
	}
	at := slices.IndexFunc(product, func(n int) bool { return n != product[0] })
	if at < 0 {
		return ""
	}
	a, b := s[at]-s[0], product[at]-product[0]
	if b < 0 {
		a, b = -a, -b
	}
	d := gcd(max(a, -a), b)
	if d == 0 {
		return ""
	}
	a, b = a/d, b/d
	if product[0]*a%b != 0 {
		return ""
	}
	c := s[0] - product[0]*a/b
	for r := range s {
		if product[r]*a%b != 0 || product[r]*a/b+c != s[r] {
			return ""
		}
	}
	name := ""
	for i, y := range e.symbols {
		switch n := e.sizeOfInput(y); {
		case set>>i&1 == 0:
		case name == "":
			name = n
		default:
			name = e.op("Mul", []string{name, n})
		}
	}
	if a != 1 {
		name = e.op("Mul", []string{name, e.list(a)})
	}
	if b != 1 {
		name = e.op("Div", []string{name, e.list(b)})
	}
	if c != 0 {
		name = e.op("Add", []string{name, e.list(c)})
	}
	return name
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// reshape returns a value under another shape: with 0 and −1 in place of dynamic sizes, where that is enough.
func (e *exporter) reshape(name string, from, to []size, of ...value) string {
	list, open := make([]int, len(to)), 0
	empty := slices.ContainsFunc(to, func(s size) bool { return slices.Contains(s, 0) })
	for i, s := range to {
		switch {
		case s.fixed():
			list[i] = s[0]
		case i < len(from) && s.equals(from[i]) && !empty:
			list[i] = 0
		default:
			list[i] = -1
			open++
		}
	}
	if open <= 1 && (!empty || open == 0) {
		if empty {
			return e.op("Reshape", []string{name, e.list(list...)}, integer("allowzero", 1))
		}
		return e.op("Reshape", []string{name, e.list(list...)})
	}
	return e.op("Reshape", []string{name, e.shape(to, of)}, integer("allowzero", 1))
}

// product returns the product of sizes.
func (e *exporter) product(sizes ...size) size {
	p := e.constantSize(1)
	for _, s := range sizes {
		for r := range p {
			p[r] *= s[r]
		}
	}
	return p
}

// squeeze returns a value without axes, and unsqueeze with axes of the result more.
func (e *exporter) squeeze(name string, axes ...int) string {
	if len(axes) == 0 {
		return name
	}
	return e.op("Squeeze", []string{name, e.list(axes...)})
}

func (e *exporter) unsqueeze(name string, axes ...int) string {
	if len(axes) == 0 {
		return name
	}
	return e.op("Unsqueeze", []string{name, e.list(axes...)})
}

// slice returns the elements of an axis from one to another; end is math.MaxInt for the end.
func (e *exporter) slice(name string, axis int, from, to string, step int) string {
	in := []string{name, from, to, e.list(axis)}
	if step != 1 {
		in = append(in, e.list(step))
	}
	return e.op("Slice", in)
}

// numberOf returns the name of a size as a number of a type, of rank 0.
func (e *exporter) numberOf(s size, typ tensor.Type, of ...value) string {
	if s.fixed() {
		return e.scalar(typ, float64(s[0]))
	}
	return e.cast(e.axesGone(e.size(s, of)), tensor.Int64, typ)
}
