// Package cl is the OpenCL C of clgrad's kernels, and makes programs of its files: each is a text after
// the files that it depends on.
//
//	text, err := cl.Program("move.cl", "")
//
// A file names those that it depends on in one of its first lines:
//
//	// @depends: common, random
//
// and those that come after it, which leave something open that it says, such as the epilogue of a
// product:
//
//	// @then: gemm_cpu
package cl

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/regular"
)

//go:embed *.cl
var embedded embed.FS

// PathEnv names the environment variable that holds a folder of .cl files. A file found there is
// used instead of the embedded one, so that a kernel can be edited without rebuilding the program.
const PathEnv = "CLGRAD_KERNEL_PATH"

// mostText bounds a file of that folder, in bytes.
const mostText = 1 << 24

// ErrSource is what a missing, unreadable or circular kernel source is.
var ErrSource = errors.New("kernels: bad source")

// CheckPath returns an error that wraps ErrSource and names PathEnv if that is set, and names no
// folder with a .cl file in it.
func CheckPath() error {
	dir := os.Getenv(PathEnv)
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: errors.New("it is no folder")}
	}
	if err == nil {
		var files []os.DirEntry
		files, err = os.ReadDir(dir)
		isKernel := func(f os.DirEntry) bool { return filepath.Ext(f.Name()) == ".cl" }
		if err == nil && !slices.ContainsFunc(files, isKernel) {
			err = &fs.PathError{Op: "open", Path: dir, Err: errors.New("no file in it is a kernel's, NAME.cl")}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSource, PathEnv, err)
	}
	return nil
}

// Program returns the text of a file after those that it depends on, each once. The file is an embedded
// one, or own if that is not "". #line directives keep the compiler's messages in terms of the files. A
// file of the same name in the folder of CLGRAD_KERNEL_PATH takes a file's place, or that of own. Errors
// wrap [ErrSource].
func Program(file, own string) (string, error) {
	return assemble(file, func(name string) (string, error) {
		if own != "" && name == file {
			return readOver(name, func() (string, error) { return own, nil })
		}
		return read(name)
	})
}

func read(file string) (string, error) {
	return readOver(file, func() (string, error) {
		text, err := embedded.ReadFile(file)
		return string(text), err
	})
}

// readOver returns the file of that name in the folder of PathEnv, else what other returns.
func readOver(file string, other func() (string, error)) (string, error) {
	if dir := os.Getenv(PathEnv); dir != "" {
		text, err := regular.Read(filepath.Join(dir, file), mostText)
		if err == nil {
			return string(text), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: %s: %w", ErrSource, PathEnv, err)
		}
	}
	return other()
}

// The beginnings of the lines that name the files before a text, and those after it.
const (
	DependsHeader = "// @depends:"
	ThenHeader    = "// @then:"
)

const targetHeader = "// @target:"

// PTXTarget returns what a program is for on NVIDIA's devices, if one of its files says that in a
// line after the one that names what it depends on:
//
//	// @target: sm_90a
//
// Else it returns "". Statements for the target are marked: see
// [github.com/clgrad/clgrad/clrt.Source].
func PTXTarget(program string) string {
	_, rest, _ := strings.Cut(program, "\n"+targetHeader)
	target, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(target)
}

func assemble(file string, read func(string) (string, error)) (string, error) {
	var out strings.Builder
	done, open := map[string]bool{}, []string{}
	var add func(file, wantedBy string) error
	add = func(file, wantedBy string) error {
		for i, o := range open {
			if o == file {
				return fmt.Errorf("%w: %s: circular dependency: %s", ErrSource, file, strings.Join(append(open[i:], file), " -> "))
			}
		}
		if done[file] {
			return nil
		}
		text, err := read(file)
		if err != nil {
			by := ""
			if wantedBy != "" {
				by = " (wanted by " + wantedBy + ")"
			}
			return fmt.Errorf("%w: no file %s%s: %w", ErrSource, file, by, err)
		}
		all := func(header string) error {
			for _, name := range Named(header, text) {
				if err := add(name+".cl", file); err != nil {
					return err
				}
			}
			return nil
		}
		open = append(open, file)
		if err := all(DependsHeader); err != nil {
			return err
		}
		open = open[:len(open)-1]
		done[file] = true
		fmt.Fprintf(&out, "#line 1 %q\n%s\n", file, text)
		return all(ThenHeader)
	}
	err := add(file, "")
	return out.String(), err
}

// Named returns the names in the line with a header, of the comment that opens a file.
func Named(header, text string) []string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if list, ok := strings.CutPrefix(line, header); ok {
			return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		}
		if !strings.HasPrefix(line, "//") {
			break
		}
	}
	return nil
}
