package archtest

import (
	"go/ast"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocLinks: what comments link to is declared: [Name], [Type.Method] and [Type.Field] of the package itself, and
// [package.Name] and [package.Type.Method] of another one of this module.
func TestDocLinks(t *testing.T) {
	names := map[string]map[string]bool{} // by package: Name, Type.Method and Type.Field
	everySource(t, func(_ string, f *ast.File) {
		if names[f.Name.Name] == nil {
			names[f.Name.Name] = map[string]bool{}
		}
		declared(f, names[f.Name.Name])
	})
	links := 0
	everySource(t, func(dir string, f *ast.File) {
		for _, c := range f.Comments {
			for _, link := range linksOf(c.Text()) {
				pkg, name, found := strings.Cut(link, ".")
				if !found || ast.IsExported(pkg) {
					pkg, name = f.Name.Name, link
				}
				if names[pkg] == nil {
					continue // of another module
				}
				if links++; !names[pkg][name] {
					t.Errorf("%s: a comment links to [%s], which package %s does not declare", dir, link, pkg)
				}
			}
		}
	})
	if links < 200 {
		t.Errorf("only %d links were found", links)
	}
}

// everySource calls f with every file of the module's packages, tests aside. Comments of the table of operations are
// those of the methods that are made of it.
func everySource(t *testing.T, f func(dir string, file *ast.File)) {
	for _, dir := range slices.Sorted(maps.Keys(allowed)) {
		if dir == "internal/operations" || dir == "internal/operations/table" {
			continue
		}
		if paths, _ := filepath.Glob(filepath.Join("..", "..", dir, "*.go")); slices.ContainsFunc(paths, isSource) {
			for _, file := range parseAll(t, dir, isSource) {
				f(dir, file)
			}
		}
	}
}

func isSource(name string) bool { return !strings.HasSuffix(name, "_test.go") }

var link = regexp.MustCompile(`(?:^|[\s(])\[\*?([A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*){0,2})\](?:[\s,.:;)]|'s|$)`)

// linksOf returns the names in brackets of a comment, but for lines of code.
func linksOf(text string) (found []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			if last := m[1][strings.LastIndex(m[1], ".")+1:]; ast.IsExported(last) && len(last) > 1 {
				found = append(found, m[1])
			}
		}
	}
	return found
}

// declared adds what a file declares.
func declared(f *ast.File, names map[string]bool) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d) + "." + name
			}
			names[name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				case *ast.TypeSpec:
					names[s.Name.Name] = true
					ast.Inspect(s.Type, func(n ast.Node) bool {
						if f, ok := n.(*ast.Field); ok {
							for _, n := range f.Names {
								names[s.Name.Name+"."+n.Name] = true
							}
							if embedded, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 {
								names[s.Name.Name+"."+embedded.Name] = true
							}
						}
						return true
					})
				}
			}
		}
	}
}
