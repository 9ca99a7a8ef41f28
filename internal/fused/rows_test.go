package fused_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// TestCutsAgree: two cuts agree only if no row has an element of the other's, and those of rows
// that follow each other do.
func TestCutsAgree(t *testing.T) {
	const rows = 5
	elements := func(c fused.RowSlice, at, r int) map[int]bool {
		set := map[int]bool{}
		for k := range c.Times {
			for j := range c.Width {
				set[at+c.Off+r*c.Step+k*c.Apart+j] = true
			}
		}
		return set
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() fused.RowSlice {
		c := fused.RowSlice{Off: rng.IntN(8), Step: 1 + rng.IntN(3), Width: 1 + rng.IntN(3), Times: 1}
		if rng.IntN(2) == 0 {
			c.Times, c.Apart = 2+rng.IntN(2), 10+rng.IntN(12)
		}
		return c
	}
	agreed := 0
	for range 20000 {
		c, d, a, b := draw(), draw(), rng.IntN(6), rng.IntN(6)
		if !c.Agrees(a, d, b, rows) {
			continue
		}
		agreed++
		for r := range rows {
			for q := range rows {
				if q == r {
					continue
				}
				for e := range elements(c, a, r) {
					if elements(d, b, q)[e] {
						t.Fatalf("%+v at %d and %+v at %d: rows %d and %d share %d", c, a, d, b, r, q, e)
					}
				}
			}
		}
	}
	if agreed < 200 {
		t.Errorf("only %d cuts agreed", agreed)
	}
	whole := fused.ConsecutiveRows(7)
	stats := fused.RowSlice{Step: 1, Width: 1, Times: 5, Apart: rows}
	for i, c := range []struct {
		c, d fused.RowSlice
		a, b int
		want bool
	}{
		{whole, whole, 3, 3, true}, {whole, whole, 3, 10, false}, {whole, fused.Shared, 3, 3, false},
		{whole, fused.Unused, 0, 0, false},
		{whole, fused.RowSlice{Step: 7, Width: 3, Times: 1}, 0, 4, true}, {stats, fused.ConsecutiveRows(1), 0, 0, true},
		{stats, fused.ConsecutiveRows(1), 0, 2 * rows, true},
		{stats, fused.ConsecutiveRows(1), 0, 1, false}, {fused.ConsecutiveRows(1), stats, 2 * rows, 0, true},
	} {
		if got := c.c.Agrees(c.a, c.d, c.b, rows); got != c.want {
			t.Errorf("case %d: %t, want %t", i, got, c.want)
		}
	}
}

// TestNoChain: there is no chain of kernels without rows, of too many, or of ones that are built
// with other options.
func TestNoChain(t *testing.T) {
	rows := &fused.RowSpec{Function: "f"}
	of := func(file, options string) *kernels.Kernel {
		return &kernels.Kernel{Name: "k", File: file, Defines: options, Fusions: fused.Fusions{Rows: rows}}
	}
	two := []bool{false, false}
	for i, c := range []struct {
		parts []*kernels.Kernel
		want  bool
	}{
		{[]*kernels.Kernel{of("a.cl", "-DA=1"), of("b.cl", "")}, true},
		{[]*kernels.Kernel{of("a.cl", "-DA=1"), of("b.cl", "-DA=1 -DB=2")}, true},
		{[]*kernels.Kernel{of("a.cl", "-DA=1"), of("b.cl", "-DA=2")}, false},
		{[]*kernels.Kernel{of("a.cl", "-DA=1"), of("a.cl", "")}, false},
		{[]*kernels.Kernel{of("a.cl", ""), {Name: "k", File: "b.cl"}}, false},
	} {
		if got := fused.FuseVertical(c.parts, two, nil, kernels.Target{}); (got != nil) != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
	var many []*kernels.Kernel
	for range fused.MaxVertical + 1 {
		many = append(many, of("a.cl", ""))
	}
	if fused.FuseVertical(many, make([]bool, len(many)), nil, kernels.Target{}) != nil ||
		fused.FuseVertical(many[1:], make([]bool, len(many)), nil, kernels.Target{}) == nil {
		t.Errorf("the most kernels of a chain are not %d", fused.MaxVertical)
	}
	wide := of("a.cl", "")
	for i := range 70 {
		wide.Params = append(wide.Params, kernels.Param{Name: fmt.Sprint("p", i), Mode: kernels.In})
	}
	if fused.FuseVertical([]*kernels.Kernel{wide, of("b.cl", "")}, two, nil, kernels.Target{}) != nil {
		t.Error("there is a chain of more arguments than a kernel has")
	}
}
