package archtest

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// TestSettings: settings are structs, by the rules of CONTRIBUTING: no functional options; a Config
// or Options is the last parameter, and only Options is variadic.
func TestSettings(t *testing.T) {
	eachSource(t, func(pkg string, file *ast.File) {
		for _, wrong := range wrongSettings(file) {
			t.Errorf("%s: %s", pkg, wrong)
		}
	})
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
		if got := wrongSettings(sample(t, source)); len(got) > 0 != wrong {
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
