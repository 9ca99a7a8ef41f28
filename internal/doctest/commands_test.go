package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	target   = regexp.MustCompile(`\bmake ([a-z][a-z-]*)`)
	packages = regexp.MustCompile(`\bgo (?:run|test) (?:-[a-z]+ )*(\./[a-z0-9/.]+)`)
	program  = regexp.MustCompile(`^\s*(?:bin/)?(mlpimage|clgrad) ([a-z]+ )?(.*)$`)
	flag     = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)
	code     = regexp.MustCompile("`([^`\n]+)`")
	rule     = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
)

// TestCommands: every target of make, every package and every flag of the two programs that a
// document names is there.
func TestCommands(t *testing.T) {
	builds(t)
	targets := map[string]bool{}
	for _, match := range rule.FindAllStringSubmatch(read(t, filepath.Join(root, "Makefile")), -1) {
		targets[match[1]] = true
	}
	flags := map[string]string{"mlpimage": help(t, "mlpimage"), "clgrad": help(t, "clgrad")}
	seen := 0
	for _, path := range documents(t) {
		for _, line := range said(t, path) {
			for _, match := range target.FindAllStringSubmatch(line, -1) {
				seen++
				if !targets[match[1]] {
					t.Errorf("%s: the Makefile has no %q: %s", path, match[1], line)
				}
			}
			for _, match := range packages.FindAllStringSubmatch(line, -1) {
				seen++
				if match[1] == "./..." || filepath.Base(path) == "getting-started.md" { // whose packages are its own
					continue
				}
				if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(match[1], "/..."))); err != nil {
					t.Errorf("%s: %s: %v", path, line, err)
				}
			}
			match := program.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			for _, f := range flag.FindAllStringSubmatch(line, -1) {
				seen++
				if !strings.Contains(flags[match[1]], f[1]+" ") {
					t.Errorf("%s: %s has no %s: %s", path, match[1], f[1], line)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands", seen)
	}
}

// said returns the lines of shell blocks of a document, and its code in running text.
func said(t *testing.T, path string) []string {
	t.Helper()
	var lines []string
	for _, b := range blocks(t, path) {
		if b.language == "sh" || b.language == "" {
			lines = append(lines, strings.Split(b.text, "\n")...)
		}
	}
	for _, match := range code.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, path), ""), -1) {
		lines = append(lines, match[1])
	}
	return lines
}

// help returns what a program and its commands print of their flags.
func help(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	binary := filepath.Join(folder, name)
	run(t, root, append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", binary, "./cmd/"+name)
	command := regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +[A-Za-z]`)
	var all func(path ...string) string
	all = func(path ...string) string {
		text := run(t, root, os.Environ(), binary, append(slices.Clone(path), "--help")...)
		for _, c := range command.FindAllStringSubmatch(text, -1) {
			if c[1] != name && c[1] != "help" && c[1] != "version" { // these have no flags
				text += all(append(slices.Clone(path), c[1])...)
			}
		}
		return text
	}
	text := all()
	if len(command.FindAllString(text, -1)) < 3 {
		t.Fatalf("%s has no commands:\n%s", name, text)
	}
	return text
}
