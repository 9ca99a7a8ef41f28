package bench

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
)

// TestPeersHaveRows: the program of the other side measures the same operations, of the same sizes.
func TestPeersHaveRows(t *testing.T) {
	text, err := os.ReadFile("../../scripts/peers/torch_ops.py")
	if err != nil {
		t.Fatal(err)
	}
	var theirs, ours []string
	for _, m := range regexp.MustCompile(`(?m)^    "([^"]+)": \(`).FindAllStringSubmatch(string(text), -1) {
		theirs = append(theirs, m[1])
	}
	for _, row := range opRows(devtest.CPU(t)) {
		ours = append(ours, row.name)
	}
	if !slices.Equal(ours, theirs) {
		t.Errorf("rows are %q, those of torch_ops.py %q", ours, theirs)
	}
}
