package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/ir"
)

// described is a formula of a program as a function of a map.
type described struct {
	function *kernels.Function
	operands []int // the values that it reads
	scalars  []int // the numbers
}

// describeRows returns the Describe of a row program: a Map for each formula that is not a leaf, a
// Reduction for each sum or maximum. It is nil if a formula reads more than MapOperands values, or
// the program has ints.
func describeRows(p *ir.Program) func(args) operations {
	channels := lower.Channels(p)
	numbers := map[int]int{} // the argument that is a number
	arguments := map[int]int{}
	at := 0
	for i, v := range p.Values {
		if v.Kind == ir.Input {
			arguments[i] = at
			at++
		}
	}
	results := at
	sizes := at + len(p.Results)
	at = sizes + 3
	if channels {
		at += 2
	}
	for i, v := range p.Values {
		if v.Kind == ir.Number {
			numbers[i] = at
			at++
		}
		if v.Kind == ir.Pick || v.Kind == ir.OneHot || v.Int {
			return nil
		}
	}
	one := func(name string, f *expr.Expr) described {
		d := described{}
		var scalars []float64
		value := expr.Substitute(func(e *expr.Expr) *expr.Expr {
			kind, i := e.Leaf()
			if kind != expr.OfInput {
				return nil
			}
			if kind := p.Values[i].Kind; kind == ir.Number || kind == ir.Length {
				for k, v := range d.scalars {
					if v == i {
						return expr.Param(k)
					}
				}
				d.scalars, scalars = append(d.scalars, i), append(scalars, 0.5)
				return expr.Param(len(d.scalars) - 1)
			}
			for k, v := range d.operands {
				if v == i {
					return expr.Input(k)
				}
			}
			d.operands = append(d.operands, i)
			return expr.Input(len(d.operands) - 1)
		}, f)[0]
		d.function = &kernels.Function{Name: p.Name + "_" + name, Value: value, Scalars: scalars}
		return d
	}
	formulas, finals := make([]described, len(p.Values)), make([]described, len(p.Results))
	for i, v := range p.Values {
		if v.Kind.Reduces() {
			formulas[i] = one(fmt.Sprintf("part%d", i), v.Of)
		}
	}
	for k, r := range p.Results {
		finals[k] = one(r.Name, r.Value)
	}
	for _, d := range append(formulas[:len(formulas):len(formulas)], finals...) {
		if len(d.operands) > kernels.MapOperands {
			return nil
		}
	}
	return func(in args) operations {
		outer, n, inner := int(in[sizes].Int), int(in[sizes+1].Int), int(in[sizes+2].Int)
		dims, lines := []int{outer, n, inner}, []int{outer, 1, inner}
		if channels { // of the sets and the channels, which are axes of their own
			sets, span := int(in[sizes+3].Int), int(in[sizes+4].Int)
			if outer%sets > 0 || inner != 1 { // the last has fewer sets
				return nil
			}
			dims, lines = []int{outer / sets, sets, n / span, span}, []int{outer / sets, sets, 1, 1}
		}
		strides := func(along ir.Axes) []int {
			if channels {
				sets, span := dims[1], dims[3]
				switch along {
				case ir.Element:
					return []int{sets * n, n, span, 1}
				case ir.Line:
					return []int{sets, 1, 0, 0}
				case ir.Set(ir.Outer, ir.N):
					return []int{0, n / span, 1, 0}
				}
				return []int{0, 0, 0, 0}
			}
			switch along {
			case ir.Element:
				return []int{n * inner, inner, 1}
			case ir.Line:
				return []int{inner, 0, 1}
			case ir.Column:
				return []int{0, 1, 0}
			}
			return []int{0, 0, 0}
		}
		part := func(i int, along ir.Axes) kernels.View { return temporary(i, strides(along)...) }
		valued := func(i int) kernels.View {
			if p.Values[i].Kind.Reduces() {
				return part(i, p.Values[i].Along)
			}
			return view(in, arguments[i], 0, strides(p.Values[i].Along)...)
		}
		var list operations
		write := func(d described, along ir.Axes, to kernels.View) {
			m := &kernels.Map{Dims: dims}
			if !along.Has(ir.N) { // once for each line
				m.Dims = lines
			}
			var scalars []kernels.Scalar
			for _, i := range d.scalars {
				if p.Values[i].Kind == ir.Length {
					scalars = append(scalars, constant(float64(n)))
				} else {
					scalars = append(scalars, passed(numbers[i]))
				}
			}
			for _, i := range d.operands {
				m.Operands = append(m.Operands, valued(i))
			}
			m.Results = []kernels.Result{{Function: d.function, Scalars: scalars, View: to}}
			list = append(list, m)
		}
		for i, v := range p.Values {
			if !v.Kind.Reduces() {
				continue
			}
			x := kernels.View{}
			if kind, of := v.Of.Leaf(); kind == expr.OfInput {
				x = valued(of)
			} else {
				x = part(len(p.Values)+i, ir.Element)
				write(formulas[i], ir.Element, x)
			}
			f := fn.Add
			if v.Kind == ir.Max {
				f = fn.Max
			}
			y := valued(i)
			x.Strides, y.Strides = []int{n * inner, inner, 1}, []int{inner, 0, 1}
			list = append(list, &kernels.Reduction{Function: f, Outer: outer, Len: n, Inner: inner, Shares: 1, Chunk: n, X: x, Y: y})
		}
		for k, r := range p.Results {
			write(finals[k], r.Along, view(in, results+k, 0, strides(r.Along)...))
		}
		return list
	}
}
