package lower

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Bound returns how far an element that a kernel of p stores may lie from the exact one: see
// [kernels.Tolerance]. The line of the element is computed in double precision, with the error of each
// step. That of a formula is [expr.Program.BoundOf]'s. A sum is off by what its terms are off by, and by
// a rounding of all magnitudes for each addition that a term sees: additions returns the most, of n
// terms. A maximum is off by the largest error of an element.
func Bound(p *ir.Program, additions func(n int) float64) BoundOf {
	formulas := map[*expr.Expr]*expr.Program{}
	compile := func(f *expr.Expr) {
		if f != nil {
			formulas[f] = expr.Compile(f)
		}
	}
	for _, v := range p.Values {
		compile(v.Of)
		compile(v.At)
	}
	for _, r := range p.Results {
		compile(r.Value)
	}
	at := LayoutOf(p)
	return func(t kernels.DType, args []kernels.Arg) func(param, i int) float64 {
		l := &boundedLine{p: p, at: at, formulas: formulas, args: args, additions: additions, typ: t, line: -1}
		l.n, l.inner = int(args[at.Sizes+1].Int), int(args[at.Sizes+2].Int)
		l.eps, l.least = t.Epsilon()
		l.chunk, l.parts = max(l.n, 1), 1
		if p.Parts {
			l.chunk = int(args[at.Chunk].Int)
			l.parts = Parts(l.n, l.chunk)
		}
		return func(param, i int) float64 {
			r, k := p.Results[param-at.Results], 0
			if r.Summed {
				return l.sumOfLines(param, i)
			}
			if r.Along.Has(ir.N) {
				i, k = i/(l.n*l.inner)*l.inner+i%l.inner, i/l.inner%l.n
			}
			l.move(i)
			e := l.formula(r.Value, k)
			if t := args[param].Buf.DType(); t.Half() { // both are rounded
				eps, least := t.Epsilon()
				e.off += eps * (math.Abs(e.v) + least)
			}
			return e.off
		}
	}
}

// BoundOf returns the bound of each element of a parameter for a launch with some arguments.
type BoundOf = func(t kernels.DType, args []kernels.Arg) func(param, i int) float64

// estimate is a number, and how far it may be off.
type estimate struct{ v, off float64 }

// boundedLine is a line of a launch, or a part of one.
type boundedLine struct {
	p               *ir.Program
	at              *Layout
	formulas        map[*expr.Expr]*expr.Program
	args            []kernels.Arg
	additions       func(n int) float64
	typ             kernels.DType
	eps, least      float64
	n, inner        int // of the launch
	chunk, parts    int
	line            int // (outer·parts + part)·inner + the index along inner; −1: none yet
	outer, from, to int // its index along outer, and the elements that it has
	known           []*estimate
	// What the elements of a result that is summed over lines may be off by, of one run.
	summed                 []float64
	summedParam, summedRun int
}

// sumOfLines returns the bound of element i of a result that is summed over lines. Those of all elements
// of a run are computed together.
func (l *boundedLine) sumOfLines(param, i int) float64 {
	if run := i / l.n; l.summed == nil || l.summedParam != param || l.summedRun != run {
		lines := int(l.args[l.at.Run].Int)
		l.summed, l.summedParam, l.summedRun = make([]float64, l.n), param, run
		sizes, last := make([]float64, l.n), min(int(l.args[l.at.Sizes].Int), (run+1)*lines)
		for line := run * lines; line < last; line++ {
			l.move(line)
			for k := range l.n {
				e := l.formula(l.p.Results[param-l.at.Results].Value, k)
				l.summed[k] += e.off
				sizes[k] += math.Abs(e.v)
			}
		}
		for k, size := range sizes { // one after the other
			l.summed[k] += l.eps * float64(lines) * size
		}
	}
	return l.summed[i%l.n]
}

// move makes another line the one that is computed.
func (l *boundedLine) move(line int) {
	if line == l.line {
		return
	}
	row := line / l.inner
	l.line, l.outer, l.known = line, row/l.parts, make([]*estimate, len(l.p.Values))
	l.from = row % l.parts * l.chunk
	l.to = min(l.n, l.from+l.chunk)
}

// formula returns a formula at element k of the line.
func (l *boundedLine) formula(f *expr.Expr, k int) estimate {
	v, off := l.formulas[f].BoundOf(0, expr.Leaves{
		Operand: func(i int) (float64, float64) {
			e := l.value(i, k)
			return e.v, e.off
		},
		Scalar: func(i int) float64 { return l.value(i, k).v },
		Index:  func(int) int { return k },
	}, l.eps, l.least)
	return estimate{v, off}
}

// value returns a value of the program at element k of the line.
func (l *boundedLine) value(i, k int) estimate {
	v := &l.p.Values[i]
	if v.Kind.Reduces() {
		if l.known[i] == nil {
			e := l.reduce(v)
			l.known[i] = &e
		}
		return *l.known[i]
	}
	arg := func(at int) estimate { return estimate{l.args[l.at.Values[i]].At(at), 0} }
	switch {
	case v.Kind == ir.OneHot:
		if l.index(v) == k {
			return l.formula(v.Of, k)
		}
		return estimate{}
	case v.Kind == ir.Length:
		return estimate{float64(l.to - l.from), 0}
	case v.Kind == ir.Number && v.Int:
		return estimate{float64(l.args[l.at.Values[i]].Int), 0}
	case v.Kind == ir.Number:
		number := l.args[l.at.Values[i]].Float
		if l.typ == kernels.Float32 {
			number = float64(float32(number))
		}
		return estimate{number, 0}
	case v.Channel:
		sets, span := int(l.args[l.at.Sets].Int), int(l.args[l.at.Sets+1].Int)
		return arg(l.outer%sets*(l.n/span) + k/span)
	case v.Set:
		sets, span := int(l.args[l.at.Sets].Int), int(l.args[l.at.Sets+1].Int)
		return arg(l.outer / span % sets)
	case v.Along == ir.Element:
		return arg((l.outer*l.n+l.from+k)*l.inner + l.line%l.inner)
	case v.Along == ir.Line:
		return arg(l.outer*l.inner + l.line%l.inner)
	case v.Along == ir.Column:
		return arg(l.from + k)
	}
	return arg(0)
}

// index returns where a Pick or a OneHot has its element.
func (l *boundedLine) index(v *ir.Value) int { return int(l.formula(v.At, 0).v) }

// reduce returns a reduction of the line.
func (l *boundedLine) reduce(v *ir.Value) estimate {
	count := l.to - l.from
	element := func(k int) estimate {
		if k < 0 || k >= count {
			return estimate{}
		}
		return l.formula(v.Of, k)
	}
	switch v.Kind {
	case ir.First:
		return element(0)
	case ir.Pick:
		return element(l.index(v))
	case ir.Sum:
		sum, size := estimate{}, 0.0
		for k := range count {
			e := element(k)
			sum, size = estimate{sum.v + e.v, sum.off + e.off}, size+math.Abs(e.v)
		}
		sum.off += l.eps * l.additions(count) * size
		return sum
	case ir.Prod:
		product, relative := 1.0, float64(count)
		for k := range count {
			e := element(k)
			if product *= e.v; e.v != 0 {
				relative += e.off / math.Abs(e.v) / l.eps
			}
		}
		return estimate{product, math.Abs(product)*relative*l.eps + relative*l.least}
	}
	best := estimate{v: math.Inf(-1)}
	if v.Kind == ir.Min {
		best.v = math.Inf(1)
	}
	for k := range count {
		e := element(k)
		best.off = max(best.off, e.off)
		switch {
		case v.Kind == ir.Max:
			best.v = max(best.v, e.v)
		case v.Kind == ir.Min:
			best.v = min(best.v, e.v)
		case e.v > best.v:
			best.v = e.v
		}
	}
	return best
}

// Exact reports whether every device stores the same: ints, or floats that no sum or product and no
// inexact function made.
func Exact(p *ir.Program) bool {
	exact, ints := true, true
	for _, v := range p.Values {
		if v.Kind.Made() && !v.Int {
			exact = exact && v.Kind != ir.Sum && v.Kind != ir.Prod && expr.Compile(v.Of).Exact()
		}
	}
	for _, r := range p.Results {
		exact, ints = exact && expr.Compile(r.Value).Exact(), ints && r.Int
	}
	return exact || ints
}
