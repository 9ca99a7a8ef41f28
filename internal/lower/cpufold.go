package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// unrolled is how many vectors of a row, or of columns, a fold takes at a time: their sums do not wait
// for each other, and memory is read in longer pieces.
const unrolled = 4

// light reports whether the program is a fold: its results are of lines, and its terms cheap. It has no
// input by channel and none that a launch has once, and takes no element by an index.
func (l *plan) light() bool {
	light := true
	for _, r := range l.p.Results {
		light = light && !r.Along.Has(ir.N)
	}
	for _, v := range l.p.Values {
		light = light && v.Kind != ir.Pick && !v.Channel && (v.Kind != ir.Input || v.Along != 0)
	}
	for _, p := range l.passes {
		expr.Each(func(e *expr.Expr) { light = light && !e.Costly() }, p.terms...)
	}
	return light
}

// fold writes the functions of a fold: of rows, or of blocks of 64 columns and of at most 16.
func (w cpuForm) fold(name string, pointers []string) {
	if !w.columns {
		w.line("static NOINLINE void %s_row(%s) {", name, strings.Join(pointers, ", "))
		w.lineInputs()
		for i, p := range w.passes {
			w.parts(p.parts, w.types())
			w.foldRow(p, i > 0)
		}
		w.lineResults()
		w.line("}\n")
		return
	}
	for _, n := range []int{unrolled, 1} {
		w.line("static NOINLINE void %s_columns%d(%s) {", name, n, strings.Join(pointers, ", "))
		forms := make([]cpuForm, n)
		for v := range forms {
			forms[v] = w
			if n > 1 {
				forms[v].of, forms[v].first, forms[v].whole16 = fmt.Sprint("_", v), 16*v, true
			}
		}
		for _, f := range forms {
			f.lineInputs()
		}
		for _, p := range w.passes {
			for _, f := range forms {
				f.parts(p.parts, f.types())
			}
			w.foldColumns(p, forms)
		}
		for _, f := range forms {
			f.lineResults()
		}
		w.line("}\n")
	}
}

// step writes what elements from index w.k on add to the reductions of a pass: load declares an input's,
// r names what a reduction is gathered in.
func (w cpuForm) step(p pass, load func(i int, v ir.Value), r func(i int) string) {
	elements, columns := w.read(p.terms...)
	w.line("            {")
	for _, i := range append(elements, columns...) {
		load(i, w.p.Values[i])
	}
	formulas, product := w.factors(p, slices.Clone(p.terms))
	texts := w.inline("                ", w.elements(), w.element, formulas...)
	place := 0
	for j, i := range p.reduces {
		v := w.p.Values[i]
		now := reduced(v, r(i), w.bound("                ", i, texts[place]))
		if product[j] {
			now = fmt.Sprintf("fma(%s, %s, %s)", texts[place], texts[place+1], r(i))
			place++
		}
		place++
		w.line("                %s = %s;", r(i), now)
	}
	w.line("            }")
}

// CachedRow is how many elements of a row a cache of a CPU holds until they are read again.
const CachedRow = 1 << 15

// foldRow writes a pass over a row: unrolled vectors at a time, then a vector at a time, then an element. If it
// reads a row again, which is in a cache, memory is idle: it asks for the next row.
func (w cpuForm) foldRow(p pass, again bool) {
	if len(p.reduces) == 0 {
		return
	}
	gathered := func(v int) func(i int) string {
		return func(i int) string {
			if v == 0 {
				return fmt.Sprintf("r%d", i)
			}
			return fmt.Sprintf("r%d_%d", i, v)
		}
	}
	const each = 16 * unrolled
	for _, i := range p.reduces {
		w.start("    ", gathered(0)(i), fmt.Sprintf("s%d", i), w.p.Values[i])
	}
	for _, i := range p.reduces {
		w.line("    %s %s;", typed(w.p.Values[i], "REAL"), w.named(i))
	}
	if again {
		w.line("    const int next = len <= %d ? len : 0;", CachedRow)
	}
	w.line("    {\n        int k = 0;\n        while (k + %d <= len) {", each)
	w.line("            const int end = min(len - %d, (k / (%d * PAIR_TERMS) + 1) * (%d * PAIR_TERMS));", each-1, each, each)
	for v := 1; v < unrolled; v++ {
		for _, i := range p.reduces {
			w.line("            %s %s = %s;", typed(w.p.Values[i], "REAL16"), gathered(v)(i), none(w.p.Values[i]))
		}
	}
	w.line("            for (; k < end; k += %d) {", each)
	for v := range unrolled {
		f := w
		f.k = fmt.Sprintf("(k + %d)", 16*v)
		f.step(p, func(i int, v ir.Value) {
			w.line("                const %s x%d = %s;", typed(v, "REAL16"), i, w.loaded(i, fmt.Sprintf("vload16(0, p%d + %s)", i, f.k), 16))
			if again {
				w.line("                PREFETCH(p%d + next + %s, 0);", i, f.k)
			}
		}, gathered(v))
	}
	w.line("            }")
	for _, i := range p.reduces {
		v, r := w.p.Values[i], gathered(0)(i)
		w.line("            %s = %s;", r, reduced(v, reduced(v, r, gathered(1)(i)),
			reduced(v, gathered(2)(i), gathered(3)(i))))
		if pairwise(v) {
			w.line("            PAIRWISE(%s, s%d, k / %d)", r, i, each)
		}
	}
	w.line("        }")
	for _, i := range p.reduces {
		if pairwise(w.p.Values[i]) {
			w.line("        PAIRWISE_END(%s, s%d, k / %d)", gathered(0)(i), i, each)
		}
	}
	w.line("        for (; k + 16 <= len; k += 16) {")
	w.step(p, func(i int, v ir.Value) {
		w.line("                const %s x%d = %s;", typed(v, "REAL16"), i, w.loaded(i, fmt.Sprintf("vload16(0, p%d + k)", i), 16))
	}, gathered(0))
	w.line("        }")
	one := w
	one.scalar = true
	rest := func(i int) string { return "rest" + fmt.Sprint(i) }
	for _, i := range p.reduces {
		v := w.p.Values[i]
		w.line("        %s %s = len < 16 ? %s : %s;", typed(v, "REAL"), rest(i), none(v), w.lanes(i, gathered(0)(i)))
	}
	w.line("        for (; k < len; k++) {")
	one.step(p, func(i int, v ir.Value) {
		w.line("                const %s x%d = %s;", typed(v, "REAL"), i, w.loaded(i, fmt.Sprintf("p%d[k]", i), 1))
	}, rest)
	w.line("        }")
	for _, i := range p.reduces {
		w.line("        %s = %s;", w.named(i), rest(i))
	}
	w.line("    }")
}

// foldColumns writes a pass over columns, in as many vectors as there are forms.
func (w cpuForm) foldColumns(p pass, forms []cpuForm) {
	if len(p.reduces) == 0 {
		return
	}
	gathered := func(f cpuForm) func(i int) string {
		return func(i int) string { return fmt.Sprintf("r%d%s", i, f.of) }
	}
	sums := func(format, n string) {
		for _, f := range forms {
			for _, i := range p.reduces {
				if pairwise(w.p.Values[i]) {
					w.line(format, gathered(f)(i), fmt.Sprintf("s%d%s", i, f.of), n)
				}
			}
		}
	}
	for _, f := range forms {
		for _, i := range p.reduces {
			w.start("    ", gathered(f)(i), fmt.Sprintf("s%d%s", i, f.of), w.p.Values[i])
		}
	}
	w.line("    for (int k = 0; k < len;) {\n        for (const int end = min(len, (k / PAIR_TERMS + 1) * PAIR_TERMS); k < end; k++) {")
	for v, f := range forms {
		f.step(p, func(i int, in ir.Value) {
			load := w.loaded(i, fmt.Sprintf("vload16(0, p%d + k * inner + %d)", i, 16*v), 16)
			switch {
			case in.Along == ir.Column:
				load = w.loaded(i, fmt.Sprintf("p%d[k]", i), 1)
			case len(forms) == 1 && in.Int:
				load = fmt.Sprintf("load_ints16(p%d + k * inner, width)", i)
			case len(forms) == 1:
				load = fmt.Sprintf("load16%s(p%d + k * inner, width, 0)", w.from(i), i)
			}
			w.line("                const %s x%d = %s;", typed(in, "REAL16"), i, load)
		}, gathered(f))
	}
	w.line("        }")
	sums("        PAIRWISE(%s, %s, %s)", "k")
	w.line("    }")
	sums("    PAIRWISE_END(%s, %s, %s)", "len")
	for _, f := range forms {
		for _, i := range p.reduces {
			f.whole(i, gathered(f)(i))
		}
	}
}
