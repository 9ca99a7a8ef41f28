package einsum

import "slices"

// Array is what a sum of products is computed of. Each method is that of a tensor.
type Array[T any] interface {
	Shape() []int
	Transpose(axes ...int) T
	Reshape(shape ...int) T
	Unsqueeze(axis int) T
	Diagonal(offset, first, second int) T
	Sum(axes ...int) T
	Mul(T) T
	MatMul(T) T
}

// term is an array, and the labels of its axes.
type term[T Array[T]] struct {
	a      T
	labels []int
}

// Compute returns the value of e. Products that matrix products do not take, of integers, are
// multiplied element by element and summed.
func Compute[T Array[T]](e *Expression, operands []T, integers func(a, b T) bool) T {
	terms := make([]term[T], len(operands))
	left := map[int]int{} // the terms that have a label
	for i, a := range operands {
		terms[i] = term[T]{a, slices.Clone(e.Operands[i])}.diagonal()
		for _, l := range terms[i].labels {
			left[l]++
		}
	}
	kept := func(l int) bool { return slices.Contains(e.Out, l) }
	for i, t := range terms {
		terms[i] = t.sum(func(l int) bool { return left[l] == 1 && !kept(l) })
	}
	for _, pair := range e.Order() {
		x, y := terms[pair[0]], terms[pair[1]]
		for _, l := range y.labels {
			if slices.Contains(x.labels, l) {
				left[l]--
			}
		}
		next := product(x, y, func(l int) bool { return left[l] > 1 || kept(l) }, e.Out, integers)
		terms = append(terms, next)
	}
	return terms[len(terms)-1].ordered(e.Out).a
}

// length returns how long the axis of a label is.
func (t term[T]) length(l int) int { return t.a.Shape()[slices.Index(t.labels, l)] }

// diagonal makes one axis of those with one label.
func (t term[T]) diagonal() term[T] {
	for i := 0; i < len(t.labels); i++ {
		if j := i + 1 + slices.Index(t.labels[i+1:], t.labels[i]); j > i {
			l := t.labels[i]
			t.a = t.a.Diagonal(0, i, j)
			t.labels = append(slices.Delete(slices.Delete(t.labels, j, j+1), i, i+1), l)
			i--
		}
	}
	return t
}

// sum sums over the labels of which gone is true.
func (t term[T]) sum(gone func(l int) bool) term[T] {
	var axes, rest []int
	for axis, l := range t.labels {
		if gone(l) {
			axes = append(axes, axis)
		} else {
			rest = append(rest, l)
		}
	}
	if len(axes) == 0 {
		return t
	}
	return term[T]{t.a.Sum(axes...), rest}
}

// ordered returns t with its axes in the order of labels, all of which it has.
func (t term[T]) ordered(labels []int) term[T] {
	axes := make([]int, len(labels))
	for i, l := range labels {
		axes[i] = slices.Index(t.labels, l)
	}
	return term[T]{t.a.Transpose(axes...), labels}
}

// product returns the product of x and y, summed over what both have and kept says is not needed.
// Those that only one has are kept.
func product[T Array[T]](x, y term[T], kept func(l int) bool, out []int, integers func(a, b T) bool) term[T] {
	repeated := func(l int) bool { // summed over, and 1 long in one of them, which is a factor of the other's sum
		return slices.Contains(x.labels, l) && slices.Contains(y.labels, l) && !kept(l) && x.length(l) != y.length(l)
	}
	sx := x.sum(repeated)
	x, y = sx, y.sum(func(l int) bool { return repeated(l) })
	var batch, over, rows, cols []int
	for _, l := range x.labels {
		switch both := slices.Contains(y.labels, l); {
		case both && kept(l):
			batch = append(batch, l)
		case both:
			over = append(over, l)
		default:
			rows = append(rows, l)
		}
	}
	for _, l := range y.labels {
		if !slices.Contains(x.labels, l) {
			cols = append(cols, l)
		}
	}
	if len(over) == 0 || len(rows)+len(cols) == 0 || integers(x.a, y.a) {
		all := slices.Concat(batch, rows, cols, over)
		p := term[T]{x.spread(all).Mul(y.spread(all)), all}
		return p.sum(func(l int) bool { return slices.Contains(over, l) })
	}
	first := func(labels []int) int { // where in the result
		at := len(out)
		for _, l := range labels {
			if i := slices.Index(out, l); i >= 0 {
				at = min(at, i)
			}
		}
		return at
	}
	if first(cols) < first(rows) {
		x, y, rows, cols = y, x, cols, rows
	}
	a, b := x.matrix(batch, rows, over), y.matrix(batch, over, cols)
	p := a.MatMul(b)
	labels := slices.Concat(batch, rows, cols)
	if len(rows) != 1 || len(cols) != 1 {
		shape := slices.Clone(p.Shape()[:len(batch)])
		for _, l := range rows {
			shape = append(shape, x.length(l))
		}
		for _, l := range cols {
			shape = append(shape, y.length(l))
		}
		p = p.Reshape(shape...)
	}
	return term[T]{p, labels}
}

// spread returns t with an axis for each label, of 1 where it has none.
func (t term[T]) spread(labels []int) T {
	var own []int
	for _, l := range labels {
		if slices.Contains(t.labels, l) {
			own = append(own, l)
		}
	}
	a := t.ordered(own).a
	for axis, l := range labels {
		if !slices.Contains(own, l) {
			a = a.Unsqueeze(axis)
		}
	}
	return a
}

// matrix returns t as a batch of matrices, whose rows and columns are those of several labels each.
func (t term[T]) matrix(batch, rows, cols []int) T {
	a := t.ordered(slices.Concat(batch, rows, cols)).a
	if len(rows) > 1 || len(cols) > 1 {
		shape := slices.Clone(a.Shape()[:len(batch)])
		for _, labels := range [][]int{rows, cols} {
			n := 1
			for _, l := range labels {
				n *= t.length(l)
			}
			shape = append(shape, n)
		}
		return a.Reshape(shape...)
	}
	if len(rows) == 0 {
		a = a.Unsqueeze(len(batch))
	}
	if len(cols) == 0 {
		a = a.Unsqueeze(len(batch) + 1)
	}
	return a
}
