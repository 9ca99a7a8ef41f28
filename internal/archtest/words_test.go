package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// rule is a row of retired.txt.
type rule struct {
	kind, word string
	rest       string // the replacement
}

// readRules reads a file of rules: a kind, a word, and the rest of the line. Lines that begin
// with # are comments.
func readRules(t *testing.T, file string) (rules []rule) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		kind, rest, _ := strings.Cut(line, "\t")
		word, rest, ok := strings.Cut(rest, "\t")
		if !ok || !slices.Contains([]string{"word", "part", "name", "member", "macro", "text"}, kind) {
			t.Fatalf("%s: %q is no kind, word and rest with tabs between them", file, line)
		}
		rules = append(rules, rule{kind, word, rest})
	}
	return rules
}

// vocabulary is where words stand: for each, the places.
type vocabulary struct {
	words   map[string][]string // the words of identifiers where they are declared, in lower case
	names   map[string][]string // identifiers where they are declared
	members map[string][]string // package.Name, package.Type.Member and package.Type.Field where they are declared
	macros  map[string][]string // tokens of OpenCL C
	docs    map[string]string   // the text of each document
}

// sources are the files that words are searched in.
type sources struct{ programs, kernels, documents map[string][]byte }

// findWords parses sources. A place is a file and a line.
func findWords(t *testing.T, s sources) *vocabulary {
	t.Helper()
	v := &vocabulary{words: map[string][]string{}, names: map[string][]string{}, members: map[string][]string{}, macros: map[string][]string{}, docs: map[string]string{}}
	files := slices.Sorted(maps.Keys(s.programs))
	found := make([]map[string][]string, len(files)) // what a file adds, by "kind word"
	errs := make([]error, len(files))
	var wait sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := w; i < len(files); i += runtime.GOMAXPROCS(0) {
				found[i], errs[i] = identifiers(files[i], s.programs[files[i]])
			}
		})
	}
	wait.Wait()
	for i, f := range found {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		for key, places := range f {
			kind, word, _ := strings.Cut(key, " ")
			to := map[string]map[string][]string{"name": v.names, "member": v.members}[kind]
			to[word] = append(to[word], places...)
		}
	}
	for name, places := range v.names {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(splitName(name)))) {
			v.words[word] = append(v.words[word], places...)
		}
	}
	token := regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)
	for name, text := range s.kernels {
		for at, line := range strings.Split(string(text), "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, word := range token.FindAllString(code, -1) {
				v.macros[word] = append(v.macros[word], fmt.Sprintf("%s:%d", name, at+1))
			}
		}
	}
	for name, text := range s.documents {
		v.docs[name] = string(text)
	}
	return v
}

// identifiers returns the identifiers that a Go file declares, "name N", and those of its package,
// "member package.N" and "member package.Type.N". What is used is declared somewhere: whoever calls what
// is there adds no word.
func identifiers(name string, text []byte) (map[string][]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found, pkg := map[string][]string{}, path.Base(path.Dir(name))
	add := func(kind string, id *ast.Ident, prefix string) {
		key := kind + " " + prefix + id.Name
		found[key] = append(found[key], fmt.Sprintf("%s:%d", name, set.Position(id.Pos()).Line))
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			of := ""
			if d.Recv != nil {
				of = receiver(d) + "."
			}
			add("member", d.Name, pkg+"."+of)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add("member", spec.Name, pkg+".")
					if of, ok := spec.Type.(*ast.StructType); ok {
						for _, field := range of.Fields.List {
							for _, id := range field.Names {
								add("member", id, pkg+"."+spec.Name.Name+".")
							}
						}
					}
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add("member", id, pkg+".")
					}
				}
			}
		}
	}
	declare := func(list ...ast.Expr) {
		for _, x := range list {
			if id, ok := x.(*ast.Ident); ok {
				add("name", id, "")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			declare(n.Name)
		case *ast.TypeSpec:
			declare(n.Name)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declare(id)
			}
		case *ast.Field:
			for _, id := range n.Names {
				declare(id)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				declare(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				declare(n.Key, n.Value)
			}
		}
		return true
	})
	return found, nil
}

// splitName returns the words of an identifier in lower case: splitName and SPLIT_NAME are split
// and name, HTTPServer is http and server.
func splitName(name string) (words []string) {
	runes := []rune(name)
	start := 0
	end := func(i int) {
		if i > start {
			words = append(words, strings.ToLower(string(runes[start:i])))
		}
	}
	for i, r := range runes {
		switch {
		case r == '_':
			end(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
			start = i
		}
	}
	end(len(runes))
	return words
}

// places returns where a rule's word stands.
func (v *vocabulary) places(r rule) (places []string) {
	switch r.kind {
	case "word", "part":
		places = slices.Clone(v.words[r.word])
		for token, at := range v.macros {
			if slices.Contains(splitName(token), r.word) {
				places = append(places, at...)
			}
		}
	case "name":
		places = slices.Clone(v.names[r.word])
	case "member":
		places = slices.Clone(v.members[r.word])
	case "macro":
		places = slices.Clone(v.macros[r.word])
	}
	return places
}

// inDocs returns the documents where a rule's word stands: the member of a package with its
// package, a text as it is.
func (v *vocabulary) inDocs(r rule) (places []string) {
	if slices.Contains([]string{"part", "name", "macro"}, r.kind) {
		return nil
	}
	word := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(r.word), " ", `\s+`) + `\b`)
	if r.kind == "member" {
		word = regexp.MustCompile(`\b` + regexp.QuoteMeta(r.word) + `\b`)
	}
	for name, text := range v.docs {
		for _, at := range word.FindAllStringIndex(text, -1) {
			places = append(places, fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:at[0]], "\n")))
		}
	}
	return places
}

// tree reads the sources of the repository. The journal of measurements keeps the words that it was
// written in.
func tree(t *testing.T) (s sources) {
	t.Helper()
	s = sources{map[string][]byte{}, map[string][]byte{}, map[string][]byte{}}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel != "." && (strings.HasPrefix(entry.Name(), ".") || rel == "docs/benchmarks" || rel == "out" || rel == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		to := map[string]map[string][]byte{".go": s.programs, ".cl": s.kernels, ".md": s.documents}[path.Ext(rel)]
		if to == nil {
			return nil
		}
		to[rel], err = os.ReadFile(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	changes, _, ok := bytes.Cut(s.documents["CHANGELOG.md"], []byte("### Renamed")) // whose table has the old names
	if !ok {
		t.Fatal("CHANGELOG.md has no table of renamed things")
	}
	s.documents["CHANGELOG.md"] = changes
	return s
}

// TestWords: no identifier, macro or document has a word that was retired.
func TestWords(t *testing.T) {
	v := findWords(t, tree(t))
	for _, r := range readRules(t, "retired.txt") {
		if at := append(v.places(r), v.inDocs(r)...); len(at) > 0 {
			slices.Sort(at)
			t.Errorf("%s: %q is retired (internal/archtest/retired.txt): write %s. See docs/glossary.md", at[0], r.word, r.rest)
		}
	}
}

// TestWordsOfSamples: what TestWords is to find, it finds, and nothing else.
func TestWordsOfSamples(t *testing.T) {
	v := findWords(t, sources{
		programs:  map[string][]byte{"p/x.go": []byte("package p\nimport q \"example.com/q\"\ntype T struct{ Field int }\nfunc (t *T) isMoored() { q.Limits(); for mast := range q.Loose() { sail := mast; sail = t.keel } }\nvar told = \"slope\" // lent\n")},
		kernels:   map[string][]byte{"p/x.cl": []byte("#define LOAD_KEPT(x) x // FOURS\nkernel void k_shares() {}\n")},
		documents: map[string][]byte{"d.md": []byte("It is held\nto q.Limits. Boats are moored.\n")},
	})
	for _, c := range []struct{ kind, word, places, docs string }{
		{"word", "moored", "[p/x.go:4]", "[d.md:2]"},
		{"word", "moor", "[]", "[]"},
		{"word", "told", "[p/x.go:5]", "[]"},
		{"part", "moored", "[p/x.go:4]", "[]"},
		{"word", "slope", "[]", "[]"},
		{"word", "lent", "[]", "[]"},
		{"word", "kept", "[p/x.cl:1]", "[]"},
		{"word", "shares", "[p/x.cl:2]", "[]"},
		{"name", "isMoored", "[p/x.go:4]", "[]"},
		{"name", "Moored", "[]", "[]"},
		{"name", "mast", "[p/x.go:4]", "[]"},
		{"name", "sail", "[p/x.go:4]", "[]"},
		{"word", "loose", "[]", "[]"},
		{"word", "keel", "[]", "[]"},
		{"member", "p.T.isMoored", "[p/x.go:4]", "[]"},
		{"member", "p.T.Field", "[p/x.go:3]", "[]"},
		{"member", "q.Limits", "[]", "[d.md:2]"},
		{"member", "p.told", "[p/x.go:5]", "[]"},
		{"macro", "LOAD_KEPT", "[p/x.cl:1]", "[]"},
		{"macro", "FOURS", "[]", "[]"},
		{"text", "held to", "[]", "[d.md:1]"},
		{"text", "old to", "[]", "[]"},
	} {
		r := rule{kind: c.kind, word: c.word}
		if places, docs := fmt.Sprint(v.places(r)), fmt.Sprint(v.inDocs(r)); places != c.places || docs != c.docs {
			t.Errorf("%s %q stands in %s and %s, want %s and %s", c.kind, c.word, places, docs, c.places, c.docs)
		}
	}
	for name, want := range map[string]string{"splitName": "[split name]", "SPLIT_NAME": "[split name]", "HTTPServer": "[http server]", "x": "[x]", "f32x8": "[f32x8]", "_": "[]"} {
		if got := fmt.Sprint(splitName(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
