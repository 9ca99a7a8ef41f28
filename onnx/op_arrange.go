package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that put parts of tensors elsewhere.
func init() {
	Register(
		Operator{Name: "Concat", Attributes: "axis", Shape: concatShape, Run: func(c *Call) []*Value {
			axis := c.Int("axis", 1)
			if c.Version() >= 4 && !c.HasAttribute("axis") {
				c.Fail("attribute axis is missing")
			}
			m := moving(c, 0)
			list := make([]*autograd.Node, c.Len())
			for i := range list {
				list[i] = m.node(i)
			}
			return m.out(autograd.Concat(axis, list...))
		}},
		Operator{Name: "Split", Attributes: "axis split num_outputs", Run: split, Shape: splitShape},
		mover("Slice", "starts ends axes", sliceShape, slice),
		Operator{Name: "Tile", Shape: tileShape, Run: func(c *Call) []*Value {
			shape := c.dims(0)
			var counts []int
			if c.Version() < 6 { // a count and an axis
				counts = slices.Repeat([]int{1}, len(shape))
				counts[c.axis(c.IntOf(2, 0), len(shape))] = c.IntOf(1, 1)
			} else if counts = c.Ints(1); len(counts) != len(shape) {
				c.Fail("%d repeats of a tensor of rank %d", len(counts), len(shape))
			}
			for i, n := range counts {
				if n < 0 || n >= math.MaxInt32 {
					c.Fail("repeats %v", counts)
				}
				shape[i] = c.count([]int{shape[i], n})
			}
			c.makes(shape)
			m := moving(c, 0)
			return m.out(m.node(0).Tile(counts...))
		}},
		mover("DepthToSpace", "blocksize mode", depthToSpaceShape, func(c *Call, x *autograd.Node) *autograd.Node {
			n, ch, h, w, b := blocks(c, x)
			if ch%(b*b) != 0 {
				c.Fail("%d channels for blocks of %d×%d", ch, b, b)
			}
			if c.oneOf("mode", "DCR", "CRD") == "CRD" {
				x = x.Reshape(n, ch/(b*b), b, b, h, w).Transpose(0, 1, 4, 2, 5, 3)
			} else {
				x = x.Reshape(n, b, b, ch/(b*b), h, w).Transpose(0, 3, 4, 1, 5, 2)
			}
			return x.Reshape(n, ch/(b*b), h*b, w*b)
		}),
		mover("SpaceToDepth", "blocksize mode", spaceToDepthShape, func(c *Call, x *autograd.Node) *autograd.Node {
			n, ch, h, w, b := blocks(c, x)
			if h%b != 0 || w%b != 0 {
				c.Fail("%d×%d pixels in blocks of %d×%d", h, w, b, b)
			}
			x = x.Reshape(n, ch, h/b, b, w/b, b)
			if c.oneOf("mode", "DCR", "CRD") == "CRD" {
				x = x.Transpose(0, 1, 3, 5, 2, 4)
			} else {
				x = x.Transpose(0, 3, 5, 1, 2, 4)
			}
			return x.Reshape(n, ch*b*b, h/b, w/b)
		}),
		mover("ReverseSequence", "batch_axis time_axis", sameAs(0), reverseSequence),
		mover("Trilu", "upper", sameAs(0), func(c *Call, x *autograd.Node) *autograd.Node {
			shape := x.Shape()
			if len(shape) < 2 {
				c.Fail("a tensor of rank %d has no matrices", len(shape))
			}
			rows, cols := shape[len(shape)-2], shape[len(shape)-1]
			k := min(max(c.IntOf(1, 0), -rows-1), cols+1)
			if c.Bool("upper", true) {
				return x.Triu(k)
			}
			return x.Tril(k)
		}),
	)
}

// split has the sizes of the parts as an attribute before opset 13, which opset 1 also took as an input.
func split(c *Call) []*Value {
	m := moving(c, 0)
	x := m.node(0)
	axis := c.axis(c.Int("axis", 0), x.Rank())
	n := x.Shape()[axis]
	sizes := c.IntList("split")
	if c.Has(1) {
		sizes = c.Ints(1)
	}
	if sizes == nil {
		parts := c.Int("num_outputs", c.Outputs())
		if parts < 1 || parts > max(c.Outputs(), 1) {
			c.Fail("%d parts for %d outputs", parts, c.Outputs())
		}
		size := (n + parts - 1) / parts
		if n%parts != 0 && c.Version() < 18 {
			c.Fail("axis %d of %v in %d equal parts", axis, x.Shape(), parts)
		}
		for rest := n; len(sizes) < parts; rest -= sizes[len(sizes)-1] {
			sizes = append(sizes, min(size, rest))
		}
	}
	sum := 0
	for _, size := range sizes {
		if size < 0 || size > n-sum {
			c.Fail("parts of %v of axis %d of %v", sizes, axis, x.Shape())
		}
		sum += size
	}
	if sum != n {
		c.Fail("parts of %v of axis %d of %v", sizes, axis, x.Shape())
	}
	return m.out(x.SplitWithSizes(axis, sizes...)...)
}

// slice has its numbers as attributes before opset 10, and as inputs from there on, with steps.
func slice(c *Call, x *autograd.Node) *autograd.Node {
	starts, ends, axes := c.IntList("starts"), c.IntList("ends"), c.IntList("axes")
	var steps []int
	if c.Version() >= 10 {
		starts, ends, axes = c.Ints(1), c.Ints(2), nil
		if c.Has(3) {
			axes = c.Ints(3)
		}
		if c.Has(4) {
			steps = c.Ints(4)
		}
	}
	if axes == nil {
		axes = upTo(len(starts))
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.Fail("%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	for i, axis := range c.axes(axes, x.Rank()) {
		x = c.stride(x, axis, starts[i], ends[i], steps[i])
	}
	return x
}

// stride is NumPy's x[start:end:step] along an axis.
func (c *Call) stride(x *autograd.Node, axis, start, end, step int) *autograd.Node {
	n := x.Shape()[axis]
	if step == 0 {
		c.Fail("a step of 0")
	}
	step = min(max(step, -n-1), n+1)
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if step > 0 {
		start, end = min(max(start, 0), n), min(max(end, 0), n)
		x = x.Slice(axis, start, max(start, end))
		if step > 1 {
			x = x.Step(axis, step)
		}
		return x
	}
	start, end = min(max(start, 0), n-1), min(max(end, -1), n-1)
	if start <= end {
		return x.Slice(axis, 0, 0)
	}
	last := start - (start-end-1)/-step*-step
	x = x.Slice(axis, last, start+1).Flip(axis)
	if step < -1 {
		x = x.Step(axis, -step)
	}
	return x
}

// blocks returns the dimensions of images, and the size of their blocks.
func blocks(c *Call, x *autograd.Node) (n, ch, h, w, b int) {
	s := x.Shape()
	if len(s) != 4 {
		c.Fail("input 0 has rank %d, and should have 4", len(s))
	}
	if b = c.Int("blocksize", 0); b < 1 || b > math.MaxInt16 {
		c.Fail("attribute blocksize is %d", b)
	}
	return s[0], s[1], s[2], s[3], b
}

// reverseSequence reverses the beginnings of sequences, each of its length.
func reverseSequence(c *Call, x *autograd.Node) *autograd.Node {
	batch, time := c.Int("batch_axis", 1), c.Int("time_axis", 0)
	if x.Rank() < 2 || batch+time != 1 || batch*time != 0 {
		c.Fail("batch_axis %d and time_axis %d of a tensor of rank %d", batch, time, x.Rank())
	}
	steps, lengths := x.Shape()[time], c.Ints(1)
	if len(lengths) != x.Shape()[batch] {
		c.Fail("%d lengths of %d sequences", len(lengths), x.Shape()[batch])
	}
	if x.Len() == 0 {
		return x
	}
	from := make([]int64, 0, steps*len(lengths)) // [sequence, step]
	for _, n := range lengths {
		if n < 0 || n > steps {
			c.Fail("a length of %d in %d steps", n, steps)
		}
		for t := range steps {
			if t < n {
				t = n - 1 - t
			}
			from = append(from, int64(t))
		}
	}
	index := tensor.New(c.dev, from, len(lengths), steps)
	if batch == 0 {
		return x.Index(alongAxis(c, len(lengths), 0, 2), index)
	}
	return x.Index(index.T(), alongAxis(c, len(lengths), 1, 2))
}

func concatShape(c *ShapeCall) []Known {
	parts := make([]Known, c.Len())
	for i := range parts {
		parts[i] = c.In(i)
	}
	return []Known{c.concat(c.Int("axis", 1), parts)}
}

// concat returns tensors along an axis.
func (c *ShapeCall) concat(axis int, parts []Known) Known {
	out := Known{Type: parts[0].Type}
	rank := slices.IndexFunc(parts, func(k Known) bool { return k.Dims != nil })
	if rank < 0 {
		return out
	}
	axis = c.axis(axis, len(parts[rank].Dims))
	dims := slices.Clone(parts[rank].Dims)
	sum, all := NewDim(0), true
	for _, k := range parts {
		if k.Dims == nil {
			sum, all = Dim{}, false
			continue
		}
		if len(k.Dims) != len(dims) {
			c.Fail("shapes %v do not fit", c.shapes())
		}
		for a, d := range k.Dims {
			if a != axis {
				dims[a] = c.sameSize(dims[a], d)
			}
		}
		sum = sum.Add(k.Dims[axis])
	}
	dims[axis] = sum
	out.Dims = dims
	if shape, ok := out.small(); ok && all && slices.ContainsFunc(parts, func(k Known) bool { return k.elements != nil }) {
		out.elements = make([]element, 0, lenOf(shape))
		for row := range lenOf(shape[:axis]) {
			for _, k := range parts {
				own, _ := k.small()
				n := lenOf(own[axis:])
				out.elements = append(out.elements, k.elementsOf(lenOf(own))[row*n:(row+1)*n]...)
			}
		}
	}
	return out
}

func splitShape(c *ShapeCall) []Known {
	in := c.In(0)
	out := make([]Known, c.Outputs())
	for i := range out {
		out[i].Type = in.Type
	}
	if in.Dims == nil {
		return out
	}
	axis := c.axis(c.Int("axis", 0), len(in.Dims))
	sizes, ok := make([]Dim, len(out)), true
	switch {
	case c.Has(1):
		if sizes, ok = c.Ints(1); !ok {
			sizes = make([]Dim, len(out))
		}
	case c.HasAttribute("split"):
		sizes = nil
		for _, n := range c.IntList("split") {
			sizes = append(sizes, NewDim(n))
		}
	default:
		parts := c.Int("num_outputs", len(out))
		if parts < 1 || parts > len(out) {
			c.Fail("%d parts for %d outputs", parts, len(out))
		}
		size, rest := in.Dims[axis].ceilDiv(NewDim(parts)), in.Dims[axis]
		for i := range parts {
			sizes[i] = size.Min(rest)
			if rest = rest.Sub(sizes[i]); c.Version() < 18 {
				sizes[i] = in.Dims[axis].Div(NewDim(parts)) // which are equal
			}
		}
	}
	at := NewDim(0)
	for i := range out {
		if i >= len(sizes) {
			continue
		}
		dims := slices.Clone(in.Dims)
		dims[axis] = sizes[i]
		from, known := at.Number()
		out[i] = in.moved(dims, func(at, shape []int) int {
			if !known {
				return -1
			}
			place := slices.Clone(at)
			place[axis] += from
			return placeOf(place, shape)
		})
		at = at.Add(sizes[i])
	}
	return out
}

func tileShape(c *ShapeCall) []Known {
	in := c.In(0)
	if in.Dims == nil {
		return []Known{{Type: in.Type}}
	}
	dims := c.Dims(0)
	if c.Version() < 6 {
		axis, ok := c.intOf(2, 0)
		if !ok {
			return []Known{ofRank(in.Type, len(dims))}
		}
		axis = c.axis(axis, len(dims))
		dims[axis] = dims[axis].Mul(c.dimOf(1))
		return []Known{{Type: in.Type, Dims: dims}}
	}
	counts, ok := c.Ints(1)
	if !ok || len(counts) != len(dims) {
		return []Known{ofRank(in.Type, len(dims))}
	}
	for i := range dims {
		dims[i] = dims[i].Mul(counts[i])
	}
	return []Known{in.moved(dims, func(at, shape []int) int {
		from := make([]int, len(at))
		for i, n := range shape {
			from[i] = at[i] % n
		}
		return placeOf(from, shape)
	})}
}

func sliceShape(c *ShapeCall) []Known {
	in := c.In(0)
	if in.Dims == nil {
		return []Known{{Type: in.Type}}
	}
	rank := len(in.Dims)
	var starts, ends, steps []Dim
	axes, ok := c.IntList("axes"), true
	if c.Version() < 10 {
		starts, ends = dimsOf(c.IntList("starts")), dimsOf(c.IntList("ends"))
	} else {
		var okStarts, okEnds bool
		starts, okStarts = c.Ints(1)
		ends, okEnds = c.Ints(2)
		axes = nil
		if c.Has(3) {
			axes, ok = c.numbersOf(3)
		}
		if ok && axes != nil { // the others are as many
			starts, ends = padDims(starts, okStarts, len(axes)), padDims(ends, okEnds, len(axes))
		} else {
			ok = ok && okStarts && okEnds
		}
		if c.Has(4) {
			steps, _ = c.Ints(4)
			steps = padDims(steps, len(steps) == len(starts), len(starts))
		}
	}
	if !ok {
		return []Known{ofRank(in.Type, rank)}
	}
	if axes == nil {
		axes = upTo(len(starts))
	}
	if steps == nil {
		steps = slices.Repeat([]Dim{NewDim(1)}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		c.Fail("%d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	dims := slices.Clone(in.Dims)
	first, by := make([]int, rank), slices.Repeat([]int{1}, rank)
	known := true
	for i, axis := range c.axes(axes, rank) {
		from, n := sliced(in.Dims[axis], starts[i], ends[i], steps[i])
		dims[axis] = n
		var okFrom, okStep bool
		first[axis], okFrom = from.Number()
		by[axis], okStep = steps[i].Number()
		known = known && okFrom && okStep
	}
	return []Known{in.moved(dims, func(at, shape []int) int {
		if !known {
			return -1
		}
		from := make([]int, len(at))
		for a := range at {
			from[a] = first[a] + at[a]*by[a]
		}
		return placeOf(from, shape)
	})}
}

func dimsOf(ints []int) []Dim {
	list := make([]Dim, len(ints))
	for i, n := range ints {
		list[i] = NewDim(n)
	}
	return list
}

// padDims returns list, or n Dims that are not known.
func padDims(list []Dim, ok bool, n int) []Dim {
	if ok {
		return list
	}
	return make([]Dim, n)
}

// sliced returns where NumPy's x[start:end:step] begins along an axis of n, and how many elements it has.
func sliced(n, start, end, step Dim) (first, size Dim) {
	by, ok := step.Number()
	if !ok || by == 0 || by == math.MinInt {
		return Dim{}, Dim{}
	}
	zero, last := NewDim(0), n
	if by < 0 {
		last = n.Sub(NewDim(1))
	}
	place := func(at, low Dim) Dim { // within low and last
		if m, ok := at.Number(); ok && (m >= math.MaxInt32 || m <= -math.MaxInt32) { // all of it
			if m > 0 {
				return last
			}
			return low
		}
		switch {
		case at.atLeast(0):
			return at.Min(last)
		case zero.Sub(at).atLeast(1):
			return at.Add(n).Max(low).Min(last)
		}
		return Dim{}
	}
	if by > 0 {
		first, end = place(start, zero), place(end, zero)
		return first, end.Sub(first).Max(zero).ceilDiv(step)
	}
	first, end = place(start, zero), place(end, NewDim(-1))
	return first, first.Sub(end).Max(zero).ceilDiv(NewDim(-by))
}

func depthToSpaceShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if len(dims) != 4 {
		return []Known{ofRank(c.Type(0), 4)}
	}
	b := NewDim(c.Int("blocksize", 0))
	q, _ := dims[1].exactly(b.Mul(b))
	return []Known{{Type: c.Type(0), Dims: []Dim{dims[0], q, dims[2].Mul(b), dims[3].Mul(b)}}}
}

func spaceToDepthShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if len(dims) != 4 {
		return []Known{ofRank(c.Type(0), 4)}
	}
	b := NewDim(c.Int("blocksize", 0))
	return []Known{{Type: c.Type(0), Dims: []Dim{dims[0], dims[1].Mul(b).Mul(b), dims[2].Div(b), dims[3].Div(b)}}}
}
