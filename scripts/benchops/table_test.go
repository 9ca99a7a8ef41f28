//go:build linux

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
)

// TestEveryOperationHasRow: what docs/operations.md lists is in the table, and beside it functions of package tensor
// alone, which are no methods; no two rows have one name.
func TestEveryOperationHasRow(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([\\w.]+)\\(").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	if len(listed) < 200 {
		t.Fatalf("docs/operations.md lists %d operations", len(listed))
	}
	var ops, names []string
	for _, r := range table() {
		ops = append(ops, r.op)
		if slices.Contains(names, r.name()) {
			t.Errorf("two rows are called %s", r.name())
		}
		names = append(names, r.name())
		if !slices.Contains(listed, r.op) && !strings.HasPrefix(r.op, "tensor.") {
			t.Errorf("%s is no operation of docs/operations.md", r.op)
		}
	}
	for _, op := range listed {
		if !slices.Contains(ops, op) {
			t.Errorf("%s has no row: add one to the rows of its family", op)
		}
	}
}

// TestRows: each row runs at the least size, forward and backward, and frees what it made.
func TestRows(t *testing.T) {
	d := devtest.CPU(t)
	before := d.Stats().LiveBytes
	for _, r := range table() {
		err := caught(func() error {
			b, err := newBenchmark(d, r, r.operands(1000))
			defer b.free()
			if err != nil {
				return err
			}
			for _, backward := range []bool{false, true} {
				if backward && len(b.params) == 0 {
					continue
				}
				if err := b.batch(1, backward, new(answer)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", r.name(), err)
		}
		if now := d.Stats().LiveBytes; now != before {
			t.Errorf("%s: %d bytes live, %d before", r.name(), now, before)
			before = now
		}
	}
}
