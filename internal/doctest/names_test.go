package doctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// history are documents of what was: they name what is gone, too.
var history = []string{"CHANGELOG.md", "journal.md", "winograd.md", "mutants.md"}

var (
	filePath = regexp.MustCompile(`^(?:\./)?([a-z][\w-]*(?:/[\w*-]+)*/[\w*.-]+\.(?:go|cl|py|sh|txt|csv|json|npz|safetensors|md))$`)
	goName   = regexp.MustCompile(`^(?:go doc )?([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?\b`)
)

// TestPaths: every file of the repository that a document names is there.
func TestPaths(t *testing.T) {
	seen := 0
	for _, path := range documents(t) {
		if slices.Contains(history, filepath.Base(path)) || filepath.Base(path) == "getting-started.md" { // whose files are its own
			continue
		}
		for _, span := range spans(t, path) {
			match := filePath.FindStringSubmatch(span)
			if match == nil || strings.Contains(span, "NAME") || strings.Contains(span, "FAMILY") || strings.HasPrefix(span, "clgrad/") { // the last is in the user's folders
				continue
			}
			seen++
			here, _ := filepath.Glob(filepath.Join(filepath.Dir(path), match[1]))
			there, _ := filepath.Glob(filepath.Join(root, match[1]))
			if len(here)+len(there) == 0 {
				t.Errorf("%s names %s, which is not there", path, span)
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d files", seen)
	}
}

// TestNames: every exported name of a package of the library that a document names is there.
func TestNames(t *testing.T) {
	exported := exportedNames(t)
	seen := 0
	for _, path := range documents(t) {
		if slices.Contains(history, filepath.Base(path)) {
			continue
		}
		for _, span := range spans(t, path) {
			match := goName.FindStringSubmatch(span)
			if match == nil || exported[match[1]] == nil || strings.Contains(span, "NAME") {
				continue
			}
			seen++
			name, names := strings.TrimSuffix(match[2]+"."+match[3], "."), exported[match[1]]
			some := strings.Contains(span, "…") && slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(n string) bool { return strings.HasPrefix(n, name) })
			if !names[name] && !names[match[2]+".*"] && !some {
				t.Errorf("%s names %s.%s, which is not there", path, match[1], name)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d names", seen)
	}
}

// spans returns the code in the running text and the tables of a document.
func spans(t *testing.T, path string) (found []string) {
	t.Helper()
	for _, match := range code.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, path), ""), -1) {
		found = append(found, match[1])
	}
	return found
}

// exportedNames returns, by package, what it exports: functions, types, constants and variables,
// and Type.Member of methods and fields; and its tests. Type.* stands for the members of a type
// that embeds others.
func exportedNames(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && strings.HasPrefix(name, ".") || slices.Contains([]string{"cmd", "examples", "internal", "scripts", "out", "tools"}, name) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || filepath.Dir(path) == root {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		pkg := strings.TrimSuffix(file.Name.Name, "_test")
		names := all[pkg]
		if names == nil {
			names = map[string]bool{}
			all[pkg] = names
		}
		for _, decl := range file.Decls {
			f, isFunc := decl.(*ast.FuncDecl)
			if strings.HasSuffix(path, "_test.go") && !(isFunc && strings.HasPrefix(f.Name.Name, "Test")) {
				continue
			}
			addNames(names, decl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func addNames(names map[string]bool, decl ast.Decl) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		name := f.Name.Name
		if f.Recv != nil {
			typ := f.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			switch index := typ.(type) {
			case *ast.IndexExpr:
				typ = index.X
			case *ast.IndexListExpr:
				typ = index.X
			}
			name = typ.(*ast.Ident).Name + "." + name
		}
		names[name] = true
		return
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names[name.Name] = true
			}
		case *ast.TypeSpec:
			names[spec.Name.Name] = true
			var members *ast.FieldList
			switch typ := spec.Type.(type) {
			case *ast.StructType:
				members = typ.Fields
			case *ast.InterfaceType:
				members = typ.Methods
			default:
				continue
			}
			for _, m := range members.List {
				if len(m.Names) == 0 {
					names[spec.Name.Name+".*"] = true
				}
				for _, name := range m.Names {
					names[spec.Name.Name+"."+name.Name] = true
				}
			}
		}
	}
}
