// Package operations reads the table of operations, folder table, and makes of it the methods of
// [tensor.Tensor] and autograd.Node: the files methods_*.go of the two packages. docs/operations.md
// lists the same operations.
//
// The table has a Go file for each family of operations. An operation is a declaration without a
// body, in which T stands for *tensor.Tensor and for *autograd.Node:
//
//	// Softmin returns [Tensor.Softmax] of −x, and panics as that does.
//	//
//	// Gradient: −y·(g − Σ g·y).
//	//
//	// Source: …
//	//
//	//op:torch torch.nn.functional.softmin
//	func (x T) Softmin(axis int) T
//
// The comment is written as that of package tensor. The paragraph that begins with Gradient or
// Gradients stands in the comment of the Node alone, and there [Tensor.Softmax] becomes
// [Node.Softmax], ErrShape tensor.ErrShape and [Keepdims] [tensor.Keepdims].
//
// The methods of Node that are no functions of elements are recorded by package trace, for the export to ONNX.
//
// Without further lines the method calls the unexported one of the same name, here softmin, which
// is written by hand in both packages. These lines say otherwise:
//
//	//op:torch NAME            PyTorch's name, for docs/operations.md
//	//op:elementwise           the method is the function of its name in package kernels/fn, of x,
//	                           the operands and the scalars in the order of the parameters
//	//op:elementwise F(x, y)   the method is fn.F, of operands in this order
//	//op:linewise NUMBERS      the method is the operation on lines of its name in package ops, of x and
//	                           the operands along the parameter axis; NUMBERS is a list of
//	                           expressions, such as 2*eps, or nothing
//	//op:composed              the method is the function of its name in package compose, of x and the parameters
//	//op:composed wide         of these in float32 where they are of floats of 16 bits, for it rounds several times, and of integers in floats
//	//op:calls NAME            the method calls this one, for a name that is taken
//	//op:autocast low          under autograd.Autocast the operands are converted to its type of 16 bits
//	//op:autocast float32      or to float32
//	//op:typed x               of floats of 16 bits the result is of the type of x, whatever the others are
//	//op:value                 the method of Node is that of its value
//	//op:tensor EXPRESSION     the method of Tensor returns this
//	//op:autograd EXPRESSION   the method of Node returns this
//
// What stands in one package alone is documented there. A line of its own gives it a row in
// docs/operations.md: a method by its name, a function with its package.
//
//	//op:listed autograd.MSE torch.nn.functional.mse_loss
package operations

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

//go:embed table
var table embed.FS

// Family is the operations of one file of the table, a section of docs/operations.md.
type Family struct {
	Name  string // of the file
	Title string // of the section, "" for what is no operation
	// Computes says that what they give of floats of 16 bits is computed in float32, and rounded.
	Computes   bool
	Operations []*Operation
}

// Operation is an entry of the table.
type Operation struct {
	Name     string // of a method; of a function with its package, autograd where both have it
	Torch    string // PyTorch's name, "" where it has no such thing
	Listed   bool   // it stands in one package, by hand
	Autocast string // under autograd.Autocast its operands become of the type of that: "low", "float32" or ""
	function *ast.FuncDecl
	doc      []string          // the paragraphs of the comment, without the two below
	gradient string            // the paragraph of the gradient, "" if there is none
	source   string            // the paragraph of the source, "" if there is none
	typed    string            // the operand whose type of 16 bits the result has, "" for all
	bodies   map[string]string // the lines op:calls, elementwise, linewise, value, tensor and autograd, by their word
}

// Elementwise reports whether the operation is a function of package fn, by the line
// op:elementwise.
func (o *Operation) Elementwise() bool {
	_, ok := o.bodies["elementwise"]
	return ok
}

// families are the files of the table, in the order of docs/operations.md.
var families = []Family{
	{Name: "functions", Title: "Functions, element by element", Computes: true},
	{Name: "elements", Title: "Functions: angles, powers, whole numbers, activations", Computes: true},
	{Name: "masks", Title: "Comparison, choice and bits", Computes: true},
	{Name: "reductions", Title: "Reductions", Computes: true},
	{Name: "shape", Title: "Shape and types"},
	{Name: "arrange", Title: "Axes, parts and padding", Computes: true},
	{Name: "indexing", Title: "Indices, masks and ranges", Computes: true},
	{Name: "products", Title: "Products", Computes: true},
	{Name: "conv", Title: "Convolution and pooling", Computes: true},
	{Name: "norm", Title: "Softmax, norms, attention", Computes: true},
	{Name: "losses", Title: "Losses", Computes: true},
	{Name: "linalg", Title: "Linear algebra"},
	{Name: "fft", Title: "Fourier transforms"},
	{Name: "values"},
}

// Families reads the table.
func Families() ([]Family, error) {
	folder, err := fs.Sub(table, "table")
	if err != nil {
		return nil, err
	}
	return read(folder, families)
}

// Reductions returns the names of the methods that reduce any axes: those of the family with a parameter
// axes ...int.
func Reductions() ([]string, error) {
	families, err := Families()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range families {
		for _, o := range f.Operations {
			if f.Name != "reductions" || o.function == nil {
				continue
			}
			for _, p := range o.function.Type.Params.List {
				if p.Names[0].Name == "axes" && typeText(p) == "...int" {
					names = append(names, o.Name)
				}
			}
		}
	}
	return names, nil
}

// read reads the files of a table: one for each family.
func read(folder fs.FS, families []Family) ([]Family, error) {
	names, err := fs.Glob(folder, "*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(families, func(f Family) bool { return f.Name+".go" == name }) {
			return nil, fmt.Errorf("table/%s: no family has this name: add it to families of package operations", name)
		}
	}
	seen := map[string]token.Position{}
	out := slices.Clone(families)
	for i, f := range out {
		text, err := fs.ReadFile(folder, f.Name+".go")
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "table/"+f.Name+".go", text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		entries, err := parseFamily(set, file)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			at := set.Position(e.at)
			if first, twice := seen[e.operation.Name]; twice {
				return nil, fmt.Errorf("%v: %s is in the table twice, first at %v", at, e.operation.Name, first)
			}
			seen[e.operation.Name] = at
			out[i].Operations = append(out[i].Operations, e.operation)
		}
	}
	return out, nil
}

// entry is an operation and where it stands.
type entry struct {
	at        token.Pos
	operation *Operation
}

// parseFamily returns the operations of a file in their order.
func parseFamily(set *token.FileSet, file *ast.File) ([]entry, error) {
	var entries []entry
	docs := map[*ast.CommentGroup]bool{}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			return nil, fmt.Errorf("%v: the table has methods and functions only", set.Position(decl.Pos()))
		}
		docs[f.Doc] = true
		o, err := parseOperation(f)
		if err != nil {
			return nil, fmt.Errorf("%v: %s: %w", set.Position(f.Pos()), f.Name.Name, err)
		}
		entries = append(entries, entry{f.Pos(), o})
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			word, rest, ok := directive(c)
			if !ok || docs[group] {
				continue
			}
			name, torch, _ := strings.Cut(rest, " ")
			if word != "listed" || name == "" {
				return nil, fmt.Errorf("%v: %s: here only //op:listed NAME TORCH may stand", set.Position(c.Pos()), c.Text)
			}
			entries = append(entries, entry{c.Pos(), &Operation{Name: name, Torch: torch, Listed: true}})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return int(a.at - b.at) })
	return entries, nil
}

// directive returns the word and the rest of a line //op:WORD REST.
func directive(c *ast.Comment) (word, rest string, ok bool) {
	line, ok := strings.CutPrefix(c.Text, "//op:")
	word, rest, _ = strings.Cut(line, " ")
	return word, strings.TrimSpace(rest), ok
}

var beginsGradient = regexp.MustCompile(`^Gradients?\b`)

// parseOperation reads a declaration of the table.
func parseOperation(f *ast.FuncDecl) (*Operation, error) {
	o := &Operation{Name: f.Name.Name, function: f, bodies: map[string]string{}}
	if f.Recv == nil {
		o.Name = "autograd." + o.Name
	}
	switch {
	case f.Body != nil:
		return nil, fmt.Errorf("it has a body: the table has declarations only")
	case f.Recv != nil && (len(f.Recv.List[0].Names) != 1 || f.Recv.List[0].Names[0].Name != "x" || typeText(f.Recv.List[0]) != "T"):
		return nil, fmt.Errorf("its receiver is (x T)")
	case !strings.HasPrefix(f.Doc.Text(), f.Name.Name+" "):
		return nil, fmt.Errorf("its comment does not begin with its name")
	}
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 {
			return nil, fmt.Errorf("a parameter has no name")
		}
	}
	for _, c := range f.Doc.List {
		word, rest, ok := directive(c)
		switch {
		case !ok:
		case word == "torch":
			o.Torch = rest
		case word == "typed":
			o.typed = rest
		case word == "autocast":
			if rest != "low" && rest != "float32" {
				return nil, fmt.Errorf("op:autocast is low or float32, not %s", rest)
			}
			o.Autocast = rest
		case slices.Contains([]string{"calls", "composed", "elementwise", "linewise", "value", "tensor", "autograd"}, word):
			o.bodies[word] = rest
		default:
			return nil, fmt.Errorf("there is no line op:%s", word)
		}
	}
	for _, p := range strings.Split(strings.TrimSpace(f.Doc.Text()), "\n\n") {
		switch {
		case beginsGradient.MatchString(p) && o.gradient == "":
			o.gradient = p
		case beginsGradient.MatchString(p):
			return nil, fmt.Errorf("two paragraphs state the gradient")
		case strings.HasPrefix(p, "Source:"):
			o.source = p
		case o.gradient != "" || o.source != "":
			return nil, fmt.Errorf("a paragraph follows the gradient or the source: %.30q", p)
		default:
			o.doc = append(o.doc, p)
		}
	}
	if o.gradient == "" && f.Type.Results != nil && strings.HasSuffix(typeText(f.Type.Results.List[0]), "T") {
		return nil, fmt.Errorf("it does not state its gradient: a paragraph that begins with Gradient")
	}
	return o, nil
}
