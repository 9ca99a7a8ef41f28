package doctest

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// documents returns the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."), entry.IsDir() && entry.Name() == "out":
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Errorf("only %v", found)
	}
	return found
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinks: every link to a file of the repository leads to one, and to a heading that it has.
func TestLinks(t *testing.T) {
	for _, path := range documents(t) {
		for _, to := range broken(t, path) {
			t.Errorf("%s: nothing is at %s", path, to)
		}
	}
}

// TestLinksOfSamples: what TestLinks is to find, it finds.
func TestLinksOfSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.md")
	text := "# A `b` (c), d\n\n## A\n\n## A\n\n[1](#a-b-c-d) [2](a.md#a-1) [3](https://example.com/x) [4](a.md)\n[5](#no) [6](b.md) [7](a.md#a-2)\n\n```\n# e\n[8](b.md)\n```\n[9](#e)\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if found, want := broken(t, path), []string{"#no", "b.md", "a.md#a-2", "#e"}; !slices.Equal(found, want) {
		t.Errorf("found %q, not %q", found, want)
	}
}

// broken returns the links of a document to files and headings that are not there.
func broken(t *testing.T, path string) []string {
	t.Helper()
	var found []string
	for _, match := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, path), ""), -1) {
		to, err := url.Parse(match[1])
		if err != nil {
			found = append(found, match[1])
			continue
		}
		if to.Scheme != "" {
			continue
		}
		file := path
		if to.Path != "" {
			file = filepath.Join(filepath.Dir(path), to.Path)
		}
		if _, err := os.Stat(file); err != nil || to.Fragment != "" && !slices.Contains(anchors(read(t, file)), to.Fragment) {
			found = append(found, match[1])
		}
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors returns what GitHub makes of the headings of a document: letters, digits, - and _ in
// lower case, spaces as -, and a number behind one that was there before.
func anchors(text string) []string {
	var found []string
	count := map[string]int{}
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(match[1]))
		n := count[anchor]
		count[anchor]++
		if n > 0 {
			anchor += "-" + string(rune('0'+n))
		}
		found = append(found, anchor)
	}
	return found
}

// TestReadmeIsShort: the README has at most 150 lines.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, filepath.Join(root, "README.md")), "\n"); n > 150 {
		t.Errorf("README.md has %d lines", n)
	}
}

// TestReadmeCountsOperations: the README has as many operations as docs/operations.md.
func TestReadmeCountsOperations(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `").FindAllString(read(t, filepath.Join(root, "docs", "operations.md")), -1)
	if want := "**[Operations](docs/operations.md)**: " + strconv.Itoa(len(rows)) + ","; !strings.Contains(read(t, filepath.Join(root, "README.md")), want) {
		t.Errorf("README.md does not say %q", want)
	}
}
