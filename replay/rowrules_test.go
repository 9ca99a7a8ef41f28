package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// byRows is a launch of a kernel that reads and writes rows: rows of them, run in a work-group, of slices.
func byRows(modes []kernels.Mode, rows, run int, slices []fused.RowSlice, args ...kernels.Arg) capture.Launch {
	l := touching(modes, args...)
	l.Kernel.Fusions = fused.Fusions{Rows: &fused.RowSpec{Function: "rows", Free: run == 0,
		Text: func(string, bool) string { return "" },
		Of: func([]kernels.Arg, kernels.Target) *fused.RowTiling {
			return &fused.RowTiling{Rows: rows, Run: run, Slices: slices}
		}}}
	return l
}

// TestRowsConditions: launches by rows are one launch only where no row meets what another row writes, and their
// work-groups fit together, or where one work-group does them all.
func TestRowsConditions(t *testing.T) {
	const rows, wide, n = 8, 2000, 8 * 2000 // more than one work-group does
	x, y, z := &room{4 * n}, &room{4 * n}, &room{4 * n}
	type modes = []kernels.Mode
	const in, out = kernels.In, kernels.Out
	row := fused.ConsecutiveRows
	two := func(width int) []fused.RowSlice { return []fused.RowSlice{row(width), row(width)} }
	// from is a launch that reads n elements of memory and writes n of other memory, each from an element on.
	from := func(rows, run, width int, a kernels.Buffer, at int, b kernels.Buffer, to int) capture.Launch {
		return byRows(modes{in, out}, rows, run, two(width), kernels.BufferArg(a, at, rows*width),
			kernels.BufferArg(b, to, rows*width))
	}
	first := from(rows, 2, wide, x, 0, y, 0)
	of := func(slices ...fused.RowSlice) capture.Launch {
		return byRows(modes{in, out}, rows, 2, slices, kernels.BufferArg(y, 0, n), kernels.BufferArg(z, 0, n))
	}
	both := func(off int) capture.Launch { // reads what the first writes, and writes other memory from an element on
		return byRows(modes{in, in, out}, rows, 2, []fused.RowSlice{row(wide), row(wide), row(wide)},
			kernels.BufferArg(y, 0, n), kernels.BufferArg(z, n, n), kernels.BufferArg(x, off, n))
	}
	cpu := kernels.Target{CPU: true, Units: 2}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name   string
		target kernels.Target
		step   []capture.Launch
		// want is what is refused, or the count of each launch, with * if it has a loop, and then the rows of a
		// work-group and the work-groups.
		want string
	}{
		{"row by row", gpu, steps(first, from(rows, 2, wide, y, 0, z, 0)), "1 1 2 4"},
		{"another row is read", gpu, steps(first, from(rows, 2, wide, y, wide, z, 0)), "another row"},
		{"a part of another row is read", gpu, steps(first, from(rows, 2, wide, y, 1, z, 0)), "another row"},
		{"rows of another length are read", gpu, steps(first, of(row(wide/2), row(wide))), "another row"},
		{"all rows are read", gpu, steps(first, of(fused.Shared, row(wide))), "another row"},
		{"it is not read", gpu, steps(first, of(fused.Unused, row(wide))), "1 1 2 4"},
		{"written over what the same row reads", gpu, steps(first, both(0)), "1 1 2 4"},
		{"written over what another row reads", gpu, steps(first, both(wide)), "another row"},
		{"written over what another row writes", gpu, steps(first, from(rows, 2, wide, y, 0, y, wide)), "another row"},
		{"written over what another row of the second reads", gpu,
			steps(first, both(2*n), byRows(modes{in, out}, rows, 2, two(wide), kernels.BufferArg(y, 0, n),
				kernels.BufferArg(z, n+wide, n))),
			"another row"},
		{"written over what the same row of the second reads", gpu,
			steps(first, both(2*n), byRows(modes{in, out}, rows, 2, two(wide), kernels.BufferArg(y, 0, n),
				kernels.BufferArg(z, n, n))),
			"1 1 1 2 4"},
		{"fewer rows", gpu, steps(first, from(4, 2, wide, y, 0, z, 0)), "8 rows, and another 4"},
		{"work-groups of more rows", gpu, steps(first, from(rows, 4, wide, y, 0, z, 0)), "2* 1 4 2"},
		{"work-groups of any rows", gpu, steps(first, from(rows, 0, wide, y, 0, z, 0)), "1 8 2 4"},
		{"work-groups that do not fit", gpu, steps(first, from(rows, 3, wide, y, 0, z, 0)),
			"different numbers of rows"},
		{"work-groups of more rows, on a CPU", cpu, steps(first, from(rows, 4, wide, y, 0, z, 0)),
			"different numbers of rows"},
		{"few work-groups with much to do", gpu, steps(first, from(rows, 8, wide, y, 0, z, 0)), "few work-groups"},
		{"as many as there are units", kernels.Target{Units: 1}, steps(first, from(rows, 8, wide, y, 0, z, 0)),
			"4* 1 8 1"},
		{"small ones of other rows", gpu, steps(from(7, 2, 100, x, 0, y, 0), from(1, 1, 700, y, 0, z, 0)), "4* 1 7 1"},
		{"as small as one work-group does", gpu, steps(from(rows, 2, rowsAlone/rows, x, 0, y, 0),
			from(1, 1, rowsAlone, y, 0, z, 0)), "4* 1 8 1"},
		{"larger", gpu, steps(from(rows, 2, rowsAlone/rows+1, x, 0, y, 0), from(1, 1, rowsAlone, y, 0, z, 0)),
			"8 rows, and another 1"},
		{"small ones of other rows, on a CPU", cpu, steps(from(7, 7, 100, x, 0, y, 0), from(1, 1, 700, y, 0, z, 0)),
			"7 1 7 1"},
		{"small ones of several runs, on a CPU", cpu, steps(from(7, 2, 100, x, 0, y, 0), from(1, 1, 700, y, 0, z, 0)),
			"7 rows, and another 1"},
	} {
		r := rewriterOf(c.step, never, never)
		r.target = c.target
		got := ""
		for j := 1; j < len(c.step); j++ {
			chain, alone, why := r.chain(r.nodes[j-1], r.nodes[j])
			if why != nil {
				got = why.String()
				if strings.Contains(got, c.want) {
					got = c.want
				}
				break
			}
			r.fuseChain(j-1, j, j, chain, alone)
			var numbers []string
			for _, a := range r.nodes[j].args {
				if a.Kind == kernels.ArgInt {
					numbers = append(numbers, fmt.Sprint(a.Int))
				}
			}
			numbers = numbers[3*(j+1):] // behind the ints of the launches
			for k, loop := range r.nodes[j].form.loops {
				if loop {
					numbers[k] += "*"
				}
			}
			got = strings.Join(numbers, " ")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestRowsReads: one launch of two reads what the latter reads, but for what the former has written whole.
func TestRowsReads(t *testing.T) {
	x, y, z := &room{32}, &room{32}, &room{32}
	slices := []fused.RowSlice{fused.ConsecutiveRows(8), fused.ConsecutiveRows(8)}
	launch := func(a kernels.Buffer, at int, b kernels.Buffer, to int) capture.Launch {
		return byRows([]kernels.Mode{kernels.In, kernels.Out}, 1, 1, slices, kernels.BufferArg(a, at, 8),
			kernels.BufferArg(b, to, 8))
	}
	for at, want := range map[int]int{8: 1, 7: 2, 9: 2, 16: 2} {
		r := rewriterOf([]capture.Launch{launch(x, 0, y, 8), launch(y, at, z, 0)}, never, never)
		chain, alone, why := r.chain(r.nodes[0], r.nodes[1])
		if why != nil {
			t.Fatal(why)
		}
		r.fuseChain(0, 1, 1, chain, alone)
		if got := len(r.nodes[1].reads); got != want || len(r.nodes[1].writes) != 2 {
			t.Errorf("from element %d on: it reads %d regions, want %d", at, got, want)
		}
	}
}
