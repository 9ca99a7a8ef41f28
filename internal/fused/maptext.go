package fused

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// text returns the OpenCL C of a map, for CPUs or other devices.
func (m *mapSpec) text(cpu bool) string { return m.written("kernel void "+m.j.Entry(), cpu) }

// batchSpec says how several launches of a map become one: see [BatchSpec]. Nil: they do not, where
// work-groups share tiles in local memory, which is a kernel's own.
func (m *mapSpec) batchSpec() *BatchSpec {
	if m.gpuTiles() {
		return nil
	}
	return &BatchSpec{Function: "map", Text: func(cpu bool) string { return m.written("static void map", cpu) }}
}

// written is the OpenCL C of a map as a function that is declared so.
func (m *mapSpec) written(declared string, cpu bool) string {
	var s strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&s, format+"\n", a...) }
	width := m.opening(&s, "element by element", cpu)
	p("%s(%s) {", declared, m.parameters())
	if cpu {
		m.cpuBody(p)
	} else {
		m.gpuBody(p, width)
	}
	p("}")
	return s.String()
}

// opening writes what the map is built of, before the code that goes over its elements in some way,
// and returns how many the widest vectors have.
func (m *mapSpec) opening(s *strings.Builder, way string, cpu bool) (width int) {
	depends := append([]string{"// @depends: common"}, m.program.Depends()...)
	if m.mixed {
		depends = append(depends, "convert")
	}
	if m.ofStorage() {
		depends = append(depends, "lowbit")
	}
	fmt.Fprintln(s, strings.Join(depends, ", "))
	fmt.Fprintf(s, "// %s, %s: Y = f(X0 …), as Map of internal/fused/map.go lays it out.\n%s", m.j.Name, way,
		expr.Prelude)
	width = 1
	switch {
	case cpu:
		width = MapVectorCPU
	case m.l.Aligned:
		width = MapVector
	}
	s.WriteString(m.function(1))
	if width > 1 {
		s.WriteString(m.function(width))
	}
	return width
}

// function returns the formula as a function of vectors of a width.
func (m *mapSpec) function(width int) string {
	t := expr.Types{Width: width, Whole: m.typ != kernels.Float32}
	t.Vector, t.Scalar = m.compute(width), m.compute(1)
	return m.program.Function(m.formula(width), t, m.uses, m.scalars, m.axes...)
}

// formula is the name of that function.
func (m *mapSpec) formula(width int) string {
	if m.value >= 0 { // beside those of the kernel that stores
		return fmt.Sprintf("then_f%d", width)
	}
	return fmt.Sprintf("%sf%d", m.prefix, width)
}

// parameters returns those of the entry point.
func (m *mapSpec) parameters() string {
	var list []string
	for i, ps := range m.params() {
		name := ps.Mode.Declared(ps.Name)
		if i < m.tensors() && m.own(i) {
			way := "IN("
			if m.result(i) {
				way = "OUT("
			}
			name = way + ps.Name + ")"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// starts declares, for row r, the number of the first element of some tensors' rows, with a prefix;
// of all if none is named.
func (m *mapSpec) starts(p func(string, ...any), indent, prefix string, tensors ...int) {
	if len(tensors) == 0 {
		for t := range m.tensors() {
			tensors = append(tensors, t)
		}
	}
	at := map[int]string{}
	for _, t := range tensors {
		at[t] = m.name(t) + "_off"
	}
	if m.outer > 1 {
		p("%sint rest = r;", indent)
	}
	for d := m.outer - 1; d >= 0; d-- {
		index := "r"
		if m.outer > 1 {
			index = fmt.Sprintf("i%d", d)
			if d > 0 {
				p("%sconst int %s = rest %% d%d;", indent, index, d)
				p("%srest /= d%d;", indent, d)
			} else {
				p("%sconst int %s = rest;", indent, index)
			}
		}
		for _, t := range tensors {
			if m.l.Steps[t] == Indexed || t == m.value {
				continue
			}
			at[t] += fmt.Sprintf(" + %s * %s_%d", index, m.name(t), d)
		}
	}
	for _, t := range tensors {
		if t == m.value {
			continue
		}
		p("%s%s = %s;", indent, fmt.Sprintf(prefix, t), at[t])
	}
}

// pointers declares p0, p1 …, the tensors' rows.
func (m *mapSpec) pointers(p func(string, ...any), indent, at string) {
	for t := range m.tensors() {
		if t == m.value {
			continue
		}
		constant := "const "
		if m.result(t) {
			constant = ""
		}
		p("%sglobal %s%s *p%d = %s + %s;", indent, constant, m.element(t), t, m.name(t), fmt.Sprintf(at, t))
	}
}

// element returns the type of the elements of tensor t in memory.
func (m *mapSpec) element(t int) string {
	if !m.own(t) {
		return m.types[t].C()
	}
	return "ELEM"
}

// tiled reports whether tensor t goes through a tile, b0, b1 …: on a CPU of a work-item's own, on
// others of local memory.
func (m *mapSpec) tiled(t int, cpu bool) bool {
	return m.tiles() && m.l.Steps[t] == Strided && (cpu || m.gpuTiles())
}

// gpuTiles reports whether a kernel for GPUs goes over tiles: where a tensor is strided, and the
// tiles of all that are fit local memory in double precision.
func (m *mapSpec) gpuTiles() bool {
	n := 0
	for t := range m.tensors() {
		if m.l.Steps[t] == Strided {
			n++
		}
	}
	return m.tiles() && n > 0 && n <= 3
}

// inTile returns the place in a tile of what column c of a row is.
func inTile(cpu bool) string {
	if cpu {
		return fmt.Sprintf("k * %d + c - tile", mapWide)
	}
	return fmt.Sprintf("k * %d + lx", gpuTile+1)
}

// load returns the elements of tensor t from column c on, for a width, as the type of the formula.
func (m *mapSpec) load(t, width int, cpu bool) string {
	typ := m.compute(width)
	if t == m.value {
		return "v"
	}
	convert := func(text string) string {
		switch {
		case m.own(t):
			return text
		case m.half(t), m.stored(t):
			return fmt.Sprintf("CONVERT(%s, %s(%s))", typ, m.typeFunction("from", t, width), text)
		case m.odd():
			return ofWidth("odd_"+m.types[t].C(), width) + "(" + text + ")"
		}
		return fmt.Sprintf("CONVERT(%s, %s)", typ, text)
	}
	one := func(text string) string { // an element, which C converts but for those of 16 bits and for storage
		switch {
		case m.half(t), m.stored(t):
			return m.typeFunction("from", t, 1) + "(" + text + ")"
		case m.odd():
			return "odd_" + m.types[t].C() + "(" + text + ")"
		}
		return text
	}
	from := fmt.Sprintf("p%d + c", t)
	step := m.l.Steps[t]
	if m.tiled(t, cpu) {
		from, step = fmt.Sprintf("b%d + %s", t, inTile(cpu)), Contiguous
	}
	switch {
	case step == Indexed:
		return fmt.Sprintf("p%d, %s_n", t, m.name(t))
	case step == Broadcast:
		return fmt.Sprintf("(%s)%s", typ, one(fmt.Sprintf("p%d[0]", t)))
	case width == 1 && step == Strided:
		return one(fmt.Sprintf("p%d[c * %s_n]", t, m.name(t)))
	case width == 1:
		return one(fmt.Sprintf("*(%s)", from))
	case step == Strided:
		var list []string
		for i := range width {
			list = append(list, one(fmt.Sprintf("p%d[(c + %d) * %s_n]", t, i, m.name(t))))
		}
		return fmt.Sprintf("(%s)(%s)", typ, strings.Join(list, ", "))
	case !cpu:
		return convert(fmt.Sprintf("*(global const %s *)(%s)", m.vector(t, width), from))
	}
	return convert(fmt.Sprintf("IN_MEMORY(%s, %s, %s)", m.space(t, cpu), m.vector(t, width), from))
}

// space returns the address space that a vector of tensor t is loaded from, and stored in.
func (m *mapSpec) space(t int, cpu bool) string {
	if m.tiled(t, cpu) {
		return "private"
	}
	return "global"
}

// vector returns the vector type of the elements of tensor t in memory.
func (m *mapSpec) vector(t, width int) string {
	return fmt.Sprintf("%s%d", m.types[t].C(), width)
}

// apply returns the statement that computes width elements from column c on.
func (m *mapSpec) apply(width int, cpu bool) string {
	var args []string
	for t := range m.uses {
		args = append(args, m.load(t, width, cpu))
	}
	return m.applied(args, width, cpu)
}

// applied returns that statement for elements of the tensors that were loaded.
func (m *mapSpec) applied(args []string, width int, cpu bool) string {
	for _, i := range m.scalars {
		args = append(args, fmt.Sprintf("s%d", i))
	}
	for _, axis := range m.axes {
		args = append(args, m.index(axis, width))
	}
	if n := len(m.j.Functions); n > 1 {
		typ, stores := m.compute(width), ""
		declare := typ + " v0"
		for y := range n {
			if y > 0 {
				declare += fmt.Sprintf(", v%d", y)
			}
			args = append(args, fmt.Sprintf("&v%d", y))
			stores += " " + m.store(len(m.uses)+y, width, cpu, fmt.Sprintf("v%d", y))
		}
		return fmt.Sprintf("{ %s; %s(%s);%s }", declare, m.formula(width), strings.Join(args, ", "), stores)
	}
	return m.store(len(m.uses), width, cpu, fmt.Sprintf("%s(%s)", m.formula(width), strings.Join(args, ", ")))
}

// index returns the indices along an axis of width elements from column c on.
func (m *mapSpec) index(axis, width int) string {
	switch {
	case axis == m.outer && width > 1:
		lanes := "0"
		for i := 1; i < width; i++ {
			lanes += fmt.Sprintf(", %d", i)
		}
		return fmt.Sprintf("c + (int%d)(%s)", width, lanes)
	case axis == m.outer:
		return "c"
	case m.outer == 1:
		return fmt.Sprintf("(int%s)r", suffix(width))
	}
	return fmt.Sprintf("(int%s)i%d", suffix(width), axis)
}

// suffix is the end of the name of a type of so many elements.
func suffix(width int) string {
	if width > 1 {
		return fmt.Sprint(width)
	}
	return ""
}

// typeFunction returns the function of halves.cl or lowbit.cl that makes numbers of elements of tensor t,
// "from", or elements of floats, "to".
func (m *mapSpec) typeFunction(way string, t, width int) string {
	return ofWidth(way+"_"+m.types[t].String(), width)
}

// ofWidth is the name of a function's form for vectors of so many elements: f_4 of f.
func ofWidth(function string, width int) string {
	if width > 1 {
		function += fmt.Sprintf("_%d", width)
	}
	return function
}

// asElement returns what is computed as elements of tensor t: integers wrap around, and floats become
// the nearest that there is.
func (m *mapSpec) asElement(t, width int, value string) string {
	typ := m.types[t]
	to := typ.C() + suffix(width)
	switch {
	case m.own(t):
		return value
	case m.half(t), m.stored(t) && m.typ == kernels.Float32:
		return fmt.Sprintf("%s(%s(%s))", m.typeFunction("to", t, width), ofWidth("real_as_float", width), value)
	case m.stored(t):
		text := fmt.Sprintf("convert_uchar%s(%s & 0xff)", suffix(width), value)
		return fmt.Sprintf("as_uchar%s(%s(%s))", suffix(width), m.typeFunction("from", t, width), text)
	case m.mask(t):
		if width == 1 {
			return fmt.Sprintf("(uchar)(%s)", value)
		}
		return fmt.Sprintf("convert_%s(%s)", to, value)
	case m.typ == kernels.Float32:
		return fmt.Sprintf("%s(%s)", ofWidth("real_as_"+typ.C(), width), value)
	case width == 1:
		return fmt.Sprintf("(%s)(%s)", to, value)
	}
	unsigned := strings.TrimPrefix(to, "u")
	low := map[int]string{1: "0xff", 2: "0xffff", 4: "0xffffffffL", 8: "-1L"}[typ.Size()]
	bits := fmt.Sprintf("convert_u%s(%s & %s)", unsigned, value, low)
	return fmt.Sprintf("as_%s(%s)", to, bits)
}

// store returns the statement that writes a value to width elements of tensor t from column c on.
func (m *mapSpec) store(t, width int, cpu bool, value string) string {
	value = m.asElement(t, width, value)
	to := fmt.Sprintf("p%d + c", t)
	step := m.l.Steps[t]
	if m.tiled(t, cpu) {
		to, step = fmt.Sprintf("b%d + %s", t, inTile(cpu)), Contiguous
	}
	switch {
	case width == 1 && step == Strided:
		return fmt.Sprintf("p%d[c * %s_n] = %s;", t, m.name(t), value)
	case width == 1:
		return fmt.Sprintf("*(%s) = %s;", to, value)
	case step == Strided:
		text := fmt.Sprintf("{ const %s stored = %s; ", m.vector(t, width), value)
		for i := range width {
			text += fmt.Sprintf("p%d[(c + %d) * %s_n] = stored.s%x; ", t, i, m.name(t), i)
		}
		return text + "}"
	case !cpu:
		return fmt.Sprintf("*(global %s *)(%s) = %s;", m.vector(t, width), to, value)
	}
	return fmt.Sprintf("IN_MEMORY(%s, %s, %s) = %s;", m.space(t, cpu), m.vector(t, width), to, value)
}

func (m *mapSpec) cpuBody(p func(string, ...any)) {
	p("    const int from = get_global_id(0) * %d, to = from + min(n - from, %d);", mapChunk, mapChunk)
	p("    if (from >= n) return;")
	columns := func(indent, first, end string) {
		p("%sint c = %s;", indent, first)
		p("%sfor (; c <= %s - %d; c += %d) %s", indent, end, MapVectorCPU, MapVectorCPU, m.apply(MapVectorCPU, true))
		p("%sfor (; c < %s; c++) %s", indent, end, m.apply(1, true))
	}
	if m.outer == 0 {
		m.starts(p, "    ", "const int at%d")
		m.pointers(p, "    ", "at%d")
		columns("    ", "from", "to")
		return
	}
	p("    const int run = max(%d / n, %d), first = get_global_id(1) * run, last = first + min(rows - first, run);", mapChunk, m.run(mapChunk))
	if !m.tiles() {
		p("    for (int r = first; r < last; r++) {")
		m.starts(p, "        ", "const int at%d")
		m.pointers(p, "        ", "at%d")
		columns("        ", "from", "to")
		p("    }")
		return
	}
	for t := range m.tensors() {
		p("    int at%d[%d];", t, mapTall)
		if m.tiled(t, true) {
			p("    %s b%d[%d];", m.element(t), t, mapTall*mapWide)
		}
	}
	p("    for (int top = first; top < last; top += %d) {", mapTall)
	p("        const int tall = min(last - top, %d);", mapTall)
	p("        for (int k = 0; k < tall; k++) {\n            const int r = top + k;")
	m.starts(p, "            ", "at%d[k]")
	p("        }")
	p("        for (int tile = from; tile < to; tile += %d) {", mapWide)
	p("            const int wide = min(to - tile, %d);", mapWide)
	m.prefetch(p)
	for t := range m.uses {
		if m.tiled(t, true) {
			m.copyTile(p, t)
		}
	}
	p("            for (int k = 0; k < tall; k++) {")
	m.pointers(p, "                ", "at%d[k]")
	columns("                ", "tile", "tile + wide")
	p("            }")
	if y := len(m.uses); m.tiled(y, true) {
		m.copyTile(p, y)
	}
	p("        }\n    }")
}

// prefetch asks for the lines of the next tile, of strided operands whose neighbours lie side by
// side down the rows and of a result that lies along them: each line is far from the one before,
// and no processor guesses that. The last tile has none behind it: what is asked for there may lie
// behind the tensor, and its number may be no int.
func (m *mapSpec) prefetch(p func(string, ...any)) {
	const indent, line = "            ", 16 // elements, of four bytes
	for t := range m.uses {
		if m.tiled(t, true) {
			p("%sif (tall > 1 && at%d[1] == at%d[0] + 1) {", indent, t, t)
			p("%s    for (int c = 0; c < wide; c++)", indent)
			p("%s        for (int k = 0; k < tall; k += %d) PREFETCH(%s + (at%d[0] + k + (long)(tile + %d + c) * %s_n), 0);", indent, line, m.name(t), t, mapWide, m.name(t))
			p("%s}", indent)
		}
	}
	if y := len(m.uses); !m.tiled(y, true) {
		p("%sfor (int k = 0; k < tall; k++)", indent)
		p("%s    for (int c = 0; c < %d; c += %d) PREFETCH(%s + ((long)at%d[k] + tile + %d + c), 1);", indent, mapWide, line, m.name(y), y, mapWide)
	}
}

// copyTile copies a tile of tensor t to its memory b, or back if it is the result: along the rows,
// or across them where neighbours lie nearer there; by squares of four where they lie side by side.
func (m *mapSpec) copyTile(p func(string, ...any), t int) {
	const indent = "            "
	back := t == len(m.uses)
	name, in := m.name(t), fmt.Sprintf("b%d[k * %d + c]", t, mapWide)
	out := fmt.Sprintf("%s[at%d[k] + (tile + c) * %s_n]", name, t, name)
	move := in + " = " + out
	if back {
		move = out + " = " + in
	}
	p("%s{", indent)
	p("%s    const int across = tall > 1 && at%d[1] > at%d[0] && at%d[1] - at%d[0] < %s_n;", indent, t, t, t, t, name)
	if !back {
		four := m.vector(t, 4)
		p("%s    int side = across && tall %% 4 == 0 && wide %% 4 == 0;", indent)
		p("%s    for (int k = 1; side && k < tall; k++) side = at%d[k] == at%d[0] + k;", indent, t, t)
		p("%s    if (side) {", indent)
		p("%s        for (int c = 0; c < wide; c += 4)", indent)
		p("%s            for (int k = 0; k < tall; k += 4) {", indent)
		for i := range 4 {
			p("%s                const %s q%d = vload4(0, %s + at%d[0] + k + (tile + c + %d) * %s_n);", indent, four, i, name, t, i, name)
		}
		for i := range 4 {
			p("%s                vstore4((%s)(q0.s%d, q1.s%d, q2.s%d, q3.s%d), 0, b%d + (k + %d) * %d + c);", indent, four, i, i, i, i, t, i, mapWide)
		}
		p("%s            }", indent)
		p("%s    } else", indent)
	}
	p("%s    if (across) {", indent)
	p("%s        for (int c = 0; c < wide; c++)\n%s            for (int k = 0; k < tall; k++) %s;", indent, indent, move)
	p("%s    } else", indent)
	p("%s        for (int k = 0; k < tall; k++)\n%s            for (int c = 0; c < wide; c++) %s;", indent, indent, move)
	p("%s}", indent)
}

func (m *mapSpec) gpuBody(p func(string, ...any), width int) {
	if m.gpuTiles() {
		m.gpuTiled(p)
		return
	}
	half := "n"
	if m.pairs() {
		half = "half_n"
		p("    const int half_n = (n - 1) / %d * %d + %d;", 2*width, width, width) // n + 7 may be beyond an int
	}
	p("    const int c0 = get_global_id(0) * %d;", width)
	if m.outer > 0 {
		p("    const int r = get_global_id(1);")
		p("    if (c0 >= %s || r >= rows) return;", half)
	} else {
		p("    if (c0 >= %s) return;", half)
	}
	m.starts(p, "    ", "const int at%d")
	m.pointers(p, "    ", "at%d")
	p("    int c = c0;")
	switch {
	case m.pairs():
		m.gpuPairs(p, width)
		return
	case width > 1 && m.outer == 0:
		p("    if (c > n - %d) {", width)
		p("        for (; c < n; c++) %s", m.apply(1, false))
		p("        return;\n    }")
	}
	p("    %s", m.apply(width, false))
}

// pairs reports whether a work-item of a GPU computes two vectors: of tensors of at most 16 bits, contiguous along the
// rows. One vector is too little to keep the memory busy.
func (m *mapSpec) pairs() bool {
	for t := range m.tensors() {
		if step := m.l.Steps[t]; m.types[t].Size() > 2 || step != Contiguous && step != Broadcast {
			return false
		}
	}
	return m.l.Aligned && m.value < 0
}

// gpuPairs computes vectors at column c and half a row from it. Both are loaded before one is stored.
func (m *mapSpec) gpuPairs(p func(string, ...any), width int) {
	p("    const int c1 = c0 + half_n;")
	p("    if (c1 > n - %d) {", width)
	if m.outer > 0 { // rows are whole vectors
		p("        %s", m.apply(width, false))
	} else {
		p("        for (; c < min(c0 + %d, n); c++) %s", width, m.apply(1, false))
		p("        for (c = c1; c < n; c++) %s", m.apply(1, false))
	}
	p("        return;\n    }")
	var loaded [2][]string
	for i := range loaded {
		p("    c = c%d;", i)
		for t := range m.uses {
			name := fmt.Sprintf("x%d_%d", t, i)
			p("    const %s %s = %s;", m.compute(width), name, m.load(t, width, false))
			loaded[i] = append(loaded[i], name)
		}
	}
	for i, args := range loaded {
		p("    c = c%d;", i)
		p("    %s", m.applied(args, width, false))
	}
}

// gpuTiled is the body of a kernel whose work-groups, of gpuTile by gpuTall work-items, each
// compute a square tile. A tensor that is strided is read, or written, in the order in which it
// lies; a column more keeps a column of the tile in different banks of local memory.
func (m *mapSpec) gpuTiled(p func(string, ...any)) {
	p("    const int lx = get_local_id(0), ly = get_local_id(1), c0 = get_group_id(0) * %d, r0 = get_group_id(1) * %d;", gpuTile, gpuTile)
	y := len(m.uses)
	for t := range m.tensors() {
		if m.tiled(t, false) {
			p("    local %s b%d[%d];", m.element(t), t, gpuTile*(gpuTile+1))
		}
	}
	for t := range y {
		if m.tiled(t, false) {
			m.turn(p, t)
		}
	}
	p("    barrier(CLK_LOCAL_MEM_FENCE);")
	p("    for (int k = ly; k < %d; k += %d) {", gpuTile, gpuTall)
	p("        const int r = r0 + k, c = c0 + lx;")
	p("        if (r >= rows || c >= n) continue;")
	m.starts(p, "        ", "const int at%d")
	m.pointers(p, "        ", "at%d")
	p("        %s", m.apply(1, false))
	p("    }")
	if m.tiled(y, false) {
		p("    barrier(CLK_LOCAL_MEM_FENCE);")
		m.turn(p, y)
	}
}

// turn copies a tile of tensor t to local memory, or back if it is the result. Neighbours in a
// work-group take neighbours in memory: along the rows, or across them where those lie nearer.
func (m *mapSpec) turn(p func(string, ...any), t int) {
	name := m.name(t)
	move := func(indent string) {
		p("%sif (r0 + row >= rows || c0 + col >= n) continue;", indent)
		p("%sconst int r = r0 + row;", indent)
		m.starts(p, indent, "const int from%d", t)
		in, out := fmt.Sprintf("b%d[row * %d + col]", t, gpuTile+1), fmt.Sprintf("%s[from%d + (c0 + col) * %s_n]", name, t, name)
		if t == len(m.uses) {
			in, out = out, in
		}
		p("%s%s = %s;", indent, in, out)
	}
	p("    if (%s_%d < %s_n) {", name, m.outer-1, name)
	p("        for (int col = ly; col < %d; col += %d) {\n            const int row = lx;", gpuTile, gpuTall)
	move("            ")
	p("        }\n    } else {")
	p("        for (int row = ly; row < %d; row += %d) {\n            const int col = lx;", gpuTile, gpuTall)
	move("            ")
	p("        }\n    }")
}
