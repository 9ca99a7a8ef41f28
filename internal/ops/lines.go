package ops

import (
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Lines is an operation on the lines of tensors: a program of package defs with one result, or a
// gradient of one. Its inputs and results are of floats, of elements or of lines.
type Lines struct {
	*RowKernel
	program func() *ir.Program // made once
	given   func() *ir.Program // the gradient program that NewLines got; nil
	Shape   func() LinesShape

	mu        sync.Mutex
	gradients map[gradientOf]*LinesGradient
}

// LinesShape says of each input and each result whether it has every element, or one for each line.
type LinesShape struct{ Inputs, Results []bool }

// LinesGradient is the gradient of an operation on lines by some of its inputs. It is an operation on
// lines as well, with a result for each of these.
type LinesGradient struct {
	*Lines
	Reads []int // its inputs: an input of the operation by its number, or GivenResult or GivenGradient
	Of    []int // the inputs of the operation whose gradients its results are
}

// What a gradient may read beside inputs.
const (
	GivenResult   = -1 // the result of the operation
	GivenGradient = -2 // its gradient
)

// gradientOf names a gradient: by a set of inputs, a bit for each.
type gradientOf struct {
	inputs  uint64
	derived bool
}

// NewLines returns the operation that a program defines. gradient is the program of its gradients, in
// a form that is faster or more exact than the derived one; nil: they are derived. It reads inputs and
// the result R of the program by their names, and the gradient of the result as GR; its results are
// named DX for the input X. Every input has every element, or one for each line of those; the first has
// every element.
func NewLines(program, gradient func() *ir.Program) *Lines {
	l := newLines(program, gradient)
	lineTable = append(lineTable, l)
	return l
}

// lineTable has what NewLines returned.
var lineTable []*Lines

func newLines(program, gradient func() *ir.Program) *Lines {
	l := &Lines{program: sync.OnceValue(program), given: gradient, gradients: map[gradientOf]*LinesGradient{}}
	l.Shape = sync.OnceValue(func() (s LinesShape) {
		p := l.program()
		for _, v := range p.Values {
			if v.Kind == ir.Input {
				s.Inputs = append(s.Inputs, v.Along == ir.Element)
			}
		}
		for _, r := range p.Results {
			s.Results = append(s.Results, r.Along == ir.Element)
		}
		return s
	})
	l.RowKernel = rowKernel(l.program, lanesForOne, func(s rowSizes) []kernels.Case { return linesCases(l.program(), s) })
	return l
}

// cased returns l with other cases for its tests than those that are drawn from [−1, 1).
func (l *Lines) cased(cases func(s rowSizes) []kernels.Case) *Lines {
	l.RowKernel.cases = cases
	return l
}

// overridden returns l with what change does to its kernel.
func (l *Lines) overridden(change func(k *kernels.Kernel)) *Lines {
	l.RowKernel.with(change)
	return l
}

// Gradient returns the gradient by inputs, a bit for each. A derived one reads the inputs alone, and has
// gradients itself that follow from its program; without a gradient program every one is derived. Each
// is a kernel of its own: of order k there are about k! of them, and softmax takes a second for order 5.
// A gradient by fewer inputs reads the same list of values.
func (l *Lines) Gradient(inputs uint64, derived bool) *LinesGradient {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := gradientOf{inputs, derived || l.given == nil}
	if g := l.gradients[key]; g != nil {
		return g
	}
	p, number, names := l.program(), map[string]int{}, []string{}
	g := &LinesGradient{}
	for _, v := range p.Values {
		if v.Kind != ir.Input {
			continue
		}
		i := len(number)
		if number[v.Name] = i; inputs>>i&1 != 0 {
			names, g.Of = append(names, v.Name), append(g.Of, i)
		}
	}
	var of *ir.Program
	if key.derived {
		of = p.Gradient(names...)
		number[lastInput(of)] = GivenGradient
	} else {
		number[p.Results[0].Name], number["G"+p.Results[0].Name] = GivenResult, GivenGradient
		for i, name := range names {
			names[i] = "D" + name
		}
		of = l.given().Only(names...)
	}
	for _, v := range of.Values {
		if v.Kind == ir.Input {
			g.Reads = append(g.Reads, number[v.Name])
		}
	}
	g.Lines = newLines(func() *ir.Program { return of }, nil)
	l.gradients[key] = g
	return g
}

// IsZero reports whether the result is 0 whatever the inputs are.
func (l *Lines) IsZero() bool { return l.program().Results[0].Value.IsZero() }

// lastInput returns the name of the last input, which in a derived program is the gradient that comes.
func lastInput(p *ir.Program) (name string) {
	for _, v := range p.Values {
		if v.Kind == ir.Input {
			name = v.Name
		}
	}
	return name
}

// lineKernels returns the kernels of operations on lines, of their gradients by all inputs, and of the
// gradients of these and of a derived one.
func lineKernels() (all []*RowKernel) {
	every := func(l *Lines) uint64 { return 1<<len(l.Shape().Inputs) - 1 }
	for _, l := range lineTable {
		first, derived := l.Gradient(every(l), false), l.Gradient(1, true)
		all = append(all, l.RowKernel, first.RowKernel, derived.Gradient(every(derived.Lines), true).RowKernel)
		if l.given != nil {
			all = append(all, first.Gradient(every(first.Lines), true).RowKernel)
		}
	}
	return all
}

// linesCases are launches of a program with inputs of [−1, 1) and numbers of a half.
func linesCases(p *ir.Program, s rowSizes) []kernels.Case {
	var cases caseList
	for _, b := range s.lines {
		cases.add(func(o operands) {
			n := func(along ir.Axes) int {
				if along == ir.Element {
					return intmath.Product(b[:])
				}
				return b[0] * b[2]
			}
			for _, v := range p.Values {
				if v.Kind == ir.Input {
					o.In(n(v.Along), -1, 1)
				}
			}
			for _, r := range p.Results {
				o.Out(n(r.Along))
			}
			o.Int(b[0], b[1], b[2])
			for _, v := range p.Values {
				if v.Kind == ir.Number {
					o.Float(0.5)
				}
			}
		}, "%v", b)
	}
	return cases
}
