package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
)

// Known is what is known of a value without a run.
type Known struct {
	Type string // as Info.Type has it, "": not known
	Dims []Dim  // of a tensor or of strings; nil: the rank is not known

	elements []element // of a small tensor, row by row; nil: none is known
	of       *Known    // of what a sequence or an optional holds
}

// element is what is known of an element of a small tensor: an integer, of floats too, or a float that is none.
type element struct {
	dim     Dim
	float   float64
	isFloat bool
}

// mostElements is how many elements a tensor may have whose elements are followed.
const mostElements = hostLimit

// exactFloats is below what integers floats of 32 bits hold all.
const exactFloats = 1 << 24

// float returns the number of an element, and whether it is one.
func (e element) number() (float64, bool) {
	if e.isFloat {
		return e.float, true
	}
	n, ok := e.dim.int64()
	return float64(n), ok
}

// elementOf returns a number of a type as an element.
func elementOf(x float64, typ string) element {
	if typ == "float" {
		x = float64(float32(x))
	}
	if x == math.Trunc(x) && math.Abs(x) < exactFloats {
		return element{dim: dimOf(int64(x))}
	}
	return element{float: x, isFloat: true}
}

// elements returns what is known of each of n elements.
func (k Known) elementsOf(n int) []element {
	if len(k.elements) == n {
		return k.elements
	}
	return make([]element, n)
}

// ints returns the elements of a list or a scalar of integers, not known ones too, and whether their number is known.
func (k Known) ints() ([]Dim, bool) {
	n, ok := k.count().Number()
	if !ok || n > mostElements {
		return nil, false
	}
	list := make([]Dim, n)
	for i, e := range k.elementsOf(n) {
		list[i] = e.dim
	}
	return list, true
}

// numbers returns the elements where all are known numbers.
func (k Known) numbers() ([]float64, bool) {
	n, ok := k.count().Number()
	if !ok || len(k.elements) != n {
		return nil, false
	}
	list := make([]float64, n)
	for i, e := range k.elements {
		if list[i], ok = e.number(); !ok {
			return nil, false
		}
	}
	return list, true
}

// count returns how many elements there are.
func (k Known) count() Dim {
	if k.Dims == nil {
		return Dim{}
	}
	return countOf(k.Dims)
}

func countOf(dims []Dim) Dim {
	n := NewDim(1)
	for _, d := range dims {
		n = n.Mul(d)
	}
	return n
}

// shape returns the dimensions where all are numbers.
func (k Known) shape() ([]int, bool) {
	if k.Dims == nil {
		return nil, false
	}
	shape := make([]int, len(k.Dims))
	for i, d := range k.Dims {
		n, ok := d.Number()
		if !ok || n < 0 {
			return nil, false
		}
		shape[i] = n
	}
	return shape, true
}

// small returns the dimensions of a tensor whose elements are followed, and whether it is one.
func (k Known) small() ([]int, bool) {
	shape, ok := k.shape()
	n := 1
	for _, d := range shape {
		if n *= d; n > mostElements {
			return nil, false
		}
	}
	return shape, ok
}

// as returns a value of the shape of k and another type.
func (k Known) as(typ string) Known { return Known{Type: typ, Dims: k.Dims} }

// sameDims reports whether two shapes are known and the same.
func sameDims(a, b []Dim) bool { return a != nil && b != nil && slices.EqualFunc(a, b, Dim.Equal) }

// either returns what is known of a value that is one of two.
func either(a, b Known) Known {
	var k Known
	if a.Type == b.Type {
		k.Type = a.Type
	}
	if a.Dims != nil && b.Dims != nil && len(a.Dims) == len(b.Dims) {
		k.Dims = make([]Dim, len(a.Dims))
		for i, d := range a.Dims {
			if d.Equal(b.Dims[i]) {
				k.Dims[i] = d
			}
		}
	}
	if a.elements != nil && len(a.elements) == len(b.elements) && sameDims(a.Dims, b.Dims) {
		k.elements = make([]element, len(a.elements))
		for i, e := range a.elements {
			if f := b.elements[i]; e.isFloat && f.isFloat && e.float == f.float || e.dim.Equal(f.dim) {
				k.elements[i] = e
			}
		}
	}
	if a.of != nil && b.of != nil {
		of := either(*a.of, *b.of)
		k.of = &of
	}
	return k
}

// equal reports whether the same is known of two values.
func (k Known) equal(l Known) bool {
	same := func(a, b Dim) bool { return a.Equal(b) || !a.known && !b.known }
	if k.Type != l.Type || (k.Dims == nil) != (l.Dims == nil) || !slices.EqualFunc(k.Dims, l.Dims, same) {
		return false
	}
	if k.of != nil && l.of != nil {
		return k.of.equal(*l.of)
	}
	return k.of == nil && l.of == nil
}

// Info returns what is known of a value of a name as what a person reads.
func (k Known) Info(name string) Info {
	i := Info{Name: name, Type: k.Type}
	if i.Type == "" {
		i.Type = "?"
	}
	if k.Dims != nil {
		i.Dims = []string{}
		for _, d := range k.Dims {
			i.Dims = append(i.Dims, d.String())
		}
	}
	return i
}

// declared returns what a file says of a value, with sizes for names.
func declared(t *onnxpb.Type, sizes map[string]Dim) Known {
	if t == nil {
		return Known{}
	}
	k := Known{Type: typeName(t)}
	if k.Type == "?" || k.Type == "undefined" {
		k.Type = ""
	}
	if t.HasShape {
		k.Dims = make([]Dim, len(t.Dims))
		for i, d := range t.Dims {
			switch {
			case d.Param == "" && d.Value >= 0:
				k.Dims[i] = dimOf(d.Value)
			case !isName(d.Param):
			case sizes[d.Param].known:
				k.Dims[i] = sizes[d.Param]
			default:
				k.Dims[i] = SymbolicDim(d.Param)
			}
		}
	}
	if t.Of != nil {
		of := declared(t.Of, sizes)
		k.of = &of
	}
	return k
}

// isName reports whether a dimension has a name that stands for one size: exporters write some for all that are open.
func isName(param string) bool {
	return !slices.Contains([]string{"", "?", "-1", "None", "none", "N/A", "unk", "unknown"}, param)
}

// constantOf returns what is known of a tensor of the file.
func constantOf(t *onnxpb.Tensor, dir string) Known {
	k := Known{Type: t.Type.String(), Dims: make([]Dim, len(t.Dims))}
	for i, d := range t.Dims {
		k.Dims[i] = dimOf(d)
	}
	n, ok := k.count().Number()
	if !ok || n > mostElements {
		return k
	}
	var outside []byte
	if t.Outside {
		var err error
		if outside, err = readExternal(t, dir); err != nil {
			return k // Load says so
		}
	}
	if raw, err := t.Bytes(outside); err == nil {
		k.elements = elementsIn(raw, t.Type, n)
	}
	return k
}

// elementsIn returns n elements of a type that shapes are computed in, nil of others.
func elementsIn(raw []byte, typ onnxpb.DataType, n int) []element {
	list := make([]element, n)
	switch typ {
	case onnxpb.Int64:
		for i, x := range elements[int64](raw) {
			list[i].dim = dimOf(x)
		}
	case onnxpb.Int32:
		for i, x := range elements[int32](raw) {
			list[i].dim = dimOf(int64(x))
		}
	case onnxpb.Bool:
		for i, x := range raw {
			list[i].dim = dimOf(int64(x))
		}
	case onnxpb.Float:
		for i, x := range elements[float32](raw) {
			list[i] = elementOf(float64(x), "float")
		}
	case onnxpb.Double:
		for i, x := range elements[float64](raw) {
			list[i] = elementOf(x, "double")
		}
	default:
		return nil
	}
	return list
}
