package onnx

import "slices"

// ShapeCall is a node of which a run is not needed to say what shapes its outputs have: what Shape of an [Operator]
// gets. Its methods for attributes are those of [Call].
type ShapeCall struct {
	nodeCall
	in    []Known
	given []bool
	graph func(name string, in []Known) []Known // runs the graph of an attribute
}

// Len returns the number of inputs, those that are left out in the middle counted.
func (c *ShapeCall) Len() int { return len(c.in) }

// Has reports whether input i is there.
func (c *ShapeCall) Has(i int) bool { return i < len(c.in) && c.given[i] }

// In returns what is known of input i: nothing if it is left out.
func (c *ShapeCall) In(i int) Known {
	if !c.Has(i) {
		return Known{}
	}
	if k := c.in[i]; k.of == nil || len(k.Type) < 9 || k.Type[:9] != "optional(" {
		return k
	}
	return *c.in[i].of // operators take what an optional holds
}

// Type returns the type of input i, "" if it is not known.
func (c *ShapeCall) Type(i int) string { return c.In(i).Type }

// Dims returns the shape of input i, nil if its rank is not known. It is the caller's.
func (c *ShapeCall) Dims(i int) []Dim {
	if d := c.In(i).Dims; d != nil {
		return append([]Dim{}, d...)
	}
	return nil
}

// Ints returns the elements of input i, a small tensor of integers. ok says whether their number is known: some of them
// may not be.
func (c *ShapeCall) Ints(i int) (list []Dim, ok bool) { return c.In(i).ints() }

// numbersOf returns the integers of input i, and whether all are known numbers.
func (c *ShapeCall) numbersOf(i int) ([]int, bool) {
	list, ok := c.Ints(i)
	return numbersIn(list, ok)
}

func numbersIn(list []Dim, ok bool) ([]int, bool) {
	numbers := make([]int, len(list))
	for k, d := range list {
		var known bool
		numbers[k], known = d.Number()
		ok = ok && known
	}
	return numbers, ok
}

// intOf returns the one integer of input i, or else if it is left out, and whether it is known.
func (c *ShapeCall) intOf(i, or int) (int, bool) {
	if !c.Has(i) {
		return or, true
	}
	list, ok := c.numbersOf(i)
	if !ok || len(list) != 1 {
		return 0, false
	}
	return list[0], true
}

// dimOf returns the one integer of input i.
func (c *ShapeCall) dimOf(i int) Dim {
	if list, ok := c.Ints(i); ok && len(list) == 1 {
		return list[0]
	}
	return Dim{}
}

// typeAttribute returns the type that an attribute names, or the given one if the node has none of the name.
func (c *ShapeCall) typeAttribute(name, or string) string {
	if n := c.Int(name, 0); n != 0 {
		return dataTypeName(n)
	}
	return or
}

// axesOf is that of Call: known is false where an input that is not known lists them.
func (c *ShapeCall) axesOf(i, rank int) (axes []int, given, known bool) {
	if c.HasAttribute("axes") {
		return c.axes(c.IntList("axes"), rank), true, true
	}
	if !c.Has(i) {
		return nil, false, true
	}
	list, ok := c.numbersOf(i)
	if !ok {
		return nil, true, false
	}
	return c.axes(list, rank), true, true
}

// sameSize fails where two dimensions differ in every run. It returns one that is known.
func (c *ShapeCall) sameSize(a, b Dim) Dim {
	if n, ok := a.Number(); ok {
		if m, ok := b.Number(); ok && n != m {
			c.Fail("shapes %v do not fit", c.shapes())
		}
		return a
	}
	if !b.known {
		return a
	}
	if b.isNumber() || !a.known {
		return b
	}
	return a
}

// shapes returns the inputs for an error.
func (c *ShapeCall) shapes() []Info {
	var list []Info
	for i, in := range c.in {
		if c.given[i] {
			list = append(list, in.Info(c.node.proto.Inputs[i]))
		}
	}
	return list
}

// broadcast returns the shape of what has the shapes of operands that are broadcast, nil if a rank is not known.
func (c *ShapeCall) broadcast(shapes ...[]Dim) []Dim {
	out := []Dim{}
	for _, s := range shapes {
		if s == nil {
			return nil
		}
		if len(s) > len(out) {
			out = slices.Concat(slices.Repeat([]Dim{NewDim(1)}, len(s)-len(out)), out)
		}
		for i, d := range s {
			at := len(out) - len(s) + i
			out[at] = c.broadcastSize(out[at], d)
		}
	}
	return out
}

func (c *ShapeCall) broadcastSize(a, b Dim) Dim {
	n, okA := a.Number()
	m, okB := b.Number()
	switch {
	case okA && n == 1:
		return b
	case okB && m == 1:
		return a
	case okA && okB && n != m:
		c.Fail("shapes %v do not broadcast", c.shapes())
	case okA: // b is that, or 1
		return a
	case okB:
		return b
	case a.Equal(b):
		return a
	case a.atLeast(2): // as above
		return a
	case b.atLeast(2):
		return b
	}
	return Dim{}
}
