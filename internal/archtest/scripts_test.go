package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	scriptPath = regexp.MustCompile(`(?:^|[\s"'])(\./[a-z][\w/.-]*)`)
	scriptTest = regexp.MustCompile(`\bTest[A-Z]\w*`)
	testFunc   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestScripts: packages and tests that the scripts and the Makefile name are there. Go runs no test where -run
// matches none.
func TestScripts(t *testing.T) {
	var tests []string
	for name, text := range tree(t).programs {
		if strings.HasSuffix(name, "_test.go") {
			for _, match := range testFunc.FindAllSubmatch(text, -1) {
				tests = append(tests, string(match[1]))
			}
		}
	}
	names, err := filepath.Glob("../../scripts/*.sh")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d scripts, %v", len(names), err)
	}
	paths, named := 0, 0
	for _, name := range append(names, "../../Makefile") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range scriptPath.FindAllSubmatch(text, -1) {
			paths++
			path := strings.TrimSuffix(string(match[1]), "/...")
			if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
				t.Errorf("%s names %s, which is not there", name, path)
			}
		}
		for _, test := range scriptTest.FindAllString(string(text), -1) {
			named++
			if !slices.ContainsFunc(tests, func(s string) bool { return strings.HasPrefix(s, test) }) {
				t.Errorf("%s names %s, and no test begins so", name, test)
			}
		}
	}
	if paths < 20 || named < 10 {
		t.Errorf("%d paths and %d tests were found in the scripts: this test reads too little", paths, named)
	}
}
