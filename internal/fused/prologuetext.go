package fused

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// text returns the OpenCL C for devices that are no CPU: the formulas, the macros that compute
// them, and the kernel's own text or file.
func (s *prologueBuilder) text() string {
	needs := []string{"common"}
	for _, of := range s.all {
		for _, program := range of.programs() {
			needs = append(needs, program.Depends()...)
		}
	}
	header, own := textAround(s.base, "prologue", kernels.Target{}, needs...)
	var b strings.Builder
	b.WriteString(header)
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("// What %s reads, as formulas: see internal/fused/prologue.go.", s.base.Name)
	p("%s\n#define AT(p, i) ((uint)(i) < (uint)p##_n ? p[i] : 0)", preludeHere)
	for _, of := range s.all {
		s.functions(p, of)
	}
	locals, fill := "", ""
	for _, l := range Of(s.base).Prologues {
		kept := ""
		if l.Keeps {
			kept = "v, "
		}
		i := slices.IndexFunc(s.loads, func(m PrologueSpec) bool { return m.Operand == l.Operand })
		if i < 0 {
			_, columns := l.Size(s.args)
			p("#define GET_%s(%ss, i) %s[%s_off + (s) * %d + (i)]", l.Name, kept, l.Name, l.Name, columns)
			continue
		}
		of := s.of[i]
		values := ""
		for v := range of.values {
			values += fmt.Sprintf(", (v)[%d]", v)
		}
		p("#define GET_%s(%ss, i) %s(s, i%s%s)", l.Name, kept, of, values, s.passed())
		if of.values > 0 {
			at := "of_" + strings.ToLower(l.Name)
			locals += fmt.Sprintf(" local REAL %s[TILE][%d];", at, of.values)
			fill += s.row(of, at)
		}
	}
	if fill != "" {
		fill = fmt.Sprintf(" for (int s = lid; s < min((int)TILE, n - base); s += ITEMS) {%s } barrier(CLK_LOCAL_MEM_FENCE);", fill)
	}
	p("#define GET_LOCALS%s\n#define GET_FILL%s\n#define GET_PARAMS %s", locals, fill, s.declared())
	b.WriteString(own)
	return b.String()
}

// row returns the statements that put the values of row base + s into local memory.
func (s *prologueBuilder) row(of *computedRows, at string) string {
	var declared, puts, calls string
	for v := range of.values {
		declared += fmt.Sprintf(" REAL v%d;", v)
		puts += fmt.Sprintf(" %s[s][%d] = v%d;", at, v, v)
	}
	for j, g := range of.groups {
		if g.parts == 0 {
			continue
		}
		calls += fmt.Sprintf(" %s_row%d(base + s%s", of, j, s.passed())
		for v := range g.parts {
			calls += fmt.Sprintf(", &v%d", g.first+v)
		}
		calls += ");"
	}
	return declared + calls + puts
}

// programs are all that the matrix is made by.
func (of *computedRows) programs() (list []*expr.Program) {
	for _, g := range of.groups {
		for _, r := range g.results {
			if r.value != nil {
				list = append(list, expr.Compile(r.value))
			}
		}
	}
	return list
}

// declared and passed are the kernel's further parameters, and the same as arguments, each after a
// comma.
func (s *prologueBuilder) declared() string {
	text := ""
	for _, p := range s.params[len(s.base.Params):] {
		text += ", " + p.Mode.Declared(p.Name)
	}
	return text
}

func (s *prologueBuilder) passed() string {
	text := ""
	for _, p := range s.params[len(s.base.Params):] {
		text += ", " + p.Name
		if p.Mode.Buffer() {
			text += ", " + p.Name + "_off"
		}
	}
	return text
}

// functions writes those of a matrix: get(s, i, values of the row …) and, of each operation that
// has such values, get_row(s, …). Of a matrix that another is made of, no values are kept.
func (s *prologueBuilder) functions(p func(string, ...any), of *computedRows) {
	values := ""
	for v := range of.values {
		values += fmt.Sprintf(", const REAL v%d", v)
	}
	for j, g := range of.groups {
		for k, r := range g.results {
			if g.gathers == 0 {
				value := r.value
				if r.rest != nil {
					value = r.rest
				}
				p("%s", g.function(fmt.Sprintf("%s_%d_%d", of, j, k), expr.Compile(value)))
			}
		}
		if g.parts == 0 {
			continue
		}
		p("%s", g.function(fmt.Sprintf("%s_parts%d", of, j), g.program))
		p("static INLINE void %s_row%d(const int s%s%s) {", of, j, s.declared(), outputs(g.parts, "REAL *y"))
		g.indices(p, nil)
		args := s.arguments(g, g.program, 0)
		if g.parts == 1 {
			p("    *y0 = %s_parts%d(%s);\n}", of, j, strings.Join(args, ", "))
		} else {
			p("    %s_parts%d(%s%s);\n}", of, j, strings.Join(args, ", "), outputs(g.parts, "y"))
		}
	}
	p("static INLINE REAL %s(const int s, const int i%s%s) {", of, values, s.declared())
	last := 0
	for _, g := range of.groups {
		last += len(g.results)
	}
	for j, g := range of.groups {
		for k, r := range g.results {
			last--
			p("    {\n    const uint j = i - %d;", r.at)
			g.indices(p, &r)
			if last > 0 {
				sum := []string{"0"}
				for d, step := range r.strides {
					if step > 0 {
						sum = append(sum, fmt.Sprintf("%d * (i%d%s)", step, d, g.axes[d].without()))
					}
				}
				within := ""
				if r.at > 0 { // the j of a column before it is no multiple of steps by chance
					within = fmt.Sprintf("i >= %d && ", r.at)
				}
				p("    if (%s%s == j) {", within, strings.Join(sum, " + "))
			}
			if g.gathers > 0 {
				x, index := &g.operands[0], &g.operands[1]
				p("    const int row = %s;", s.element(index, g.axes, ""))
				p("    return (uint)row < %d ? %s : 0;", g.gathers, s.element(x, g.axes, "row"))
			} else {
				value := r.value
				if r.rest != nil {
					value = r.rest
				}
				p("    return %s_%d_%d(%s);", of, j, k, strings.Join(s.arguments(g, expr.Compile(value), g.first), ", "))
			}
			if last > 0 {
				p("    }")
			}
			p("    }")
		}
	}
	p("}")
}

// without subtracts from the index along a flat axis what the row adds to it.
func (a rowAxis) without() string {
	if a.turn > 0 {
		return fmt.Sprintf(" - s * %d", a.turn)
	}
	return ""
}

func outputs(n int, of string) string {
	text := ""
	for v := range n {
		text += fmt.Sprintf(", %s%d", of, v)
	}
	return text
}

// indices declares those along the axes: of a row alone, if there is no result.
func (g *rowGroup) indices(p func(string, ...any), r *rowResult) {
	for d, a := range g.axes {
		switch {
		case a.n == 1:
			p("    const int i%d = 0;", d)
		case a.per == 1 && g.outermost(d):
			p("    const int i%d = s;", d)
		case a.per > 0:
			p("    const int i%d = (uint)s / %d %% %d;", d, a.per, a.n)
		case r == nil:
		case a.turn > 0:
			p("    const int i%d = s * %d + j / %d;", d, a.turn, a.step)
		default:
			p("    const int i%d = j / %d %% %d;", d, a.step, a.n)
		}
	}
}

// outermost reports whether no axis goes along the rows in longer steps.
func (g *rowGroup) outermost(d int) bool {
	return !slices.ContainsFunc(g.axes, func(a rowAxis) bool { return a.per > g.axes[d].per })
}

// function returns a program of the group's formulas as a function.
func (g *rowGroup) function(name string, program *expr.Program) string {
	operands, scalars, axes := g.uses(program)
	t := expr.Types{Vector: "REAL", Scalar: "REAL", Width: 1}
	text := program.Function(name, t, operands, scalars, axes...)
	return strings.Replace(text, "{\n", "{\n"+contractOff+"\n", 1)
}

// uses returns the operands, scalars and axes of a program.
func (g *rowGroup) uses(program *expr.Program) (operands, scalars, axes []int) {
	for i := range len(g.operands) + g.parts {
		if program.Reads(i) {
			operands = append(operands, i)
		}
	}
	for i := range g.scalars {
		if program.Takes(i) {
			scalars = append(scalars, i)
		}
	}
	for d := range g.axes {
		if program.Follows(d) {
			axes = append(axes, d)
		}
	}
	return operands, scalars, axes
}

// arguments returns those of a function of the program, of which values of the row are v from first
// on.
func (s *prologueBuilder) arguments(g *rowGroup, program *expr.Program, first int) []string {
	operands, scalars, axes := g.uses(program)
	var list []string
	for _, i := range operands {
		if i >= len(g.operands) {
			list = append(list, fmt.Sprintf("v%d", first+i-len(g.operands)))
			continue
		}
		o := &g.operands[i]
		switch {
		case o.count > 0:
			name := s.params[o.arg].Name
			list = append(list, fmt.Sprintf("%s + %s_off + %d, %s", name, name, o.off, s.params[o.count].Name))
		default:
			list = append(list, s.element(o, g.axes, ""))
		}
	}
	for _, i := range scalars {
		switch n := g.scalars[i]; {
		case n.param >= 0:
			list = append(list, s.params[n.param].Name)
		case n.whole:
			list = append(list, fmt.Sprintf("(%d)", int32(n.value)))
		default:
			list = append(list, expr.Literal(n.value))
		}
	}
	for _, d := range axes {
		list = append(list, fmt.Sprintf("i%d", d))
	}
	return list
}

// element returns that of an operand, at an index along the first axis that is named, or the
// element's own.
func (s *prologueBuilder) element(o *rowOperand, axes []rowAxis, first string) string {
	at := []string{fmt.Sprint(o.off)}
	for d, step := range o.strides {
		index := fmt.Sprintf("i%d", d)
		if d == 0 && first != "" {
			index = first
		}
		switch {
		case step == 0 || axes[d].n == 1 && index != first:
		case o.of != nil && axes[d].ofRow():
		case o.of != nil && axes[d].turn > 0:
			at = append(at, fmt.Sprintf("%d * (%s - s * %d)", step, index, axes[d].turn))
		default:
			at = append(at, fmt.Sprintf("%d * %s", step, index))
		}
	}
	where := strings.Join(at, " + ")
	if o.of != nil {
		return fmt.Sprintf("%s(s, %s%s)", o.of, where, s.passed())
	}
	name := s.params[o.arg].Name
	return fmt.Sprintf("%s[%s_off + %s]", name, name, where)
}
