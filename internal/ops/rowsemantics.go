package ops

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/ir"
	"github.com/clgrad/clgrad/kernels/operation"
)

// described is a formula of a program as a function of a map.
type described struct {
	function *kernels.Function
	operands []int // the values that it reads
	scalars  []int // the numbers
}

// leafOf returns the value that a formula is, −1 if it is computed, or there is none.
func leafOf(f *expr.Expr) int {
	if f != nil {
		if kind, i := f.Leaf(); kind == expr.OfInput || kind == expr.OfInt {
			return i
		}
	}
	return -1
}

// rowSemantics returns the Semantics of a row program: a Map for each formula that is not a leaf, a
// Reduction for each sum, product, maximum or minimum. It is nil if a formula reads more than MapOperands
// values, or the program has an index, an int that is computed, or one that is no element. types are
// those of the buffers, by argument, if some are of 16 bits.
func rowSemantics(p *ir.Program, types []kernels.DType) func(args) operations {
	channels := lower.Sets(p)
	bySet := slices.ContainsFunc(p.Values, func(v ir.Value) bool { return v.Set })
	at := lower.LayoutOf(p)
	for _, v := range p.Values {
		if v.Kind == ir.Pick || v.Kind == ir.OneHot || v.Int && v.Kind == ir.Input && v.Along != ir.Element ||
			v.Int && v.Kind == ir.Number {
			return nil
		}
		of := leafOf(v.Of)
		if v.Int && v.Kind.Made() && of < 0 {
			return nil
		}
		if v.Kind == ir.First && (of < 0 || p.Values[of].Kind != ir.Input || p.Values[of].Along != ir.Element) {
			return nil
		}
	}
	one := func(name string, f *expr.Expr) described {
		d, ints := described{}, false
		var scalars []float64
		value := expr.Substitute(func(e *expr.Expr) *expr.Expr {
			kind, i := e.Leaf()
			if of, ok := e.FloatOfInt(); ok {
				kind, i, ints = expr.OfInput, of, true
			}
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
		d.function = &kernels.Function{Name: p.Name + "_" + name, Value: value, Scalars: scalars, Integers: ints}
		return d
	}
	formulas, finals := make([]described, len(p.Values)), make([]described, len(p.Results))
	for i, v := range p.Values {
		if v.Kind.Reduces() && leafOf(v.Of) < 0 {
			formulas[i] = one(fmt.Sprintf("part%d", i), v.Of)
		}
	}
	stored := map[int]int{} // the result that a reduction is, which no other formula reads
	for k, r := range p.Results {
		at := at.Results + k
		rounds := at < len(types) && types[at].Half() // what is reduced is not
		if i := leafOf(r.Value); i >= 0 && p.Values[i].Kind.Reduces() && len(p.Results) == 1 && !rounds {
			stored[i] = k
		} else {
			finals[k] = one(r.Name, r.Value)
		}
	}
	uneven := false // a formula of elements reads what is of a line, or of a part of one
	for i, v := range p.Values {
		for _, of := range formulas[i].operands {
			uneven = uneven || v.Kind.Reduces() && p.Values[of].Along == ir.Line && p.Values[of].Kind.Made()
		}
	}
	extreme := false // there is none of no elements
	for _, v := range p.Values {
		uneven = uneven || v.Kind == ir.Length
		extreme = extreme || v.Kind == ir.Max || v.Kind == ir.Min || v.Kind == ir.MaxNumber || v.Kind == ir.First
	}
	for _, d := range append(formulas[:len(formulas):len(formulas)], finals...) {
		if len(d.operands) > kernels.MapOperands {
			return nil
		}
	}
	return func(in args) operations {
		outer, n, inner := int(in[at.Sizes].Int), int(in[at.Sizes+1].Int), int(in[at.Sizes+2].Int)
		if n == 0 && extreme {
			return nil
		}
		chunk, parts := n, 1
		if p.Parts {
			chunk = int(in[at.Chunk].Int)
			if parts = lower.Parts(n, chunk); parts > 1 && uneven {
				return nil
			}
		}
		dims, lines := []int{outer, n, inner}, []int{outer, parts, inner}
		if bySet { // the sets are an axis of their own
			sets, span := int(in[at.Sets].Int), int(in[at.Sets+1].Int)
			if outer%(sets*span) > 0 || inner != 1 {
				return nil
			}
			dims, lines = []int{outer / (sets * span), sets, span, n}, []int{outer / (sets * span), sets, span, 1}
		} else if channels { // of the sets and the channels, which are axes of their own
			sets, span := int(in[at.Sets].Int), int(in[at.Sets+1].Int)
			if outer%sets > 0 || inner != 1 { // the last has fewer sets
				return nil
			}
			dims, lines = []int{outer / sets, sets, n / span, span}, []int{outer / sets, sets, 1, 1}
		}
		strides := func(along ir.Axes) []int {
			if bySet {
				sets, span := dims[1], dims[2]
				return map[ir.Axes][]int{ir.Element: {sets * span * n, span * n, n, 1}, ir.Line: {sets * span, span, 1, 0},
					ir.Column: {0, 0, 0, 1}, 0: {0, 0, 0, 0}}[along]
			}
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
				if parts > 1 {
					return []int{parts * inner, inner, 1}
				}
				return []int{inner, 0, 1}
			case ir.Column:
				return []int{0, 1, 0}
			}
			return []int{0, 0, 0}
		}
		part := func(i int, along ir.Axes) kernels.View { return temporary(i, strides(along)...) }
		valued := func(i int) kernels.View {
			if v := p.Values[i]; v.Kind == ir.First {
				return view(in, at.Values[leafOf(v.Of)], 0, n*inner, 0, 1)
			} else if v.Kind.Reduces() {
				return part(i, v.Along)
			}
			along := p.Values[i].Along
			s := strides(along)
			if p.Values[i].Set {
				s = []int{0, 1, 0, 0}
			}
			if along == ir.Line && parts > 1 { // all parts of a line have the same
				s = []int{inner, 0, 1}
			}
			return view(in, at.Values[i], 0, s...)
		}
		var list operations
		write := func(d described, along ir.Axes, to kernels.View) {
			m := &operation.Map{Dims: dims}
			if !along.Has(ir.N) { // once for each line
				m.Dims = lines
			}
			var scalars []operation.Scalar
			for _, i := range d.scalars {
				if p.Values[i].Kind == ir.Length {
					scalars = append(scalars, constant(float64(n)))
				} else {
					scalars = append(scalars, passed(at.Values[i]))
				}
			}
			for _, i := range d.operands {
				m.Operands = append(m.Operands, valued(i))
			}
			m.Results = []operation.Result{{Function: d.function, Scalars: scalars, View: to}}
			list = append(list, m)
		}
		for i, v := range p.Values {
			if !v.Kind.Reduces() || v.Kind.Takes() {
				continue
			}
			x := kernels.View{}
			if of := leafOf(v.Of); of >= 0 {
				x = valued(of)
			} else {
				x = part(len(p.Values)+i, ir.Element)
				if formulas[i].function.Integers {
					x.Type = kernels.Int32
				}
				write(formulas[i], ir.Element, x)
			}
			f := map[ir.Kind]*kernels.Function{ir.Sum: fn.Add, ir.Prod: fn.Mul, ir.Max: fn.Max, ir.MaxNumber: fn.Max,
				ir.Min: fn.Min}[v.Kind]
			y := valued(i)
			if k, ok := stored[i]; ok {
				y = view(in, at.Results+k, 0, strides(ir.Line)...)
			}
			x.Strides, y.Strides = []int{n * inner, inner, 1}, []int{parts * inner, inner, 1}
			list = append(list, &operation.Reduction{Function: f, Outer: outer, Len: n, Inner: inner, Shares: parts,
				Chunk: chunk, X: x, Y: y})
		}
		for k, r := range p.Results {
			if r.Summed {
				run, x := int(in[at.Run].Int), part(len(p.Values)+len(p.Values)+k, ir.Element)
				write(finals[k], ir.Element, x)
				x.Strides = []int{0, n, 1}
				list = append(list, &operation.Reduction{Function: fn.Add, Outer: 1, Len: outer, Inner: n,
					Shares: lower.Parts(outer, run), Chunk: run, X: x, Y: view(in, at.Results+k, 0, 0, n, 1)})
				continue
			}
			if finals[k].function != nil {
				write(finals[k], r.Along, view(in, at.Results+k, 0, strides(r.Along)...))
			}
		}
		return list
	}
}
