package einsum

import (
	"fmt"
	"slices"
	"strings"
)

// MaxAxes is how many axes an array has at most.
const MaxAxes = 16

// Expression is a sum of products: the labels of the axes of each operand, and of the result. What
// is not in the result is summed over.
type Expression struct {
	Operands [][]int
	Out      []int
	size     map[int]int // of each label
}

// Parse reads an equation for operands of the given shapes: letters name axes, "..." stands for
// those that have no letter, which broadcast, and "->" goes before the labels of the result.
// Without it the result has the axes of "...", and the letters that occur once, in the order of the
// alphabet, capitals first. The error is a sentence about the equation.
func Parse(equation string, shapes [][]int) (*Expression, error) {
	text := strings.Join(strings.Fields(equation), "")
	left, right, explicit := strings.Cut(text, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(shapes) {
		return nil, fmt.Errorf("%q is of %d operands, and there are %d", equation, len(terms), len(shapes))
	}
	e := &Expression{}
	longest := 0 // of what "..." stands for
	for i, term := range terms {
		labels, dots, err := axes(term)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", equation, err)
		}
		rest := len(shapes[i]) - len(labels)
		if rest < 0 || rest > 0 && dots < 0 {
			return nil, fmt.Errorf("%q: %q has %d letters, operand %d has %d axes", equation, term, len(labels), i, len(shapes[i]))
		}
		if dots >= 0 {
			longest = max(longest, rest)
			labels = slices.Insert(labels, dots, unnamed(rest)...)
		}
		e.Operands = append(e.Operands, labels)
	}
	if explicit {
		labels, dots, err := axes(right)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", equation, err)
		}
		if dots >= 0 {
			labels = slices.Insert(labels, dots, unnamed(longest)...)
		}
		e.Out = labels
	} else {
		times := map[int]int{}
		for _, l := range slices.Concat(e.Operands...) {
			times[l]++
		}
		var once []int
		for l, n := range times {
			if n == 1 && l > 0 {
				once = append(once, l)
			}
		}
		slices.Sort(once)
		e.Out = append(unnamed(longest), once...)
	}
	if err := e.measure(shapes); err != nil {
		return nil, fmt.Errorf("%q: %w", equation, err)
	}
	return e, nil
}

// AxisError says what is wrong with the axes of a [Dot].
type AxisError string

func (e AxisError) Error() string { return string(e) }

// Dot returns the products of two operands, summed over pairs of an axis of each, which count from
// the end below 0. The result has the other axes of the first, then those of the second. The error
// is an [AxisError], or about the shapes.
func Dot(shapes [2][]int, pairs [2][]int) (*Expression, error) {
	if len(pairs[0]) != len(pairs[1]) {
		return nil, AxisError("the axes of the two are pairs, and there are more of one")
	}
	e := &Expression{Operands: make([][]int, 2), size: map[int]int{}}
	for i, shape := range shapes {
		for axis := range shape {
			e.Operands[i] = append(e.Operands[i], 1+i*len(shapes[0])+axis)
		}
	}
	over := [2][]int{}
	for i, axes := range pairs {
		for _, axis := range axes {
			at := axis
			if at < 0 {
				at += len(shapes[i])
			}
			switch {
			case at < 0 || at >= len(shapes[i]):
				return nil, AxisError(fmt.Sprintf("axis %d of a tensor of rank %d", axis, len(shapes[i])))
			case slices.Contains(over[i], at):
				return nil, AxisError("an axis is named twice")
			}
			over[i] = append(over[i], at)
		}
	}
	for i, at := range over[0] {
		of := over[1][i]
		if shapes[0][at] != shapes[1][of] {
			return nil, fmt.Errorf("axis %d of the first is %d long, axis %d of the second %d", at, shapes[0][at], of, shapes[1][of])
		}
		e.Operands[1][of] = e.Operands[0][at]
	}
	for i, labels := range e.Operands {
		for axis, l := range labels {
			e.size[l] = shapes[i][axis]
			if !slices.Contains(over[i], axis) {
				e.Out = append(e.Out, l)
			}
		}
	}
	return e, e.fits()
}

// fits returns an error if the result has more axes than an array.
func (e *Expression) fits() error {
	if len(e.Out) > MaxAxes {
		return fmt.Errorf("the result would have %d axes: there are %d at most", len(e.Out), MaxAxes)
	}
	return nil
}

// axes returns the letters of a term, and before which of them its "..." stands, −1 if there is
// none.
func axes(term string) (labels []int, dots int, err error) {
	dots = -1
	for i := 0; i < len(term); i++ {
		switch c := term[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			labels = append(labels, int(c))
		case strings.HasPrefix(term[i:], "...") && dots < 0:
			dots = len(labels)
			i += 2
		default:
			return nil, 0, fmt.Errorf("%q is made of letters, and at most one \"...\"", term)
		}
	}
	return labels, dots, nil
}

// unnamed returns the labels of n axes that "..." stands for: the last is the same everywhere, as
// they broadcast.
func unnamed(n int) []int {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i - n
	}
	return labels
}

// name is how an error calls a label.
func name(label int) string {
	if label > 0 {
		return fmt.Sprintf("axis %q", rune(label))
	}
	return "an axis of \"...\""
}

// measure works out how long each label is. An axis of 1 is as long as others of its label want it.
func (e *Expression) measure(shapes [][]int) error {
	e.size = map[int]int{}
	for i, labels := range e.Operands {
		for axis, l := range labels {
			n := shapes[i][axis]
			if first := slices.Index(labels, l); shapes[i][first] != n {
				return fmt.Errorf("%s of operand %d is both %d and %d long", name(l), i, shapes[i][first], n)
			}
			old, seen := e.size[l]
			if seen && old != n && old != 1 && n != 1 {
				return fmt.Errorf("%s is %d long, and %d in operand %d", name(l), old, n, i)
			}
			if !seen || old == 1 {
				e.size[l] = n
			}
		}
	}
	for i, l := range e.Out {
		if _, is := e.size[l]; !is {
			return fmt.Errorf("%s of the result is in no operand", name(l))
		}
		if slices.Index(e.Out, l) != i {
			return fmt.Errorf("%s is twice in the result", name(l))
		}
	}
	return e.fits()
}
