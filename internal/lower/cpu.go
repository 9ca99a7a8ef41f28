package lower

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// writer writes the OpenCL C of a plan.
type writer struct {
	*plan
	strings.Builder
	depends []string
}

func (w *writer) line(format string, a ...any) { fmt.Fprintf(w, format+"\n", a...) }

// inline writes the statements of formulas and returns their expressions.
func (w *writer) inline(indent string, t expr.Types, leaf func(l expr.Leaf, i int) string, formulas ...*expr.Expr) []string {
	if len(formulas) == 0 {
		return nil
	}
	program := expr.Compile(formulas...)
	for _, file := range program.Depends() {
		if !slices.Contains(w.depends, file) {
			w.depends = append(w.depends, file)
		}
	}
	statements, results := program.Inline(t, leaf)
	for _, s := range statements {
		w.line("%s%s", indent, s)
	}
	return results
}

// inputs calls f with the inputs of one kind.
func (w *writer) inputs(along ir.Axes, f func(i int, v ir.Value)) {
	for i, v := range w.p.Values {
		if v.Kind == ir.Input && v.Along == along {
			f(i, v)
		}
	}
}

// read returns the inputs that formulas read at each element, and at each column.
func (w *writer) read(formulas ...*expr.Expr) (elements, columns []int) {
	seen := map[int]bool{}
	expr.Each(func(e *expr.Expr) {
		kind, i := e.Leaf()
		if kind != expr.OfInput && kind != expr.OfInt || i >= len(w.p.Values) || w.p.Values[i].Kind != ir.Input || seen[i] {
			return
		}
		seen[i] = true
		switch v := w.p.Values[i]; {
		case v.Along == ir.Element:
			elements = append(elements, i)
		case v.Along == ir.Column, v.Channel:
			columns = append(columns, i)
		}
	}, formulas...)
	slices.Sort(elements)
	slices.Sort(columns)
	return elements, columns
}

// cpuForm is one of the two functions of a kernel for CPUs: of a row, in vectors of its elements, or
// of sixteen columns, in vectors of theirs.
type cpuForm struct {
	*writer
	columns bool
	of      string // what the names of values of lines end in: _0, _1, … of several vectors of columns, else nothing
	k       string // in OpenCL C, the index of the first element of a vector
	scalar  bool   // elements are computed one at a time
	first   int    // of several vectors of columns: the column that this one begins with
	whole16 bool   // all sixteen columns are there
	full    bool   // all sixteen elements of a row are there
}

// from is the end of the name of a function that loads input i, to of one that stores result k.
func (w *writer) from(i int) string { return suffix(w.memory.values[i]) }
func (w *writer) to(k int) string   { return suffix(w.memory.results[k]) }

// at is where vector k of a line lies, after its first element, and how much of it is there.
func (w cpuForm) at() (offset, count string) {
	if w.columns {
		return w.k + " * inner", "width"
	}
	if w.full {
		return w.k, "16"
	}
	return w.k, "len - " + w.k
}

// width is how many of sixteen columns are there.
func (w cpuForm) width() string {
	if w.whole16 {
		return "16"
	}
	return "width"
}

// named names a value of a line.
func (w cpuForm) named(i int) string { return fmt.Sprintf("l%d%s", i, w.of) }

// types are those of what is of a line.
func (w cpuForm) types() expr.Types {
	if w.columns {
		return expr.Types{Vector: "REAL16", Scalar: "REAL", Width: 16}
	}
	return scalarTypes
}

var vectorTypes = expr.Types{Vector: "REAL16", Scalar: "REAL", Width: 16}

// elements are the types of what is of elements.
func (w cpuForm) elements() expr.Types {
	if w.scalar {
		return scalarTypes
	}
	return vectorTypes
}

// element names a leaf where elements are computed.
func (w cpuForm) element(kind expr.Leaf, i int) string {
	if w.scalar {
		switch {
		case kind == expr.OfIndex:
			return w.k
		case i < len(w.p.Values) && w.p.Values[i].Kind == ir.Input && w.p.Values[i].Along.Has(ir.N):
			return fmt.Sprintf("x%d", i)
		}
		return w.ofLine(kind, i)
	}
	if kind == expr.OfIndex {
		if w.columns {
			return "(int16)" + w.k
		}
		return "(" + w.k + " + LANES16)"
	}
	if i >= len(w.p.Values) {
		if w.leaves[i-len(w.p.Values)].kept {
			return fmt.Sprintf("x%d", i)
		}
		return "(REAL16)" + w.named(i)
	}
	v := w.p.Values[i]
	switch {
	case v.Kind == ir.Length && v.Int:
		return "(int16)len"
	case v.Kind == ir.Length:
		return "(REAL16)len"
	case v.Kind == ir.Number && v.Int:
		return "(int16)" + numberName(v)
	case v.Kind == ir.Number:
		return "(REAL16)" + numberName(v)
	case v.Kind == ir.Input && v.Along.Has(ir.N):
		return fmt.Sprintf("x%d", i)
	case v.Int:
		return "(int16)" + w.named(i)
	}
	return "(REAL16)" + w.named(i)
}

// ofLine names a leaf where what is of a line is computed.
func (w cpuForm) ofLine(kind expr.Leaf, i int) string {
	if i < len(w.p.Values) && w.p.Values[i].Kind == ir.Length {
		switch {
		case !w.p.Values[i].Int:
			return "(" + w.types().Vector + ")len"
		case w.columns:
			return "(int16)len"
		}
		return "len"
	}
	if i < len(w.p.Values) && w.p.Values[i].Kind == ir.Number {
		if name := numberName(w.p.Values[i]); !w.columns {
			return name
		} else if w.p.Values[i].Int {
			return "(int16)" + name
		} else {
			return "(REAL16)" + name
		}
	}
	return w.named(i)
}

// loads writes the declarations of what formulas read.
func (w cpuForm) loads(indent string, formulas ...*expr.Expr) {
	at, count := w.at()
	elements, columns := w.read(formulas...)
	for _, i := range elements {
		if w.p.Values[i].Int {
			w.line("%sconst int16 x%d = load_ints16(p%d + %s, %s);", indent, i, i, at, count)
		} else {
			w.line("%sconst REAL16 x%d = load16%s(p%d + %s, %s, 0);", indent, i, w.from(i), i, at, count)
		}
	}
	if slices.ContainsFunc(columns, func(i int) bool { return w.p.Values[i].Channel }) {
		w.line("%sfor (; span > 1 && k >= next; next += span) c++;", indent)
	}
	for _, i := range columns {
		if w.p.Values[i].Channel {
			w.line("%sconst REAL16 x%d = span == 1 ? load16%s(p%d + k, %s, 0) : channel16%s(p%d, k, %s, span, c, next);",
				indent, i, w.from(i), i, count, w.from(i), i, count)
		} else if w.columns {
			w.line("%sconst REAL16 x%d = %s;", indent, i, w.loaded(i, fmt.Sprintf("p%d[k]", i), 1))
		} else {
			w.line("%sconst REAL16 x%d = load16%s(p%d + k, %s, 0);", indent, i, w.from(i), i, count)
		}
	}
}

// keptIn returns for each leaf that is kept the result in whose memory it is: it is of elements, and
// the last pass writes the result after it read what is kept. What has no such memory, which is as wide as
// what is computed in, is computed again or, beside results of 16 bits, kept in an array of short lines: room
// lists that, if the last pass reduces nothing.
func (w *writer) keptIn() (in map[int]int, room []int) {
	in = map[int]int{}
	free := []int{}
	for k, r := range w.p.Results {
		if r.Along == ir.Element && !w.memory.results[k].Half() {
			free = append(free, k)
		}
	}
	for j, l := range w.leaves {
		if l.kept && l.along == ir.Element && len(free) > 0 {
			in[len(w.p.Values)+j] = free[0]
			free = free[1:]
		} else if l.kept && l.along == ir.Element && w.memory.half() && len(w.passes[w.storing].reduces) == 0 {
			room = append(room, len(w.p.Values)+j)
		}
	}
	return in, room
}

// keptRoom is how many elements of a line, or of sixteen columns, an array keeps.
const keptRoom = 1 << 14

// inRoom is where vector k of a line is in an array.
func (w cpuForm) inRoom(i int) string {
	if w.columns {
		return fmt.Sprintf("room%d + 16 * k", i)
	}
	return fmt.Sprintf("room%d + k", i)
}

// body writes the passes.
func (w cpuForm) body() {
	total, terms := "(len + 15) / 16", "k / 16 + 1"
	if w.columns {
		total, terms = "len", "k + 1"
	}
	t := w.types()
	kept, room := w.keptIn()
	again := func(x *expr.Expr, but ...int) *expr.Expr { // what there is no memory for is computed again
		return expr.Substitute(func(e *expr.Expr) *expr.Expr {
			if kind, i := e.Leaf(); kind == expr.OfInput && i >= len(w.p.Values) {
				if l := w.leaves[i-len(w.p.Values)]; l.kept {
					if _, ok := kept[i]; !ok && !slices.Contains(but, i) {
						return l.value
					}
				}
			}
			return nil
		}, x)[0]
	}
	if len(room) > 0 {
		lines := 1
		if w.columns {
			lines = 16
		}
		w.line("    const int short_line = len <= %d;", keptRoom/lines)
		for _, i := range room {
			w.line("    REAL room%d[%d];", i, keptRoom)
		}
	}
	for n, p := range w.passes {
		w.parts(p.parts, t)
		var formulas, inRoom []*expr.Expr // of the results that are stored; of short lines, whose kept elements are in arrays
		var to []int
		for k, r := range w.p.Results {
			if n == w.storing && r.Along.Has(ir.N) && (!r.Summed || len(p.reduces) == 0 && slices.Contains(p.sums, k)) {
				formulas, to = append(formulas, again(w.stores[k])), append(to, k)
				inRoom = append(inRoom, again(w.stores[k], room...))
			}
		}
		loadKept := func(w cpuForm) {
			at, count := w.at()
			for _, i := range slices.Sorted(maps.Keys(kept)) {
				w.line("        const REAL16 x%d = load16(y%d + %s, %s, 0);", i, kept[i], at, count)
			}
		}
		if len(p.reduces) > 0 {
			for _, i := range p.reduces {
				w.start("    ", fmt.Sprintf("r%d", i), fmt.Sprintf("s%d", i), w.p.Values[i])
			}
			all := slices.Clone(p.terms)
			for _, k := range p.sums {
				all = append(all, w.again(w.stores[k : k+1])[0])
			}
			w.channelLoop(all...)
			var keeps []int
			for _, i := range p.keeps {
				if _, ok := kept[i]; ok || slices.Contains(room, i) {
					keeps, all = append(keeps, i), append(all, w.leaves[i-len(w.p.Values)].value)
				}
			}
			keepsCostly := costly(all[len(all)-len(keeps):]...)
			all = append(all, formulas...)
			w.vectors(keepsCostly || !costly(all...), func(w cpuForm) {
				at, count := w.at()
				w.loads("        ", all...)
				if len(to) > 0 {
					loadKept(w)
				}
				factors, product := w.factors(p, all)
				texts := w.inline("        ", vectorTypes, w.element, factors...)
				place := 0
				for j, i := range p.reduces {
					r := fmt.Sprintf("r%d", i)
					now := reduced(w.p.Values[i], r, w.bound("        ", i, texts[place]))
					if product[j] {
						now = fmt.Sprintf("fma(%s, %s, %s)", texts[place], texts[place+1], r)
						place++
					}
					place++
					if !w.columns && !w.full {
						now = w.only(w.p.Values[i], now, r, count)
					}
					w.line("        %s = %s;", r, now)
				}
				for _, k := range p.sums {
					w.sum(k, texts[place])
					place++
				}
				for j, i := range keeps {
					if k, ok := kept[i]; ok {
						w.line("        store16(%s, y%d + %s, %s);", texts[place+j], k, at, count)
					} else {
						w.line("        if (short_line) vstore16(%s, 0, %s);", texts[place+j], w.inRoom(i))
					}
				}
				for j, k := range to {
					w.line("        store16%s(%s, y%d + %s, %s);", w.to(k), texts[place+len(keeps)+j], k, at, count)
				}
				for _, i := range p.reduces {
					if pairwise(w.p.Values[i]) {
						w.line("        PAIRWISE(r%d, s%d, %s)", i, i, terms)
					}
				}
			})
			for _, i := range p.reduces {
				if pairwise(w.p.Values[i]) {
					w.line("    PAIRWISE_END(r%d, s%d, %s)", i, i, total)
				}
				w.whole(i, fmt.Sprintf("r%d", i))
			}
		}
		store := func(formulas []*expr.Expr, room []int) {
			w.channelLoop(formulas...)
			w.vectors(!costly(formulas...), func(w cpuForm) {
				at, count := w.at()
				w.loads("        ", formulas...)
				loadKept(w)
				for _, i := range room {
					w.line("        const REAL16 x%d = vload16(0, %s);", i, w.inRoom(i))
				}
				for j, text := range w.inline("        ", vectorTypes, w.element, formulas...) {
					if w.p.Results[to[j]].Summed {
						w.sum(to[j], text)
					} else {
						w.line("        store16%s(%s, y%d + %s, %s);", w.to(to[j]), text, to[j], at, count)
					}
				}
			})
		}
		switch {
		case len(p.reduces) > 0 || len(to) == 0:
		case len(room) > 0:
			w.line("    if (short_line) {")
			store(inRoom, room)
			w.line("    } else {")
			store(formulas, nil)
			w.line("    }")
		default:
			store(formulas, nil)
		}
	}
	w.lineResults()
}

// vectors writes a loop over the vectors of a line. Split, a row has two: of whole vectors and of what is left.
// PoCL 3.1 makes of that 0.7 to 0.85 of the time for norms and their gradients, 0.35 to 0.55 for softmax, whose pass
// keeps exponentials; but twice the time for log-softmax, which computes them and keeps something else.
func (w cpuForm) vectors(split bool, body func(w cpuForm)) {
	if w.columns || !split {
		step := "k += 16"
		if w.columns {
			step = "k++"
		}
		w.line("    for (int k = 0; k < len; %s) {", step)
		body(w)
		w.line("    }")
		return
	}
	full := w
	full.full = true
	w.line("    {\n    int k = 0;\n    for (; k + 16 <= len; k += 16) {")
	body(full)
	w.line("    }\n    if (k < len) {")
	body(w)
	w.line("    }\n    }")
}

// sum stores what elements add to a result that is summed over the lines of a run.
func (w cpuForm) sum(k int, text string) {
	at, count := w.at()
	w.line("        store16(begins ? %s : %s + load16(y%d + %s, %s, 0), y%d + %s, %s);", text, text, k, at, count, k, at, count)
}

// lineInputs declares what lines have one of.
func (w cpuForm) lineInputs() {
	w.inputs(ir.Line, func(i int, v ir.Value) {
		switch {
		case w.columns && v.Int:
			w.line("    const int16 %s = load_ints16(p%d + %d, %s);", w.named(i), i, w.first, w.width())
		case w.columns:
			w.line("    const REAL16 %s = load16%s(p%d + %d, %s, 0);", w.named(i), w.from(i), i, w.first, w.width())
		case v.Int:
			w.line("    const int %s = *p%d;", w.named(i), i)
		default:
			w.line("    const REAL %s = %s;", w.named(i), w.loaded(i, fmt.Sprintf("*p%d", i), 1))
		}
	})
}

// bound declares what a reduction takes, and returns its name, if the reduction names it more than once.
func (w cpuForm) bound(indent string, i int, text string) string {
	v := w.p.Values[i]
	if v.Kind == ir.Sum || v.Kind == ir.Prod {
		return text
	}
	w.line("%sconst %s now%d = %s;", indent, typed(v, w.elements().Vector), i, text)
	return fmt.Sprintf("now%d", i)
}

// start declares what a reduction is gathered in, and the levels of a sum.
func (w cpuForm) start(indent, r, levels string, v ir.Value) {
	if pairwise(v) {
		levels = ", " + levels + "[PAIR_LEVELS]"
	} else {
		levels = ""
	}
	w.line("%s%s %s = %s%s;", indent, typed(v, "REAL16"), r, none(v), levels)
}

// only returns the first `count` elements of now, and the others of before.
func (w cpuForm) only(v ir.Value, now, before, count string) string {
	name := "only16"
	if v.Int {
		name = "only_ints16"
	}
	return fmt.Sprintf("%s(%s, %s, %s)", name, now, before, count)
}

// whole declares the value of a line that a reduction is, which was gathered in the vector r.
func (w cpuForm) whole(i int, r string) {
	if !w.columns {
		r = w.lanes(i, r)
	}
	w.line("    const %s %s = %s;", typed(w.p.Values[i], w.types().Vector), w.named(i), r)
}

// lanes returns the reduction of the lanes of a vector.
func (w cpuForm) lanes(i int, r string) string {
	v, name := w.p.Values[i], ""
	if name = wholes[v.Kind]; v.Int {
		name += "_int"
	}
	return fmt.Sprintf("%s(%s)", name, r)
}

// lineResults stores the results of lines.
func (w cpuForm) lineResults() {
	for k, r := range w.p.Results {
		if r.Along.Has(ir.N) {
			continue
		}
		w.line("    {")
		text, store := w.inline("        ", w.types(), w.ofLine, w.stores[k])[0], "store16"+w.to(k)
		if r.Int {
			store = "store_ints16"
		}
		switch {
		case r.Int && w.columns && !w.stores[k].IsInt():
			text = "convert_int16(" + text + ")"
		case r.Int && !w.stores[k].IsInt():
			text = "(int)(" + text + ")"
		}
		if w.columns {
			w.line("        %s(%s, y%d + %d, %s);", store, text, k, w.first, w.width())
		} else {
			w.line("        *y%d = %s;", k, w.rounded(k, text))
		}
		w.line("    }")
	}
}

// channelLoop writes what a loop needs that reads inputs by channel: the channel of element k, and
// the first element of the next.
func (w cpuForm) channelLoop(formulas ...*expr.Expr) {
	if _, columns := w.read(formulas...); slices.ContainsFunc(columns, func(i int) bool { return w.p.Values[i].Channel }) {
		w.line("    c = 0, next = span;")
	}
}

// factors returns formulas, which begin with the terms of a pass, with the two factors in the place of
// each term of a sum that is a product, which is then added by fma, and which are.
func (w *writer) factors(p pass, formulas []*expr.Expr) (list []*expr.Expr, product []bool) {
	product = make([]bool, len(formulas))
	for j, f := range formulas {
		if a, b := f.Factors(); j < len(p.reduces) && pairwise(w.p.Values[p.reduces[j]]) && a != nil {
			list, product[j] = append(list, a, b), true
		} else {
			list = append(list, f)
		}
	}
	return list, product
}

// parts writes what is of a line before a pass.
func (w cpuForm) parts(parts []int, t expr.Types) {
	for _, i := range parts {
		if i < len(w.p.Values) {
			w.pick(i)
			continue
		}
		w.line("    %s %s;\n    {", t.Vector, w.named(i))
		text := w.inline("        ", t, w.ofLine, w.leaves[i-len(w.p.Values)].value)[0]
		w.line("        %s = %s;\n    }", w.named(i), text)
	}
}

// pick writes a value that is picked.
func (w cpuForm) pick(i int) {
	v := w.p.Values[i]
	_, of := v.Of.Leaf()
	if v.Kind == ir.First {
		first := w.loaded(of, fmt.Sprintf("*p%d", of), 1)
		if w.columns {
			first = fmt.Sprintf("load16%s(p%d + %d, %s, 0)", w.from(of), of, w.first, w.width())
		}
		w.line("    const %s %s = len > 0 ? %s : 0;", w.types().Vector, w.named(i), first)
		return
	}
	index := w.ofLine(v.At.Leaf())
	switch column := w.p.Values[of].Along == ir.Column; {
	case !w.columns:
		w.line("    const REAL l%d = 0 <= %s && %s < len ? %s : 0;", i, index, index, w.loaded(of, fmt.Sprintf("p%d[%s]", of, index), 1))
	case column:
		w.line("    const REAL16 l%d = pick16%s(p%d, %s, len, 1, 0, width);", i, w.from(of), of, index)
	default:
		w.line("    const REAL16 l%d = pick16%s(p%d, %s, len, inner, 1, width);", i, w.from(of), of, index)
	}
}

// cpuText returns the OpenCL C for CPUs: functions whose names have a prefix.
func (l *plan) cpuText(prefix string) (text string, depends []string) {
	w := &writer{plan: l, depends: []string{"common", "rows_cpu"}}
	if l.memory.half() {
		w.depends = append(w.depends, "rows_halves_cpu")
	}
	name := prefix + l.p.Name
	forms := []cpuForm{{writer: w, k: "k"}, {writer: w, k: "k", columns: true}}
	if Sets(l.p) || l.p.Runs() {
		forms = forms[:1]
	}
	light := l.light()
	var pointers, args, rowArgs []string // of a line
	for _, form := range forms {
		pointers, args = nil, nil
		add := func(declared, arg string) { pointers, args = append(pointers, declared), append(args, arg) }
		for i, v := range l.p.Values {
			switch {
			case v.Kind == ir.Number:
				add(numberParam(v), numberName(v))
			case v.Kind == ir.Input:
				offset := offsets[v.Along]
				switch {
				case v.Along == ir.Column && l.p.Parts:
					offset = " + begin"
				case v.Along == ir.Line && l.p.Parts:
					offset = " + row / cuts * inner + i"
				}
				switch {
				case v.Channel:
					offset = " + o % sets * (len / span)"
				case v.Set:
					offset = " + o / span % sets"
				}
				add(fmt.Sprintf("global const %s *p%d", l.pointee(i), i), v.Name+" + "+v.Name+"_off"+offset)
			}
		}
		for k, r := range l.p.Results {
			offset := offsets[r.Along]
			if r.Summed {
				offset = " + o / run * len"
			}
			add(fmt.Sprintf("global %s *y%d", l.resultPointee(k), k), r.Name+" + "+r.Name+"_off"+offset)
		}
		if l.p.Runs() {
			add("int begins", "o % run == 0")
		}
		pointers, args = append(pointers, "int len"), append(args, "count")
		if Sets(l.p) {
			pointers, args = append(pointers, "int span"), append(args, "span")
		}
		if !form.columns {
			rowArgs = args
		}
		suffix := "row"
		if form.columns {
			suffix = "columns"
			pointers, args = append(pointers, "int inner", "int width"), append(args, "inner", "width")
		}
		if light {
			form.fold(name, pointers)
			continue
		}
		w.line("static NOINLINE void %s_%s(%s) {", name, suffix, strings.Join(pointers, ", "))
		form.lineInputs()
		if Sets(l.p) {
			w.line("    int c, next;")
		}
		w.inputs(0, func(i int, v ir.Value) {
			typ := form.types().Vector
			if v.Int {
				typ = strings.Replace(typ, "REAL", "int", 1)
			}
			w.line("    const %s l%d = %s;", typ, i, w.loaded(i, fmt.Sprintf("*p%d", i), 1))
		})
		form.body()
		w.line("}\n")
	}
	w.line("static void %s(%s, int from, int to) {", name, l.parameters())
	columns := ";"
	switch call := strings.Join(args, ", "); {
	case light && len(forms) > 1:
		columns = fmt.Sprintf("if (i + %d <= inner && u + %d <= to) {\n              %s_columns%d(%s);\n              u += %d;\n          } else %s_columns1(%s);",
			16*unrolled, unrolled, name, unrolled, call, unrolled-1, name, call)
	case len(forms) > 1:
		columns = fmt.Sprintf("%s_columns(%s);", name, call)
	}
	elements, parts := l.chunk()
	w.line("    UNITS(%s, %s, %s_row(%s),\n          %s)", elements, parts, name, strings.Join(rowArgs, ", "), strings.TrimSuffix(columns, ";"))
	w.line("}\n")
	return w.String(), w.depends
}

// offsets are where a line begins: it is line `o`, whose first element is element `at`.
var offsets = map[ir.Axes]string{ir.Element: " + at", ir.Line: " + o", ir.Column: "", 0: ""}

func numberParam(v ir.Value) string {
	if v.Int {
		return "int " + numberName(v)
	}
	return "REAL " + numberName(v)
}

// numberName is the name of a number in OpenCL C: none of those that the text has itself.
func numberName(v ir.Value) string { return "n_" + v.Name }

// parameters are those of the entry point, arguments their names.
func (l *plan) parameters() string {
	var list []string
	for _, p := range l.params(numberName) {
		form := map[kernels.Mode]string{kernels.In: "IN(%s)", kernels.InInts: "IN_INTS(%s)",
			kernels.Out: "OUT(%s)", kernels.OutInts: "OUT_OF(INDEX, %s)", kernels.IntParam: "int %s", kernels.FloatParam: "REAL %s"}[p.Mode]
		switch {
		case form != "":
		case p.Mode.Written():
			form = "OUT_OF(ushort, %s)"
		default:
			form = "IN_OF(ushort, %s)"
		}
		list = append(list, fmt.Sprintf(form, p.Name))
	}
	return strings.Join(list, ", ")
}

func (l *plan) arguments() string {
	var list []string
	for _, p := range l.params(numberName) {
		list = append(list, p.Name)
		if p.Mode.Buffer() {
			list = append(list, p.Name+"_off")
		}
	}
	return strings.Join(list, ", ")
}

// costly reports whether an exponential or the like is computed.
func costly(formulas ...*expr.Expr) (is bool) {
	expr.Each(func(e *expr.Expr) { is = is || e.Costly() }, formulas...)
	return is
}
