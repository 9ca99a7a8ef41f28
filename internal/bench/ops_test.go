package bench

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
)

// TestOpsMemory: a row leaves nothing behind on the device, where its operation has another result, too; nor do all, after the last.
func TestOpsMemory(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	before := d.Stats().LiveBytes
	reported := 0
	s := Suite{Device: d, Report: func(Result) { reported++ }}
	row := opRow{name: "sort", shapes: [][]int{{64}}, f: func(in []*node) *node { values, _ := in[0].Sort(0); return values }}
	if err := s.op(context.Background(), row); err != nil || reported != 2 {
		t.Fatalf("%d results (err %v)", reported, err)
	}
	if now := d.Stats().LiveBytes; now != before {
		t.Errorf("a row: %d bytes live, %d before", now, before)
	}
	_, done := opRows(d)
	done()
	if now := d.Stats().LiveBytes; now != before {
		t.Errorf("all rows: %d bytes live, %d before", now, before)
	}
}

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
	rows, done := opRows(devtest.CPU(t))
	defer done()
	for _, row := range rows {
		ours = append(ours, row.name)
	}
	if !slices.Equal(ours, theirs) {
		t.Errorf("rows are %q, those of torch_ops.py %q", ours, theirs)
	}
}
