// Package caller finds the line of a program that called the library.
package caller

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// library are the packages whose frames are not the program's.
var library = func() (list []string) {
	type here struct{}
	module := path.Dir(path.Dir(reflect.TypeFor[here]().PkgPath()))
	for _, pkg := range []string{"autograd", "fft", "internal/caller", "internal/flatparams", "internal/tensorapi", "linalg", "nn", "optim", "tensor"} {
		list = append(list, module+"/"+pkg)
	}
	return list
}()

// Place returns file and line of the first frame outside of the library, "file.go:12", which few frames are inside of.
func Place() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		frame, more := frames.Next()
		if !slices.Contains(library, packageOf(frame.Function)) || !more {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
}

// packageOf returns the path of the package that a function is of, which runtime names
// "path/pkg.(*Type).Method".
func packageOf(function string) string {
	name, _, _ := strings.Cut(function, "[") // of a type parameter
	slash := strings.LastIndex(name, "/") + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + pkg
}
