package operations

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/printer"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const module = "github.com/clgrad/clgrad/"

// imports are the packages that generated files may import, but for that which they are in.
var imports = []string{"math", "", module + "internal/compose", module + "internal/ops", module + "internal/trace", module + "kernels", module + "kernels/defs", module + "kernels/fn", module + "tensor"}

// width is the column at which comments wrap.
const width = 100

// Files returns the files that are made of the table, by their paths from the root of the module.
func Files() (map[string][]byte, error) {
	families, err := Families()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{} // what a Node has, and functions of both packages
	for _, f := range families {
		for _, o := range f.Operations {
			known[strings.TrimPrefix(o.Name, "autograd.")] = true
		}
	}
	files := map[string][]byte{}
	for _, f := range families {
		for _, pkg := range []string{"tensor", "autograd"} {
			text, err := generate(pkg, f, known)
			if err != nil {
				return nil, err
			}
			if text != nil {
				files[pkg+"/methods_"+f.Name+".go"] = text
			}
		}
	}
	return files, nil
}

// generate returns the file of a family in a package, nil if the package has nothing of it.
func generate(pkg string, f Family, known map[string]bool) ([]byte, error) {
	var body bytes.Buffer
	for _, o := range f.Operations {
		if o.Listed {
			continue
		}
		code, err := o.code(pkg, f.Computes)
		if err != nil {
			return nil, fmt.Errorf("table/%s.go: %s: %w", f.Name, o.Name, err)
		}
		fmt.Fprintf(&body, "\n%s%s\n", o.comment(pkg, known), code)
	}
	if body.Len() == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated from internal/operations/table/%s.go by \"make generate\". DO NOT EDIT.\n\npackage %s\n", f.Name, pkg)
	code := regexp.MustCompile(`(?m)^//.*`).ReplaceAllString(body.String(), "")
	var read []string
	for _, path := range imports {
		name := path[strings.LastIndex(path, "/")+1:]
		switch {
		case path == "" && read != nil: // between the standard library and the module
			read = append(read, "\n")
		case name != "" && name != pkg && regexp.MustCompile(`\b`+name+`\.`).MatchString(code):
			read = append(read, fmt.Sprintf("%q\n", path))
		}
	}
	if len(read) == 1 {
		fmt.Fprintf(&b, "\nimport %s", read[0])
	} else if read != nil {
		fmt.Fprintf(&b, "\nimport (\n%s)\n", strings.Join(read, ""))
	}
	b.Write(body.Bytes())
	return format.Source(b.Bytes())
}

// placeholder is T as a type: a method may have that name.
var placeholder = regexp.MustCompile(`\bT\b([^(]|$)`)

// signature returns the head of an operation's declaration in a package.
func (o *Operation) signature(pkg string) string {
	head := *o.function
	head.Doc = nil
	var b strings.Builder
	_ = printer.Fprint(&b, token.NewFileSet(), &head)
	typ := map[string]string{"tensor": "*Tensor", "autograd": "*Node"}[pkg]
	return strings.ReplaceAll(placeholder.ReplaceAllString(b.String(), typ+"$1"), pkg+".", "")
}

// code returns the declaration of an operation in a package. What it computes may be of 16 bits.
func (o *Operation) code(pkg string, computes bool) (string, error) {
	expression, err := o.expression(pkg)
	if err != nil {
		return "", err
	}
	head := o.signature(pkg)
	lines := o.statements(pkg, expression, computes)
	if o.Autocast != "" && pkg == "autograd" {
		lines = append([]string{o.casts()}, lines...)
	}
	if line := head + " { " + lines[0] + " }"; len(lines) == 1 && utf8.RuneCountInString(line) <= width {
		return line, nil
	}
	return head + " {\n\t" + strings.Join(lines, "\n\t") + "\n}", nil
}

// statements returns the body of an operation that is an expression.
func (o *Operation) statements(pkg, expression string, computes bool) []string {
	results := o.function.Type.Results
	if results == nil {
		return []string{expression}
	}
	_, value := o.bodies["value"]
	first := typeText(results.List[0])
	lowered := computes && !o.Elementwise() && !value && first == "T"
	y, list := o.results()
	if traced := pkg == "autograd" && !o.Elementwise() && (first == "T" || first == "*tensor.Tensor"); traced {
		lines := []string{list + " := " + expression}
		if lowered && list != y {
			lines = append(lines, fmt.Sprintf("%s = lowered(%s, %s)", y, y, o.operands()))
		} else if lowered {
			lines[0] = y + " := lowered(" + expression + ", " + o.operands() + ")"
		}
		return append(lines, "if trace.On() {", fmt.Sprintf("trace.Record(%q, []any{%s}, %s)", o.function.Name.Name, o.arguments(), list),
			"}", "return "+list)
	}
	switch {
	case !lowered:
		return []string{"return " + expression}
	case list != y:
		return []string{list + " := " + expression, "return lowered(" + y + ", " + o.operands() + ")" + strings.TrimPrefix(list, y)}
	}
	return []string{"return lowered(" + expression + ", " + o.operands() + ")"}
}

// results returns the name of the first result, and those of all, which no parameter has.
func (o *Operation) results() (first, all string) {
	names := []string{"y", "at", "counts"}
	n := 0
	for _, r := range o.function.Type.Results.List {
		n += max(1, len(r.Names))
	}
	for _, p := range o.function.Type.Params.List {
		for _, name := range p.Names {
			if name.Name == names[0] {
				names[0] = "z"
			}
		}
	}
	return names[0], strings.Join(names[:n], ", ")
}

// arguments returns the receiver and the parameters, in their order, as a list.
func (o *Operation) arguments() string {
	var list []string
	if o.function.Recv != nil {
		list = append(list, "x")
	}
	for _, p := range o.function.Type.Params.List {
		for _, n := range p.Names {
			list = append(list, n.Name)
		}
	}
	return strings.Join(list, ", ")
}

// expression returns what an operation is in a package.
func (o *Operation) expression(pkg string) (string, error) {
	if given, ok := o.bodies[pkg]; ok {
		return given, nil
	}
	name := o.function.Name.Name
	if o.Elementwise() {
		return o.elementwise(o.bodies["elementwise"])
	}
	if numbers, ok := o.bodies["linewise"]; ok {
		return o.linewise(numbers)
	}
	if _, ok := o.bodies["composed"]; ok {
		typ := map[string]string{"tensor": "*Tensor", "autograd": "*Node"}[pkg]
		operands := strings.Join(append([]string{"x"}, o.parameters("T")...), ", ")
		args := []string{"x"}
		for _, p := range o.function.Type.Params.List {
			for _, n := range p.Names {
				args = append(args, n.Name)
			}
		}
		if o.bodies["composed"] == "wide" {
			for i, name := range args {
				if i == 0 || slices.Contains(o.parameters("T"), name) {
					args[i] = "asFloats(" + name + ", " + operands + ")"
				}
			}
		}
		return fmt.Sprintf("composed(%q, func() %s { return compose.%s(%s) }, %s)", name, typ, name, strings.Join(args, ", "), operands), nil
	}
	var list []string
	for _, p := range o.function.Type.Params.List {
		for _, n := range p.Names {
			if list = append(list, n.Name); strings.HasPrefix(typeText(p), "...") {
				list[len(list)-1] += "..."
			}
		}
	}
	args := "(" + strings.Join(list, ", ") + ")"
	called := cmp.Or(o.bodies["calls"], unexported(name))
	if _, ok := o.bodies["value"]; ok && pkg == "autograd" {
		return fmt.Sprintf("x.use(%q).%s%s", name, name, args), nil
	}
	if token.IsKeyword(called) {
		return "", fmt.Errorf("%s is a keyword of Go: name another with op:calls", called)
	}
	if o.function.Recv != nil {
		called = "x." + called
	}
	return called + args, nil
}

// casts returns the statement that converts the operands of an operation under Autocast.
func (o *Operation) casts() string {
	cast := map[string]string{"low": "castLow", "float32": "castFloat32"}[o.Autocast]
	if list := o.parameters("...T"); len(list) > 0 {
		return list[0] + " = each(" + list[0] + ", " + cast + ")"
	}
	var to, from []string
	for _, name := range append([]string{"x"}, o.parameters("T")...) {
		to, from = append(to, name), append(from, cast+"("+name+")")
	}
	return strings.Join(to, ", ") + " = " + strings.Join(from, ", ")
}

// operands returns the operands that a result's type follows as a list of arguments.
func (o *Operation) operands() string {
	if o.typed != "" {
		return o.typed
	}
	var list []string
	if o.function.Recv != nil {
		list = append(list, "x")
	}
	list = append(list, o.parameters("T")...)
	for _, name := range o.parameters("...T") {
		list = append(list, name+"...")
	}
	return strings.Join(list, ", ")
}

// elementwise returns the call of a function of package fn: the operation's own with the operands
// in their order, or, if it is given, such as F(x, y), that.
func (o *Operation) elementwise(given string) (string, error) {
	name, operands := o.function.Name.Name, append([]string{"x"}, o.parameters("T")...)
	numbers := o.parameters("float64")
	for _, p := range o.function.Type.Params.List {
		if t := typeText(p); t != "T" && t != "float64" {
			return "", fmt.Errorf("op:elementwise: %s is neither a T nor a float64", p.Names[0].Name)
		}
	}
	function := name
	if given != "" {
		f, list, ok := strings.Cut(strings.TrimSuffix(given, ")"), "(")
		order := strings.Split(list, ", ")
		if sorted := slices.Sorted(slices.Values(order)); !ok || !slices.Equal(sorted, slices.Sorted(slices.Values(operands))) {
			return "", fmt.Errorf("op:elementwise %s is no function of the operands %s", given, strings.Join(operands, ", "))
		}
		function, operands = f, order
	}
	given = scalars(strings.Join(numbers, ", "))
	return fmt.Sprintf("elementwise(%q, fn.%s, %s, %s)", name, function, given, strings.Join(operands, ", ")), nil
}

// linewise returns the call of an operation on lines with a list of numbers.
func (o *Operation) linewise(numbers string) (string, error) {
	if !slices.Contains(o.parameters("int"), "axis") {
		return "", fmt.Errorf("op:linewise: it has no parameter axis int")
	}
	name, operands := o.function.Name.Name, append([]string{"x"}, o.parameters("T")...)
	list := strings.Join(operands, ", ")
	return fmt.Sprintf("linewise(%q, ops.%s, axis, %s, %s)", name, name, scalars(numbers), list), nil
}

// parameters returns the names of an operation's parameters of a type.
func (o *Operation) parameters(typ string) (names []string) {
	for _, p := range o.function.Type.Params.List {
		for _, n := range p.Names {
			if typeText(p) == typ {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// scalars returns a list of numbers as a slice.
func scalars(list string) string {
	if list == "" {
		return "nil"
	}
	return "[]float64{" + list + "}"
}

// typeText returns the type of a field as the table has it.
func typeText(f *ast.Field) string {
	var b strings.Builder
	_ = printer.Fprint(&b, token.NewFileSet(), f.Type)
	return b.String()
}

// unexported returns a name that is not exported: CumSum is cumSum, RMSNorm rmsNorm, T t.
func unexported(name string) string {
	runes := []rune(name)
	n := 0
	for n < len(runes) && unicode.IsUpper(runes[n]) {
		n++
	}
	if n > 1 && n < len(runes) {
		n--
	}
	return strings.ToLower(string(runes[:n])) + string(runes[n:])
}

// comment returns the comment of an operation in a package, with the lines' // and ends.
func (o *Operation) comment(pkg string, known map[string]bool) string {
	paragraphs := slices.Clone(o.doc)
	if pkg == "autograd" && o.gradient != "" {
		paragraphs = append(paragraphs, o.gradient)
	}
	if o.source != "" {
		paragraphs = append(paragraphs, o.source)
	}
	var b strings.Builder
	for i, p := range paragraphs {
		if i > 0 {
			b.WriteString("//\n")
		}
		if pkg == "autograd" {
			p = forNode(p, known)
		}
		if p[0] != ' ' && p[0] != '\t' {
			p = wrap(p, width-len("// "))
		}
		for line := range strings.SplitSeq(p, "\n") {
			b.WriteString(strings.TrimRight("// "+line, " \t") + "\n")
		}
	}
	return strings.ReplaceAll(b.String(), "// \t", "//\t")
}

var (
	method   = regexp.MustCompile(`\[Tensor\.(\w+)\]`)
	exported = regexp.MustCompile(`\[([A-Z]\w*)\]`)
	failure  = regexp.MustCompile(`(^|[^\w.])(Err[A-Z]\w*)`)
)

// forNode returns a paragraph of a Tensor's comment as that of a Node.
func forNode(p string, known map[string]bool) string {
	p = method.ReplaceAllStringFunc(p, func(ref string) string {
		if name := method.FindStringSubmatch(ref)[1]; known[name] {
			return "[Node." + name + "]"
		}
		return "[tensor." + ref[1:]
	})
	p = exported.ReplaceAllStringFunc(p, func(ref string) string {
		if known[ref[1:len(ref)-1]] {
			return ref
		}
		return "[tensor." + ref[1:]
	})
	return failure.ReplaceAllString(p, "${1}tensor.$2")
}

// wrap fills lines of at most n columns.
func wrap(text string, n int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}
