package onnx

import (
	"cmp"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that read or write elements by their indices. Indices below 0 count from the end.
func init() {
	Register(
		mover("Gather", "axis", gatherShape, func(c *Call, x *autograd.Node) *autograd.Node {
			axis := c.axis(c.Int("axis", 0), x.Rank())
			if v := c.Value(1); v.host != nil && v.host.Rank() == 0 { // a view, and no launch
				if i, n := c.Ints(1)[0], x.Shape()[axis]; -n <= i && i < n {
					return x.Select(axis, i)
				}
			}
			index := make([]*tensor.Tensor, axis+1)
			index[axis] = c.Tensor(1)
			return x.Index(index...)
		}),
		mover("GatherElements", "axis", gatherElementsShape, func(c *Call, x *autograd.Node) *autograd.Node {
			return x.Index(c.places(x, c.Tensor(1))...)
		}),
		mover("GatherND", "batch_dims", gatherNDShape, func(c *Call, x *autograd.Node) *autograd.Node {
			index, batch := c.Tensor(1), c.Int("batch_dims", 0)
			shape := index.Shape()
			if batch < 0 || batch >= min(len(shape), x.Rank()) || !slices.Equal(shape[:batch], x.Shape()[:batch]) {
				c.Fail("%d batch axes of shapes %v and %v", batch, x.Shape(), shape)
			}
			return x.Index(c.tuples(x, index, batch)...)
		}),
		Operator{Name: "Scatter", Attributes: "axis", Run: scatterElements, Shape: sameAs(0)},
		Operator{Name: "ScatterElements", Attributes: "axis reduction", Run: scatterElements, Shape: sameAs(0)},
		Operator{Name: "ScatterND", Attributes: "reduction", Run: scatterND, Shape: sameAs(0)},
		Operator{Name: "TensorScatter", Attributes: "mode axis", Run: tensorScatter, Shape: sameAs(0)},
		mover("Compress", "axis", compressShape, func(c *Call, x *autograd.Node) *autograd.Node {
			if len(c.dims(1)) != 1 {
				c.Fail("input 1 is %v, and should be a list", c.Value(1))
			}
			var list []int64
			for i, holds := range c.Ints(1) {
				if holds != 0 {
					list = append(list, int64(i))
				}
			}
			axis := 0
			if c.HasAttribute("axis") {
				axis = c.axis(c.Int("axis", 0), x.Rank())
			} else {
				x = x.Reshape(-1)
			}
			return x.IndexSelect(axis, tensor.New(c.dev, list))
		}),
		Operator{Name: "NonZero", Run: nonZero, Shape: nonZeroShape},
		Operator{Name: "Unique", Attributes: "axis sorted", Run: unique, Shape: uniqueShape},
	)
}

// places returns indices by which Index reads, and IndexPut writes, the elements that index names along the axis of the
// attribute, and its own places along the others.
func (c *Call) places(x *autograd.Node, index *tensor.Tensor) []*tensor.Tensor {
	shape, axis := index.Shape(), c.axis(c.Int("axis", 0), x.Rank())
	if len(shape) != x.Rank() {
		c.Fail("indices of shape %v for a tensor of shape %v", shape, x.Shape())
	}
	list := make([]*tensor.Tensor, len(shape))
	for i, n := range shape {
		if list[i] = index; i != axis {
			list[i] = alongAxis(c, n, i, len(shape))
		}
	}
	return list
}

// tuples returns the indices along axes of x that a tensor has along its last axis: after batch axes, which both have.
func (c *Call) tuples(x *autograd.Node, index *tensor.Tensor, batch int) []*tensor.Tensor {
	shape := index.Shape()
	if len(shape) == 0 || shape[len(shape)-1] < 1 || shape[len(shape)-1] > x.Rank()-batch {
		c.Fail("indices of shape %v for a tensor of shape %v", shape, x.Shape())
	}
	var list []*tensor.Tensor
	for i := range batch {
		list = append(list, alongAxis(c, shape[i], i, len(shape)-1))
	}
	for i := range shape[len(shape)-1] {
		list = append(list, index.Select(-1, i))
	}
	return list
}

// reductions are what Scatter operators make of an element and of what comes to it.
var reductions = map[string]tensor.ScatterReduction{
	"add": tensor.ScatterSum, "mul": tensor.ScatterProd, "min": tensor.ScatterMin, "max": tensor.ScatterMax,
}

// scatterElements is x with updates where index names elements along an axis.
func scatterElements(c *Call) []*Value {
	m := moving(c, 0)
	x, updates, index := m.node(0), m.node(2), c.Tensor(1)
	if !slices.Equal(index.Shape(), updates.Shape()) {
		c.Fail("updates of shape %v for indices of shape %v", updates.Shape(), index.Shape())
	}
	how := c.oneOf("reduction", "none", "add", "mul", "min", "max")
	if how == "none" {
		return m.out(x.IndexPut(c.places(x, index), updates))
	}
	if m.strings != nil {
		c.Fail("strings are not reduced")
	}
	axis := c.axis(c.Int("axis", 0), x.Rank())
	return Out(reduced(how, x, updates, func(x, updates *autograd.Node, to tensor.ScatterReduction) *autograd.Node {
		if to == tensor.ScatterSum {
			return x.IndexPut(c.places(x, index), updates, tensor.IndexPutOptions{Accumulate: true})
		}
		return x.ScatterReduce(axis, c.fromFront(index, 1, x.Shape()[axis]), updates, to)
	}))
}

// scatterFunc is a scatter with a reduction.
type scatterFunc func(x, updates *autograd.Node, to tensor.ScatterReduction) *autograd.Node

// reduced scatters with a reduction. Of booleans a sum is whether one holds, and a product whether all hold.
func reduced(how string, x, updates *autograd.Node, scatter scatterFunc) *autograd.Node {
	to := reductions[how]
	switch {
	case x.Type() == tensor.Bool:
		if to = tensor.ScatterMax; how == "mul" || how == "min" {
			to = tensor.ScatterMin
		}
		return scatter(x.To(tensor.Uint8), updates.To(tensor.Uint8), to).To(tensor.Bool)
	case x.Type() == tensor.Uint64 && (to == tensor.ScatterMin || to == tensor.ScatterMax):
		const half = 1 << 63 // less than this, they have the same order as Int64
		y := scatter(x.To(tensor.Int64).AddScalar(-half), updates.To(tensor.Int64).AddScalar(-half), to)
		return y.AddScalar(-half).To(tensor.Uint64)
	}
	return scatter(x, updates, to)
}

// fromFront returns an index, which is input i, without numbers below 0.
func (c *Call) fromFront(index *tensor.Tensor, i, n int) *tensor.Tensor {
	if c.Value(i).host == nil {
		return index.AddScalar(float64(n)).Where(index.LtScalar(0), index)
	}
	list := c.Ints(i)
	front := make([]int64, len(list))
	for k, at := range list {
		if at < 0 {
			at += n
		}
		front[k] = int64(at)
	}
	return tensor.New(c.dev, front, index.Shape()...)
}

// scatterND is x with updates where tuples of indices along the first axes name parts.
func scatterND(c *Call) []*Value {
	m := moving(c, 0)
	x, updates, index := m.node(0), m.node(2), c.Tensor(1)
	tuples := c.tuples(x, index, 0)
	tuple := len(tuples)
	shape, at := x.Shape(), index.Shape()
	at = at[:len(at)-1]
	if want := slices.Concat(at, shape[tuple:]); !slices.Equal(updates.Shape(), want) {
		c.Fail("updates of shape %v, and %v is wanted for indices of shape %v", updates.Shape(), want, index.Shape())
	}
	how := c.oneOf("reduction", "none", "add", "mul", "min", "max")
	if how == "none" {
		return m.out(x.IndexPut(tuples, updates))
	}
	if m.strings != nil {
		c.Fail("strings are not reduced")
	}
	return Out(reduced(how, x, updates, func(x, updates *autograd.Node, to tensor.ScatterReduction) *autograd.Node {
		if to == tensor.ScatterSum {
			return x.IndexPut(tuples, updates, tensor.IndexPutOptions{Accumulate: true})
		}
		// The parts as the rows of a matrix, by their numbers.
		rows, cols, n := c.count(shape[:tuple]), c.count(shape[tuple:]), c.count(at)
		numbers := alongAxis(c, rows, 0, 1).Reshape(shape[:tuple]...).Index(tuples...)
		wide := numbers.Reshape(n, 1).Expand(n, cols)
		return x.Reshape(rows, cols).ScatterReduce(0, wide, updates.Reshape(n, cols), to).Reshape(shape...)
	}))
}

// tensorScatter writes steps into a cache, for each of a batch from its own index on. Past the end a circular cache
// goes on from its beginning.
func tensorScatter(c *Call) []*Value {
	m := moving(c, 0)
	x, updates := m.node(0), m.node(1)
	shape, from := x.Shape(), slices.Clone(updates.Shape())
	axis, circular := c.axis(c.Int("axis", -2), x.Rank()), c.oneOf("mode", "linear", "circular") == "circular"
	if len(from) != len(shape) || axis == 0 || from[axis] > shape[axis] {
		c.Fail("updates of shape %v for a cache of shape %v along axis %d", from, shape, axis)
	}
	steps, most := from[axis], shape[axis]
	if from[axis] = most; !slices.Equal(from, shape) {
		c.Fail("updates of shape %v for a cache of shape %v along axis %d", updates.Shape(), shape, axis)
	}
	starts := make([]int, shape[0])
	if c.Has(2) {
		if starts = c.Ints(2); len(starts) != shape[0] {
			c.Fail("%d write indices for a batch of %d", len(starts), shape[0])
		}
	}
	if x.Len() == 0 || updates.Len() == 0 {
		return m.out(x)
	}
	places := make([]int64, 0, len(starts)*steps)
	for _, start := range starts {
		if start < 0 || !circular && start > most-steps {
			c.Fail("%d steps at %d of a cache of %d", steps, start, most)
		}
		for i := range steps {
			places = append(places, int64((start%most+i)%most))
		}
	}
	index := make([]*tensor.Tensor, axis+1)
	index[0], index[axis] = alongAxis(c, shape[0], 0, 2), tensor.New(c.dev, places, shape[0], steps)
	return m.out(x.IndexPut(index, updates.MoveDim(axis, 1)))
}

// nonZero returns the indices of the elements that are not 0, or "": a row for each axis, none for a scalar.
func nonZero(c *Call) []*Value {
	x := moving(c, 0).node(0)
	if !c.onHost {
		c.r.downloads = true
	}
	return Out(autograd.Const(x.NonZero().T()))
}

// unique returns the different elements, or the different parts along an axis, in their order or in that in which they
// come first, where each comes first, which of them each element is, and how often each is there.
func unique(c *Call) []*Value {
	m := moving(c, 0)
	x := m.node(0)
	axis := 0
	if c.HasAttribute("axis") {
		axis = c.axis(c.Int("axis", 0), x.Rank())
	} else {
		x = x.Reshape(-1)
	}
	n := x.Shape()[axis]
	compare := m.comparison(x.MoveDim(axis, 0))
	order := upTo(n)
	slices.SortStableFunc(order, compare)
	var groups [][]int // of the same, from the first on
	for i, k := range order {
		if i > 0 && compare(order[i-1], k) == 0 {
			groups[len(groups)-1] = append(groups[len(groups)-1], k)
		} else {
			groups = append(groups, []int{k})
		}
	}
	if !c.Bool("sorted", true) {
		slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	}
	first, which, counts := make([]int64, len(groups)), make([]int64, n), make([]int64, len(groups))
	for g, group := range groups {
		first[g], counts[g] = int64(group[0]), int64(len(group))
		for _, k := range group {
			which[k] = int64(g)
		}
	}
	out := m.out(x.IndexSelect(axis, tensor.New(c.dev, first)))
	return append(out, Out(New(c, first), New(c, which), New(c, counts))...)
}

// comparison returns how the parts of x along its first axis compare: as their elements in turn. NaN is above all
// numbers, and equal to itself.
func (m *movement) comparison(x *autograd.Node) func(i, k int) int {
	if n := x.Shape()[0]; n == 0 || x.Len() == 0 {
		return func(i, k int) int { return 0 }
	}
	size := x.Len() / x.Shape()[0]
	if x.Type().Integer() {
		return byElements(m.c.read(x.To(tensor.Int64)), size, func(a, b int64) int {
			switch {
			case m.strings != nil:
				return cmp.Compare(m.strings[a], m.strings[b])
			case x.Type() == tensor.Uint64:
				return cmp.Compare(uint64(a), uint64(b))
			}
			return cmp.Compare(a, b)
		})
	}
	if !m.c.onHost {
		m.c.r.downloads = true
	}
	list, err := x.Float64s()
	if err != nil {
		panic(deviceError{err})
	}
	return byElements(list, size, func(a, b float64) int { return -cmp.Compare(-a, -b) })
}

// byElements compares parts of a size.
func byElements[T any](list []T, size int, compare func(a, b T) int) func(i, k int) int {
	return func(i, k int) int {
		return slices.CompareFunc(list[i*size:(i+1)*size], list[k*size:(k+1)*size], compare)
	}
}

func gatherShape(c *ShapeCall) []Known {
	in, index := c.In(0), c.In(1)
	if in.Dims == nil || index.Dims == nil {
		return []Known{{Type: in.Type}}
	}
	axis := c.axis(c.Int("axis", 0), len(in.Dims))
	dims := dimsAlong(in.Dims[:axis], index.Dims, in.Dims[axis+1:])
	places, _ := index.ints()
	from, _ := index.small()
	return []Known{in.moved(dims, func(at, shape []int) int {
		k := placeOf(at[axis:axis+len(from)], from)
		if k >= len(places) {
			return -1
		}
		place, ok := places[k].Number()
		if place < 0 {
			place += shape[axis]
		}
		if !ok || place < 0 || place >= shape[axis] {
			return -1
		}
		return placeOf(dimsAlong(at[:axis], []int{place}, at[axis+len(from):]), shape)
	})}
}

func gatherElementsShape(c *ShapeCall) []Known { return []Known{c.In(1).as(c.Type(0))} }

func gatherNDShape(c *ShapeCall) []Known {
	in, index := c.In(0), c.In(1)
	out := []Known{{Type: in.Type}}
	if in.Dims == nil || len(index.Dims) == 0 {
		return out
	}
	last := len(index.Dims) - 1
	n, ok := index.Dims[last].Number()
	from := c.Int("batch_dims", 0) + n
	if !ok || from < 0 || from > len(in.Dims) {
		return out
	}
	out[0].Dims = dimsAlong(index.Dims[:last], in.Dims[from:])
	return out
}

func compressShape(c *ShapeCall) []Known {
	in := c.In(0)
	if !c.HasAttribute("axis") {
		return []Known{ofRank(in.Type, 1)}
	}
	dims := c.Dims(0)
	if dims != nil {
		dims[c.axis(c.Int("axis", 0), len(dims))] = Dim{}
	}
	return []Known{{Type: in.Type, Dims: dims}}
}

func nonZeroShape(c *ShapeCall) []Known {
	out := ofRank("int64", 2)
	if dims := c.Dims(0); dims != nil {
		out.Dims[0] = NewDim(len(dims))
	}
	return []Known{out}
}

func uniqueShape(c *ShapeCall) []Known {
	out := compressShape(c)
	places := ofRank("int64", 1)
	which := places
	if dims := c.Dims(0); dims != nil {
		n := countOf(dims)
		if c.HasAttribute("axis") {
			n = dims[c.axis(c.Int("axis", 0), len(dims))]
		}
		which = listOfType("int64", n)
	}
	return append(out, places, which, places)
}
