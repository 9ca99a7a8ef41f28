// Package doctest tries what the documents say: their programs, their commands and their links.
package doctest

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad"
)

const root = "../.."

// block is a fenced block of a document: its language, its text, and the path in `code` of the line
// before it, if any.
type block struct{ language, text, path string }

var pathInText = regexp.MustCompile("`([a-z]+/[a-z]+\\.go)`")

// blocks returns the fenced blocks of a document in order.
func blocks(t *testing.T, path string) []block {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	var open *block
	before := ""
	for line := range strings.Lines(string(text)) {
		fence, isFence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case isFence && open == nil:
			open = &block{language: fence}
			if match := pathInText.FindStringSubmatch(before); match != nil {
				open.path = match[1]
			}
		case isFence:
			found = append(found, *open)
			open, before = nil, ""
		case open != nil:
			open.text += line
		case strings.TrimSpace(line) != "":
			before = line
		}
	}
	if open != nil {
		t.Fatalf("%s: a block is not closed", path)
	}
	return found
}

// TestGettingStarted: the programs of docs/getting-started.md, made and run as the page says, print
// what it says. What go get gets is this checkout, and the port a free one.
func TestGettingStarted(t *testing.T) {
	builds(t)
	folder, env := t.TempDir(), append(environment(), published(t)...)
	printed := "" // since the last block of text
	for _, b := range blocks(t, filepath.Join(root, "docs", "getting-started.md")) {
		switch b.language {
		case "go":
			if b.path == "" {
				t.Fatalf("nothing says which file this is:\n%s", b.text)
			}
			path := filepath.Join(folder, b.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.text), 0o666); err != nil {
				t.Fatal(err)
			}
		case "sh":
			for line := range strings.Lines(b.text) {
				printed += command(t, folder, env, strings.TrimSpace(line))
			}
		case "text":
			if printed != b.text {
				t.Errorf("printed\n%s\nand the page says\n%s", printed, b.text)
			}
			printed = ""
		case "python": // what it reads is tested beside PyTorch, in package nn
		default:
			t.Errorf("a block of %q, which nothing runs", b.language)
		}
	}
}

// builds skips a test that builds programs, without cgo, unless scripts/test-more.sh runs it.
func builds(t *testing.T) {
	t.Helper()
	if os.Getenv("CLGRAD_MORE") == "" {
		t.Skip("it builds programs: scripts/test-more.sh runs it")
	}
}

// environment is that of commands of a module outside this one: plain Go, and nothing is
// downloaded.
func environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "CLGRAD_DEVICE=cpu", "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
}

// run returns what a command prints.
func run(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = folder, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// published returns variables with which go finds this checkout as a version of the module, and
// what it requires in the cache of modules: a proxy of files has both.
func published(t *testing.T) []string {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	const module, version = "github.com/clgrad/clgrad", "v" + clgrad.Version
	proxy := t.TempDir()
	folder := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf("{\"Version\": %q}", version),
		version + ".mod":  read(t, filepath.Join(checkout, "go.mod")),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	w := zip.NewWriter(archive)
	err = filepath.WalkDir(checkout, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, noModule := os.Stat(filepath.Join(path, "go.mod"))
			if path != checkout && (strings.HasPrefix(entry.Name(), ".") || noModule == nil) { // a module of its own
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(checkout, path)
		if err != nil || !entry.Type().IsRegular() || slices.Contains([]string{"bin", "out"}, strings.Split(filepath.ToSlash(name), "/")[0]) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := w.Create(module + "@" + version + "/" + filepath.ToSlash(name))
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		return err
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(run(t, checkout, os.Environ(), "go", "env", "GOMODCACHE"))
	return []string{"GOMODCACHE=" + t.TempDir(), "GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download"),
		"GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath"}
}

// require makes the module in a folder require this checkout, and what that requires: then go looks
// at no other module's requirements, which may not be on this machine.
func require(t *testing.T, folder string) {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	own := read(t, filepath.Join(checkout, "go.mod"))
	_, requirements, _ := strings.Cut(own, "\nrequire ")
	path := filepath.Join(folder, "go.mod")
	text := read(t, path) + "\nrequire " + requirements +
		"\nrequire github.com/clgrad/clgrad v0.0.0\n\nreplace github.com/clgrad/clgrad => " + strconv.Quote(checkout) + "\n"
	for name, text := range map[string]string{"go.mod": text, "go.sum": read(t, filepath.Join(checkout, "go.sum"))} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var address string // of the server that runs

// command does what a line of a shell block says, and returns what it prints.
func command(t *testing.T, folder string, env []string, line string) string {
	t.Helper()
	switch words := strings.Fields(line); {
	case line == "mkdir circle && cd circle":
	case strings.HasPrefix(line, "go mod init "):
		run(t, folder, env, "go", words[1:]...)
	case strings.HasPrefix(line, "go get github.com/clgrad/clgrad"):
		run(t, folder, env, "go", words[1:]...)
	case strings.HasPrefix(line, "go run ") && strings.HasSuffix(line, " &"):
		serve(t, folder, env, words[2])
	case strings.HasPrefix(line, "go run "):
		return run(t, folder, env, "go", words[1:]...)
	case strings.HasPrefix(line, "curl '"):
		return get(t, strings.Trim(words[1], "'"))
	default:
		t.Fatalf("the page says %q, which this test cannot do", line)
	}
	return ""
}

// serve builds a program, on a free port in place of 8080, and runs it until the test ends.
func serve(t *testing.T, folder string, env []string, pkg string) {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address = fmt.Sprintf("localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	source := filepath.Join(folder, pkg, "main.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte(strings.ReplaceAll(string(text), "localhost:8080", address)), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "server", pkg)
	build.Dir, build.Env = folder, env
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, stop := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, filepath.Join(folder, "server"))
	server.Dir, server.Env = folder, env
	var errs bytes.Buffer
	server.Stderr = &errs
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = server.Wait()
		t.Log(errs.String())
	})
}

// get returns what the server answers, once it does.
func get(t *testing.T, url string) string {
	t.Helper()
	url = "http://" + strings.Replace(url, "localhost:8080", address, 1)
	var last error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var answer *http.Response
		if answer, last = http.Get(url); last != nil {
			continue
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Fatal(last)
	return ""
}
