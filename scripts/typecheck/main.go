// Command typecheck finds what does not compile on another system, without generating its code:
//
//	typecheck GOOS/GOARCH [-test] PACKAGE...
//
// It checks the types of packages, and of their tests if asked for, without cgo, from the sources of all that they
// import. A compiler finds hardly more in Go code, takes thirty times as long, and sees assembly.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH [-test] PACKAGE...")
		os.Exit(2)
	}
	if err := check(".", os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// check returns the errors of the packages that the arguments of go list name, in the module of dir.
func check(dir, target string, args ...string) error {
	system, processor, _ := strings.Cut(target, "/")
	args = append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, args...)
	list := exec.Command("go", args...)
	list.Dir, list.Stderr = dir, os.Stderr
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	var errs []error
	files, done := token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}
	for packages := json.NewDecoder(bytes.NewReader(out)); ; { // a package follows those that it imports
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // made when tests are built
			continue
		}
		own := p.Module != nil && p.Module.Main
		config := types.Config{Sizes: types.SizesFor("gc", processor), IgnoreFuncBodies: !own,
			Error: func(err error) { errs = append(errs, err) },
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped := p.ImportMap[path]; mapped != "" {
					path = mapped
				}
				if done[path] == nil {
					return nil, fmt.Errorf("go list does not name %s", path)
				}
				return done[path], nil
			})}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				errs = append(errs, err)
			}
			parsed = append(parsed, file)
		}
		done[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed, nil) // Error has its errors
	}
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
