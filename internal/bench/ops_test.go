package bench

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestOpsMemory: a row leaves nothing behind on the device, where its operation has another result,
// too; nor do all, after the last.
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

// TestBothIsForwardToo: what is measured as forward and backward has the launch of the result,
// though no gradient needs that.
func TestBothIsForwardToo(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(tensor.Full(d, 1, 2, 3).Retain(), "x")
	defer x.Free()
	weights := autograd.Const(tensor.Full(d, 2, 2, 3).Retain())
	defer weights.Free()
	launches := func(f func() ([]*tensor.Tensor, error)) int {
		rec, err := replay.Record(d, f)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		return rec.Report().Launches
	}
	row := opRow{f: func(in []*node) *node { return in[0].CumSum(-1) }}
	in := []*node{x}
	forward := launches(func() (out []*tensor.Tensor, err error) {
		autograd.NoGrad(d, func() { out = []*tensor.Tensor{row.f(in).Value()} })
		return out, nil
	})
	both := launches(func() ([]*tensor.Tensor, error) { return row.both(in, weights) })
	backward := launches(func() ([]*tensor.Tensor, error) {
		out, err := row.both(in, weights)
		return out[1:], err
	})
	if both != forward+backward {
		t.Errorf("%d launches, forward %d, backward %d", both, forward, backward)
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
