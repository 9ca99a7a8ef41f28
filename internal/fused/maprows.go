package fused

import (
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"strings"
)

// rowSpec says how a map is done by rows, which are its innermost axis: see [RowSpec]. Those are maps
// of floats, which may be of 16 bits in memory, that read no index, and of which no tensor is strided along
// a row: tiles are for those.
func (m *mapSpec) rowSpec() *RowSpec {
	for t, typ := range m.types {
		if m.mixed && typ != kernels.Float32 && !typ.Half() && !m.mask(t) {
			return nil
		}
	}
	if m.outer == 0 || m.typ != kernels.Float32 || m.f.Indexed() || len(m.axes) > 0 || m.strided() || m.tiles() {
		return nil
	}
	return &RowSpec{Function: "rows", Free: true, Text: m.rowsText,
		Of: func(args []kernels.Arg, _ kernels.Target) *RowTiling {
			l := mapLoopsOf(m, args)
			n := l.dims[m.outer]
			if l.n == 0 {
				return nil
			}
			of := &RowTiling{Rows: l.n / n, Slices: make([]RowSlice, len(args))}
			for i := range of.Slices {
				of.Slices[i] = Unused
			}
			for t := range m.tensors() {
				of.Slices[t] = l.rowSlice(t)
			}
			return of
		}}
}

// rowSlice returns the elements of tensor t that belong to a row, whose outer axes may be one, or are not
// distinguished.
func (l *mapLoops) rowSlice(t int) RowSlice {
	inner := l.rank - 1
	width := 1
	if l.strides[t][inner] == 1 {
		width = l.dims[inner]
	}
	step, next := width, 0
	for d := inner - 1; d >= 0; d-- {
		switch s := l.strides[t][d]; {
		case l.dims[d] == 1:
		case s <= 0 || next > 0 && s != next:
			return Shared
		case next == 0:
			step, next = s, s*l.dims[d]
		default:
			next = s * l.dims[d]
		}
	}
	return RowSlice{Step: step, Width: width, Times: 1}
}

// rowsText is the OpenCL C of a function that computes some rows, for CPUs or other devices, whose
// work-items share them out.
func (m *mapSpec) rowsText(prefix string, cpu bool) string {
	of := *m
	m = &of
	m.prefix = prefix
	var s strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&s, format+"\n", a...) }
	width := m.opening(&s, "some rows", cpu)
	p("static void %srows(%s, int from, int to) {", prefix, m.parameters())
	if cpu {
		p("    for (int r = from; r < to; r++) {")
		m.starts(p, "        ", "const int at%d")
		m.pointers(p, "        ", "at%d")
		p("        int c = 0;")
		p("        for (; c <= n - %d; c += %d) %s", width, width, m.apply(width, true))
		p("        for (; c < n; c++) %s", m.apply(1, true))
		p("    }\n}")
		return s.String()
	}
	p("    const int per_row = (n + %d) / %d;", width-1, width)
	p("    for (int k = get_local_id(0); k < (to - from) * per_row; k += get_local_size(0)) {")
	p("        const int r = from + k / per_row, c0 = k %% per_row * %d;", width)
	m.starts(p, "        ", "const int at%d")
	m.pointers(p, "        ", "at%d")
	p("        int c = c0;")
	p("        %s", m.apply(width, false))
	p("    }\n}")
	return s.String()
}
