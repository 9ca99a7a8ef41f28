package clgrad_test

import (
	"os"
	"strings"
	"testing"

	"github.com/clgrad/clgrad"
)

// TestVersion: the newest section of CHANGELOG.md is that of the version.
func TestVersion(t *testing.T) {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## ")
	if newest, _, _ := strings.Cut(rest, "\n"); strings.Fields(newest)[0] != clgrad.Version {
		t.Errorf("the newest section of CHANGELOG.md is %q, the version %q", newest, clgrad.Version)
	}
}
