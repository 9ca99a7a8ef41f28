package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented returns the public packages of the module, by folder: every exported name has a
// comment, and each begins with an example.
func documented(t *testing.T) (found []string) {
	t.Helper()
	for pkg := range allowed {
		if top, _, _ := strings.Cut(pkg, "/"); !slices.Contains([]string{"cmd", "docs", "examples", "internal", "scripts"}, top) {
			found = append(found, pkg)
		}
	}
	slices.Sort(found)
	return found
}

// TestPackageDocs: the comment of every public package begins with its name, and shows a program.
func TestPackageDocs(t *testing.T) {
	for _, pkg := range documented(t) {
		var text, name string
		for _, file := range parseAll(t, pkg, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
			text, name = text+file.Doc.Text(), file.Name.Name
		}
		if !strings.HasPrefix(text, "Package "+name+" ") {
			t.Errorf("the comment of %s begins %.30q", pkg, text)
		}
		if !showsProgram(text) {
			t.Errorf("the comment of %s shows no Go that parses:\n%s", pkg, text)
		}
	}
}

// TestPackageDocsOfSamples: what TestPackageDocs is to find, it finds.
func TestPackageDocsOfSamples(t *testing.T) {
	for text, want := range map[string]bool{
		"Package p is.\n":                         false,
		"Package p is.\n\n\tnn, optim   layers\n": false,
		"Package p is.\n\n\tx := 1\n\t...\n":      false,
		"Package p is.\n\n\tx := 1\n":             true,
		"P:\n\n\ttype T int\n\n\tx := T(1)\n":     true,
		"P:\n\n\timport _ \"q\"\n\nIt does.\n":    true,
		"P:\n\n\ta b\n\nOr\n\n\tp.Do()\n":         true,
	} {
		if showsProgram(text) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

// showsProgram reports whether an indented block of a comment is declarations and statements of Go.
func showsProgram(text string) bool {
	parses := func(source string) bool {
		_, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
		return err == nil
	}
	for _, block := range regexp.MustCompile(`(?m)^\t.*\n((\n)*\t.*\n)*`).FindAllString(text, -1) {
		good := true
		for _, chunk := range strings.Split(block, "\n\n") {
			good = good && (parses("package p\n"+chunk) || parses("package p\nfunc f() {\n"+chunk+"\n}"))
		}
		if good {
			return true
		}
	}
	return false
}

// TestDocs: every exported function, method and type has a comment that begins with its name; every
// constant and variable has one, or its group has; every field and interface method has one, or the
// comment of its type names it.
func TestDocs(t *testing.T) {
	eachSource(t, func(pkg string, file *ast.File) {
		for _, lack := range undocumented(file) {
			t.Errorf("%s: %s has no comment, or one that does not begin with its name", pkg, lack)
		}
	})
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
		if got := fmt.Sprint(undocumented(sample(t, source))); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

// eachSource calls f with every file of the library, tests aside.
func eachSource(t *testing.T, f func(pkg string, file *ast.File)) {
	t.Helper()
	for _, pkg := range documented(t) {
		for _, file := range parseAll(t, pkg, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
			f(pkg, file)
		}
	}
}

// sample parses a file that holds the given declarations.
func sample(t *testing.T, source string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
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

// TestDocOrder: what a comment says of errors, gradient and source, it says in this order.
func TestDocOrder(t *testing.T) {
	eachSource(t, func(pkg string, file *ast.File) {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			if text := f.Doc.Text(); !inOrder(text) {
				t.Errorf("%s: %s: errors come before the gradient, the gradient before the source:\n%s", pkg, f.Name.Name, text)
			}
		}
	})
}

// TestDocOrderOfSamples: what TestDocOrder is to find, it finds.
func TestDocOrderOfSamples(t *testing.T) {
	for text, want := range map[string]bool{
		"F returns x. It panics with E. Gradient: g. Source: A.": true,
		"F returns x. Gradient: g. It panics with E.":            false,
		"F returns x. Source: A. It panics with E.":              false,
		"F returns x. Source: A. Gradients: g, g.":               false,
		"F returns x.": true,
	} {
		if inOrder(text) != want {
			t.Errorf("%q", text)
		}
	}
}

func inOrder(text string) bool {
	last := -1
	for _, word := range []string{"anics with", "Gradient", "Source:"} {
		if at := strings.Index(text, word); at >= 0 {
			if at < last {
				return false
			}
			last = at
		}
	}
	return true
}
