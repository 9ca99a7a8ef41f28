package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// gpuForm is the function of a kernel for GPUs: lines have lanes of a work-group, which keep PER
// elements each in registers and read further ones again: see rows_gpu.cl.
type gpuForm struct{ *writer }

var scalarTypes = expr.Types{Vector: "REAL", Scalar: "REAL", Width: 1}

// named returns the function that names a leaf in OpenCL C, in a loop over what a lane keeps in
// registers: x7[j + i] of leaf 7, l7 if it is of a line. With rest it is one over the elements k
// that have no register and are read from memory: e7.
func (w gpuForm) named(rest bool) func(kind expr.Leaf, i int) string {
	return func(kind expr.Leaf, i int) string {
		if kind == expr.OfIndex {
			if rest {
				return "k"
			}
			return "INDEX_OF(j + i)"
		}
		along, number, column := ir.Axes(0), false, false
		if i < len(w.p.Values) {
			v := w.p.Values[i]
			if v.Kind == ir.Length && v.Int {
				return w.length()
			}
			if v.Kind == ir.Length {
				return "(REAL)" + w.length()
			}
			along, number, column = v.Along, v.Kind == ir.Number, v.Channel || v.Along == ir.Column
			if number {
				return numberName(v)
			}
			if v.Kind.Reduces() {
				along = 0
			}
		} else if l := w.leaves[i-len(w.p.Values)]; l.kept {
			along = ir.Element
		}
		switch {
		case !along.Has(ir.N):
			return fmt.Sprintf("l%d", i)
		case rest:
			return fmt.Sprintf("e%d", i)
		case column:
			return fmt.Sprintf("x%d[i]", i)
		}
		return fmt.Sprintf("x%d[j + i]", i)
	}
}

// length is how many elements a line has, or the part of one that the lanes have.
func (w gpuForm) length() string {
	if w.p.Parts {
		return "count"
	}
	return "len"
}

// expressions is inline with the exponential that the device brings: the one that is ours is for
// vectors of CPUs.
func (w gpuForm) expressions(indent string, rest bool, formulas ...*expr.Expr) []string {
	at := w.Len()
	texts := w.inline(indent, scalarTypes, w.named(rest), formulas...)
	written := strings.ReplaceAll(w.String()[at:], "exp_REAL(", "exp(")
	before := w.String()[:at]
	w.Reset()
	w.WriteString(before + written)
	for i := range texts {
		texts[i] = strings.ReplaceAll(texts[i], "exp_REAL(", "exp(")
	}
	return texts
}

// again returns formulas with what is kept computed again.
func (w *writer) again(formulas []*expr.Expr) []*expr.Expr {
	return expr.Substitute(func(e *expr.Expr) *expr.Expr {
		if kind, i := e.Leaf(); kind == expr.OfInput && i >= len(w.p.Values) {
			if l := w.leaves[i-len(w.p.Values)]; l.kept {
				return l.value
			}
		}
		return nil
	}, formulas...)
}

// loads reads what formulas take of element k, which is not kept.
func (w gpuForm) loads(indent string, formulas []*expr.Expr) {
	w.eachRead(formulas, func(i int, typ, from string) { w.line("%sconst %s e%d = %s;", indent, typ, i, from) })
}

// eachRead calls f with the inputs that formulas read at each element or column: with their type, and where
// element k of them is.
func (w gpuForm) eachRead(formulas []*expr.Expr, f func(i int, typ, from string)) {
	elements, columns := w.read(formulas...)
	for _, i := range elements {
		f(i, typed(w.p.Values[i], "REAL"), w.loaded(i, fmt.Sprintf("p%d[k * INNER]", i), 1))
	}
	for _, i := range columns {
		at := "k"
		if w.p.Values[i].Channel {
			at = "span == 1 ? k : k / span"
		}
		f(i, "REAL", w.loaded(i, fmt.Sprintf("p%d[%s]", i, at), 1))
	}
}

// way is the type of an input in memory, and what makes floats of its elements, as macros take them.
func (w gpuForm) way(i int) string {
	return w.pointee(i) + ", " + fromMemory(w.memory.values[i])
}

// fours opens a loop over what lanes keep, four elements at a time, and reads what formulas take of
// columns.
func (w gpuForm) fours(formulas []*expr.Expr) {
	w.line("    _Pragma(\"unroll\") for (int j = 0; j < PER; j += 4) {")
	_, columns := w.read(formulas...)
	aligned := "len"
	if w.p.Parts {
		aligned = "len | chunk"
	}
	for _, i := range columns {
		w.line("        REAL x%d[4];", i)
		if v := w.p.Values[i]; v.Channel {
			w.line("        FOUR_CHANNELS(%s, x%d, j, p%d, ALIGNED4(%s, %s_off | first), span)", w.way(i), i, i, aligned, v.Name)
		} else {
			w.line("        LOAD_FOUR(%s, x%d, j, p%d, ALIGNED4(%s, %s_off), 1)", w.way(i), i, i, aligned, v.Name)
		}
	}
}

func (w gpuForm) body() {
	loaded := map[int]bool{}
	load := func(formulas []*expr.Expr) { // elements are read when they are first needed, and kept
		elements, _ := w.read(formulas...)
		for _, i := range elements {
			if !loaded[i] {
				loaded[i] = true
				typ := typed(w.p.Values[i], "REAL")
				w.line("    %s x%d[PER];\n    LOAD_REGS(%s, %s, %s, x%d, p%d, fours, INNER, 0)", typ, i, w.pointee(i), typ,
					fromMemory(w.memory.values[i]), i, i)
			}
		}
	}
	for n, p := range w.passes {
		w.parts(p.parts)
		var to []int // the results of elements that it stores
		for k, r := range w.p.Results {
			if n == w.storing && r.Along.Has(ir.N) {
				to = append(to, k)
			}
		}
		if len(p.reduces) > 0 {
			w.reduce(p, to, load)
		} else if len(to) > 0 {
			w.elements(to, load)
		}
	}
	w.lineResults()
}

// reduce writes a pass that computes reductions, and stores results of elements.
func (w gpuForm) reduce(p pass, to []int, load func([]*expr.Expr)) {
	all := slices.Clone(p.terms)
	for _, i := range p.keeps {
		all = append(all, w.leaves[i-len(w.p.Values)].value)
		w.line("    REAL x%d[PER];", i)
	}
	for _, k := range to {
		all = append(all, w.stores[k])
	}
	load(all)
	sums := []int{}
	for _, i := range p.reduces {
		v := w.p.Values[i]
		w.line("    %s l%d = %s;", typed(v, "REAL"), i, none(v))
		if pairwise(v) {
			sums = append(sums, i)
		}
	}
	formulas, product := w.factors(p, all)
	// add writes what a term adds to the reductions, sums to `to`; `within` is a condition that it counts.
	add := func(indent, to, within string, texts []string) int {
		place := 0
		for j, i := range p.reduces {
			v, l := w.p.Values[i], fmt.Sprintf("l%d", i)
			if pairwise(v) {
				l = fmt.Sprintf("%s%d", to, i)
			}
			now := fmt.Sprintf("now%d", i)
			if product[j] {
				now = fmt.Sprintf("fma(%s, %s, %s)", texts[place], texts[place+1], l)
				place++
			} else {
				w.line("%sconst %s now%d = %s;", indent, typed(v, "REAL"), i, texts[place])
				now = reduced(v, l, now)
			}
			if within != "" {
				now = fmt.Sprintf("%s ? %s : %s", within, now, l)
			}
			w.line("%s%s = %s;", indent, l, now)
			place++
		}
		return place
	}
	w.fours(formulas)
	for _, k := range to {
		w.line("        REAL z%d[4];", k)
	}
	w.line("        _Pragma(\"unroll\") for (int i = 0; i < 4; i++) {")
	texts := w.expressions("            ", false, formulas...)
	place := add("            ", "l", "INDEX_OF(j + i) < count", texts)
	for j, i := range p.keeps {
		w.line("            x%d[j + i] = %s;", i, texts[place+j])
	}
	for j, k := range to {
		w.line("            z%d[i] = %s;", k, texts[place+len(p.keeps)+j])
	}
	w.line("        }")
	w.storeFours(to)
	w.line("    }")
	formulas = append(formulas[:place:place], w.again(formulas[place+len(p.keeps):])...)
	// rest writes what an element that lanes do not keep adds, and its results.
	rest := func(indent, sums string) {
		texts := w.expressions(indent, true, formulas...)
		add(indent, sums, "", texts)
		for j, k := range to {
			w.line("%sy%d[k * INNER] = %s;", indent, k, w.rounded(k, texts[place+j]))
		}
	}
	// What lanes do not keep.
	w.line("    {")
	for _, i := range sums {
		w.line("        REAL s%d[PAIR_LEVELS];", i)
	}
	w.line("        int rest = lane + PER * lanes, terms = 0;")
	w.line("#ifndef ROW_FITS\n        for (; rest + 7 * lanes < count; rest += 8 * lanes) { // eight are on their way together")
	for _, i := range sums {
		w.line("            REAL q%d = 0;", i)
	}
	each := "            _Pragma(\"unroll\") for (int j = 0; j < 8; j++) {\n" +
		"                const int k = rest + j * lanes;"
	if len(to) > 0 { // no load waits for a store
		w.eachRead(formulas, func(i int, typ, _ string) { w.line("            %s f%d[8];", typ, i) })
		w.line(each)
		w.eachRead(formulas, func(i int, _, from string) { w.line("                f%d[j] = %s;", i, from) })
		w.line("            }")
	}
	w.line(each)
	if len(to) > 0 {
		w.eachRead(formulas, func(i int, typ, _ string) { w.line("                const %s e%d = f%d[j];", typ, i, i) })
	} else {
		w.loads("                ", formulas)
	}
	rest("                ", "q")
	w.line("            }\n            terms++;")
	for _, i := range sums {
		w.line("            l%d += q%d;\n            PAIRWISE(l%d, s%d, terms)", i, i, i, i)
	}
	w.line("        }\n#endif\n        for (int k = rest; k < count; k += lanes) {")
	w.loads("            ", formulas)
	rest("            ", "l")
	w.line("        }")
	for _, i := range sums {
		w.line("        PAIRWISE_END(l%d, s%d, terms)", i, i)
	}
	w.line("    }")
	join := func(i int, t tree) {
		w.line("    l%d = %s(%s, l%d, slot, lane, lanes, step);", i, t.function(), t.name, i)
	}
	for _, i := range p.reduces {
		if !pairwise(w.p.Values[i]) {
			join(i, treeOf(w.p.Values[i], false))
		}
	}
	for ; len(sums) > 1; sums = sums[2:] {
		w.line("    {\n        const REAL2 both = tree_sums(t_sums, (REAL2)(l%d, l%d), slot, lane, lanes, step);\n        l%d = both.x;\n        l%d = both.y;\n    }",
			sums[0], sums[1], sums[0], sums[1])
	}
	if len(sums) == 1 {
		join(sums[0], treeOf(w.p.Values[sums[0]], false))
	}
}

// storeFours stores the four elements of results that lanes have computed.
func (w gpuForm) storeFours(to []int) {
	for _, k := range to {
		if !w.p.Results[k].Summed {
			t := w.memory.results[k]
			w.line("        STORE_FOUR(%s, %s, z%d, j, y%d, fours, INNER)", inMemory(t), toMemory(t), k, k)
		}
	}
}

// elements writes a pass that stores results of elements, and reduces nothing.
func (w gpuForm) elements(to []int, load func([]*expr.Expr)) {
	var formulas []*expr.Expr
	for _, k := range to {
		formulas = append(formulas, w.stores[k])
	}
	load(formulas)
	w.fours(formulas)
	for _, k := range to {
		if !w.p.Results[k].Summed {
			w.line("        REAL z%d[4];", k)
		}
	}
	w.line("        _Pragma(\"unroll\") for (int i = 0; i < 4; i++) {")
	for j, text := range w.expressions("            ", false, formulas...) {
		if w.p.Results[to[j]].Summed {
			w.line("            a%d[j + i] += INDEX_OF(j + i) < count ? %s : 0;", to[j], text)
		} else {
			w.line("            z%d[i] = %s;", to[j], text)
		}
	}
	w.line("        }")
	w.storeFours(to)
	w.line("    }")
	rest := w.again(formulas)
	w.line("    for (int k = lane + PER * lanes; k < count; k += lanes) {")
	w.loads("        ", rest)
	for j, text := range w.expressions("        ", true, rest...) {
		if w.p.Results[to[j]].Summed { // a group has one line at a time, and a lane the same elements of each
			w.line("        y%d[k] = line == first_line ? %s : y%d[k] + %s;", to[j], text, to[j], text)
			continue
		}
		w.line("        y%d[k * INNER] = %s;", to[j], w.rounded(to[j], text))
	}
	w.line("    }")
}

// lineResults stores the results of lines.
func (w gpuForm) lineResults() {
	for k, r := range w.p.Results {
		if r.Along.Has(ir.N) {
			continue
		}
		w.line("    if (lane == 0 && there) {")
		text := w.expressions("        ", true, w.stores[k])[0]
		if r.Int && !w.stores[k].IsInt() {
			text = "(int)(" + text + ")"
		}
		w.line("        y%d[line] = %s;\n    }", k, w.rounded(k, text))
	}
}

// parts writes what is of a line before a pass.
func (w gpuForm) parts(parts []int) {
	for _, i := range parts {
		if i < len(w.p.Values) {
			w.pick(i)
			continue
		}
		w.line("    REAL l%d;\n    {", i)
		text := w.expressions("        ", true, w.leaves[i-len(w.p.Values)].value)[0]
		w.line("        l%d = %s;\n    }", i, text)
	}
}

func (w gpuForm) pick(i int) {
	v := w.p.Values[i]
	_, of := v.Of.Leaf()
	if v.Kind == ir.First {
		w.line("    const REAL l%d = count > 0 ? %s : 0;", i, w.loaded(of, fmt.Sprintf("*p%d", of), 1))
		return
	}
	index := w.named(true)(v.At.Leaf())
	step := " * INNER"
	if w.p.Values[of].Along == ir.Column {
		step = ""
	}
	w.line("    const REAL l%d = 0 <= %s && %s < count ? %s : 0;", i, index, index, w.loaded(of, fmt.Sprintf("p%d[%s%s]", of, index, step), 1))
}

// gpuText returns the OpenCL C for GPUs: a function whose name has a prefix.
func (l *plan) gpuText(prefix string) (text string, depends []string) {
	w := gpuForm{&writer{plan: l, depends: []string{"common", "rows_gpu"}}}
	if l.memory.half() {
		w.depends = append(w.depends, "halves")
	}
	w.line("static INLINE void %s%s(%s, int group%s) {", prefix, l.p.Name, l.parameters(), l.localParameters())
	elements, parts := l.chunk()
	if l.p.Parts {
		elements = "max(1, min(chunk, len))"
	}
	w.line("    ROW_PROLOGUE(%s, INNER > 1)", elements)
	if l.p.Parts {
		w.line("    const int parts = %s, line = group * per_group + place, row = line / INNER, there = row < outer * parts;", parts)
		w.line("    const int begin = row %% parts * chunk, count = there ? min(chunk, len - begin) : 0;")
		w.line("    const int at = (row / parts * len + begin) * INNER + line %% INNER;")
	} else {
		if l.p.Runs() {
			w.runs()
		} else {
			w.line("    const int line = group * per_group + place, there = line < outer * INNER;")
		}
		w.line("    const int count = there ? len : 0, at = INNER == 1 ? line * len : line / INNER * len * INNER + line %% INNER;")
	}
	aligned := []string{}
	for _, v := range l.p.Values {
		if v.Kind == ir.Input && v.Along == ir.Element {
			aligned = append(aligned, v.Name+"_off")
		}
	}
	for k, r := range l.p.Results {
		if r.Summed {
			continue
		}
		if r.Along == ir.Element {
			aligned = append(aligned, r.Name+"_off")
			w.line("    global %s *y%d = %s + %s_off + at;", l.resultPointee(k), k, r.Name, r.Name)
		} else {
			w.line("    global %s *y%d = %s + %s_off;", l.resultPointee(k), k, r.Name, r.Name)
		}
	}
	if l.p.Parts {
		aligned = append(aligned, "chunk")
	}
	w.line("    const int fours = INNER == 1 && ALIGNED4(len, %s);", strings.Join(aligned, " | "))
	if Sets(l.p) {
		w.line("    const int first = line %% sets * (len / span);")
	}
	for i, v := range l.p.Values {
		if v.Kind != ir.Input {
			continue
		}
		if v.Channel {
			w.line("    global const %s *p%d = %s + %s_off + first;", l.pointee(i), i, v.Name, v.Name)
			continue
		}
		typ := typed(v, "REAL")
		switch v.Along {
		case ir.Element:
			w.line("    global const %s *p%d = %s + %s_off + at;", l.pointee(i), i, v.Name, v.Name)
		case ir.Column:
			begin := ""
			if l.p.Parts {
				begin = " + begin"
			}
			w.line("    global const %s *p%d = %s + %s_off%s;", l.pointee(i), i, v.Name, v.Name, begin)
		case ir.Line:
			at := "line"
			switch {
			case l.p.Parts:
				at = "row / parts * INNER + line % INNER"
			case v.Set:
				at = "line / span % sets"
			}
			w.line("    const %s l%d = there ? %s : 0;", typ, i, w.loaded(i, fmt.Sprintf("%s[%s_off + %s]", v.Name, v.Name, at), 1))
		default:
			w.line("    const %s l%d = %s;", typ, i, w.loaded(i, fmt.Sprintf("%s[%s_off]", v.Name, v.Name), 1))
		}
	}
	w.body()
	if l.p.Runs() {
		w.line("    }")
		w.runSums()
	}
	w.line("}\n")
	depends = slices.DeleteFunc(w.depends, func(file string) bool { return file == "exp" })
	return w.String(), depends
}

// runs opens a loop over the lines of a run, of which a group has some beside each other. What is summed
// over them is kept in registers.
func (w gpuForm) runs() {
	w.line("    const int first_line = group * run, end = min(outer, first_line + run);")
	for k, r := range w.p.Results {
		if r.Summed {
			w.line("    global REAL *y%d = %s + %s_off + group * len;\n    REAL a%d[PER];", k, r.Name, r.Name, k)
			w.line("    _Pragma(\"unroll\") for (int j = 0; j < PER; j++) a%d[j] = 0;", k)
		}
	}
	w.line("    for (int above = first_line; above < first_line + run; above += per_group) {")
	w.line("    const int line = above + place, there = line < end;")
}

// runSums joins the sums of lines beside each other, and stores them.
func (w gpuForm) runSums() {
	w.line("    const int kept = first_line < outer ? min((len + 4 * lanes - 1) / (4 * lanes) * 4, PER) : 0;")
	w.line("    for (int j = 0; j < kept; j++) {")
	for k, r := range w.p.Results {
		if !r.Summed {
			continue
		}
		t := treeOf(ir.Value{Kind: ir.Sum}, false)
		w.line("        REAL s%d = 0; // a%d[j]: registers have no index", k, k)
		w.line("        _Pragma(\"unroll\") for (int i = 0; i < PER; i++) s%d = i == j ? a%d[i] : s%d;", k, k, k)
		w.line("        s%d = %s(%s, s%d, slot, place, per_group, lanes);", k, t.function(), t.name, k)
		w.line("        if (INDEX_OF(j) < len && place == 0) y%d[INDEX_OF(j)] = s%d;", k, k)
	}
	w.line("    }")
}

func (l *plan) localParameters() (text string) {
	for _, t := range l.trees() {
		text += fmt.Sprintf(", local %s *%s", t.Type, t.name)
	}
	return text
}
