package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented are the packages of the library: every exported name has a comment, and each begins with an example.
var documented = []string{"clrt", "kernels", "tensor", "autograd", "nn", "optim"}

// TestDocs: every exported function, method and type has a comment that begins with its name; every constant and
// variable has one, or its group has; every field and interface method has one, or the comment of its type names
// it.
func TestDocs(t *testing.T) {
	for _, pkg := range documented {
		for _, file := range sources(t, pkg) {
			for _, lack := range undocumented(file) {
				t.Errorf("%s: %s has no comment, or one that does not begin with its name", pkg, lack)
			}
		}
	}
}

// TestDocsOfSamples: what TestDocs is to find, it finds.
func TestDocsOfSamples(t *testing.T) {
	for source, want := range map[string]string{
		"func F() {}":           "[F]",
		"// Of F.\nfunc F() {}": "[F]",
		"// F is.\nfunc F() {}": "[]",
		"func f() {}":           "[]",
		"// T is.\ntype T struct{}\nfunc (t *T) M() {}":    "[T.M]",
		"type t struct{}\nfunc (t) M() {}":                 "[]",
		"type T struct{}":                                  "[T]",
		"// T is.\ntype T struct { F int; g int }":         "[T.F]",
		"// T is.\ntype T struct { F int // of it\n}":      "[]",
		"// T is F and G.\ntype T struct { F, H int }":     "[T.H]",
		"// A T is.\ntype T struct{ FG int }":              "[T.FG]",
		"// T is.\ntype T interface { M() }":               "[T.M]",
		"// T is.\ntype T interface {\n// M does.\nM()\n}": "[]",
		"const C = 1":                                                            "[C]",
		"// Of them.\nconst (\nC = 1\nD = 2\n)":                                  "[]",
		"var (\nV = 1 // of V\nW = 2\n)":                                         "[W]",
		"// T is.\ntype T[A any] struct{}\nfunc (t *T[A]) M() {}":                "[T.M]",
		"// T is.\ntype T struct {\n// of both\nA, B int\nC struct { D int }\n}": "[T.C]",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(undocumented(file)); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

// sources parses the files of a package, tests aside.
func sources(t *testing.T, pkg string) []*ast.File {
	t.Helper()
	return parseAll(t, pkg, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
}

func parseAll(t *testing.T, pkg string, want func(name string) bool) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if !want(path) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		t.Fatalf("package %s has no such files", pkg)
	}
	return files
}

// undocumented returns the exported names of a file without a comment.
func undocumented(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil {
				of := receiver(decl)
				if !ast.IsExported(of) {
					continue
				}
				name = of + "." + name
			}
			if decl.Name.IsExported() && !begins(decl.Doc, decl.Name.Name) {
				names = append(names, name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				names = append(names, undocumentedIn(decl, spec)...)
			}
		}
	}
	return names
}

func undocumentedIn(decl *ast.GenDecl, spec ast.Spec) (names []string) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return nil
		}
		if !begins(spec.Doc, spec.Name.Name) && !begins(decl.Doc, spec.Name.Name) {
			names = append(names, spec.Name.Name)
		}
		var members *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		default:
			return names
		}
		for _, m := range members.List {
			for _, name := range m.Names {
				named := regexp.MustCompile(`\b` + name.Name + `\b`)
				if name.IsExported() && m.Doc == nil && m.Comment == nil && !named.MatchString(spec.Doc.Text()+decl.Doc.Text()) {
					names = append(names, spec.Name.Name+"."+name.Name)
				}
			}
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() && decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func begins(doc *ast.CommentGroup, name string) bool {
	text := strings.TrimPrefix(strings.TrimPrefix(doc.Text(), "A "), "An ")
	return strings.HasPrefix(text, name+" ")
}

// receiver returns the name of the type that a method is of.
func receiver(decl *ast.FuncDecl) string {
	typ := decl.Recv.List[0].Type
	for {
		switch inner := typ.(type) {
		case *ast.StarExpr:
			typ = inner.X
		case *ast.IndexExpr:
			typ = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}

// TestExamples: every package has an example of the whole of it, func Example, whose output is checked.
func TestExamples(t *testing.T) {
	for _, pkg := range documented {
		found := false
		for _, file := range parseAll(t, pkg, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Example" && f.Recv == nil {
					found = found || hasOutput(file, f)
				}
			}
		}
		if !found {
			t.Errorf("package %s has no func Example with an // Output: comment", pkg)
		}
	}
}

func hasOutput(file *ast.File, f *ast.FuncDecl) bool {
	for _, c := range file.Comments {
		if c.Pos() > f.Body.Pos() && c.End() < f.Body.End() && strings.HasPrefix(c.Text(), "Output:") {
			return true
		}
	}
	return false
}

// TestSettings: settings are structs, by the rules of CONTRIBUTING: no functional options; a Config or Options is
// the last parameter, and only Options is variadic.
func TestSettings(t *testing.T) {
	for _, pkg := range documented {
		for _, file := range sources(t, pkg) {
			for _, wrong := range wrongSettings(file) {
				t.Errorf("%s: %s", pkg, wrong)
			}
		}
	}
}

// TestSettingsOfSamples: what TestSettings is to find, it finds.
func TestSettingsOfSamples(t *testing.T) {
	for source, wrong := range map[string]bool{
		"func F(a int, o Options) {}":       false,
		"func F(a int, o ...FOptions) {}":   false,
		"func F(a int, c FConfig) {}":       false,
		"func f(c FConfig, a int) {}":       false,
		"func F(c FConfig, a int) {}":       true,
		"func F(c *FConfig) {}":             true,
		"func F(c ...FConfig) {}":           true,
		"func F(o ...Options) int":          false,
		"func F(o ...func(*options)) {}":    true,
		"type Option func(*options)":        true,
		"type Schedule func(int) float64":   false,
		"func (t *T) M(o x.Options, i int)": true,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := wrongSettings(file); len(got) > 0 != wrong {
			t.Errorf("%s: %v", source, got)
		}
	}
}

func wrongSettings(file *ast.File) (wrong []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if f, ok := n.Type.(*ast.FuncType); ok && n.Name.IsExported() && changesPointer(f) {
				wrong = append(wrong, n.Name.Name+" is a functional option")
			}
		case *ast.FuncDecl:
			if !n.Name.IsExported() {
				return true
			}
			params := n.Type.Params.List
			for i, p := range params {
				typ, variadic := p.Type, false
				if e, ok := typ.(*ast.Ellipsis); ok {
					typ, variadic = e.Elt, true
				}
				if f, ok := typ.(*ast.FuncType); ok && variadic && changesPointer(f) {
					wrong = append(wrong, n.Name.Name+" takes functional options")
				}
				star, pointer := typ.(*ast.StarExpr)
				if pointer {
					typ = star.X
				}
				name := typeName(typ)
				config, options := strings.HasSuffix(name, "Config"), strings.HasSuffix(name, "Options")
				if (config || options) && (i < len(params)-1 || pointer) || config && variadic {
					wrong = append(wrong, fmt.Sprintf("%s takes %s otherwise than by value and last, variadic only if Options", n.Name.Name, name))
				}
			}
		}
		return true
	})
	return wrong
}

// changesPointer reports whether f takes one pointer and returns nothing.
func changesPointer(f *ast.FuncType) bool {
	if f.Results != nil || len(f.Params.List) != 1 {
		return false
	}
	_, pointer := f.Params.List[0].Type.(*ast.StarExpr)
	return pointer
}

func typeName(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.SelectorExpr:
		return typ.Sel.Name
	}
	return ""
}
