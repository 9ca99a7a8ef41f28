package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestEndings: a map is computed where a launch stores its result only if that is all that the two
// have to do with each other, and the result is stored, too, where others see it.
func TestEndings(t *testing.T) {
	mem := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Float32, 64) }
	x, y, z, w, v, bytes := mem(), mem(), mem(), mem(), mem(), kernels.NewHostBuffer(kernels.Uint8, 64)
	type modes = []kernels.Mode
	const in, out, inOut = kernels.In, kernels.Out, kernels.InOut
	// product stores argument 1.
	product := func(m modes, stores fused.EpilogueSpec, args ...kernels.Arg) capture.Launch {
		l := touching(m, args...)
		stores.Result = 1
		if stores.Elements == nil {
			stores.Elements = func(a []kernels.Arg) (n, row int) { return a[1].N, 4 }
		}
		l.Kernel.Fusions = fused.Fusions{Epilogue: &stores}
		return l
	}
	of := func(n int) fused.EpilogueSpec {
		return fused.EpilogueSpec{GPU: 4, Elements: func([]kernels.Arg) (int, int) { return n, 4 }}
	}
	wide := fused.EpilogueSpec{GPU: 4}
	size := func(off, n int) capture.Launch {
		return product(modes{in, out}, wide, kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, off, n))
	}
	base := size(8, 8)
	adds := product(modes{in, inOut}, fused.EpilogueSpec{GPU: 4, Reads: func([]kernels.Arg) bool { return true }},
		kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 8, 8))
	reads := fused.EpilogueSpec{GPU: 4, Reads: func([]kernels.Arg) bool { return false }}
	two := product(modes{in, out, out}, wide, kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 8, 8), kernels.BufferArg(v, 8, 8))
	// maps is a map of y, or of y and others.
	maps := func(f *kernels.Function, dims []int, views ...kernels.View) capture.Launch {
		return saying([]kernels.Op{mapOf(f, dims, views...)}, modes{in, in, in, inOut, inOut, inOut},
			kernels.BufferArg(y, 0, 64), kernels.BufferArg(w, 0, 64), kernels.BufferArg(v, 0, 64), kernels.BufferArg(z, 0, 64), kernels.BufferArg(x, 0, 64), kernels.BufferArg(y, 0, 64))
	}
	line := []int{8}
	negate := maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(3, 0, 1))
	inPlace := maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(5, 8, 1))
	plus := func(k, off int) capture.Launch {
		return maps(fn.Add, line, viewOf(0, 8, 1), viewOf(k, off, 1), viewOf(3, 0, 1))
	}
	both := mapOf(fn.Neg, line, viewOf(0, 8, 1), viewOf(5, 8, 1))
	both.Results = append(both.Results, operation.Result{Function: fn.Square, View: viewOf(3, 0, 1)})
	twice := maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(3, 0, 1))
	twice.Kernel.Semantics = func([]kernels.Arg) []kernels.Op { return []kernels.Op{both} }
	tells := mapOf(fn.Lt, line, viewOf(0, 8, 1), viewOf(1, 0, 1), kernels.View{Arg: 2, Type: kernels.Uint8, Strides: []int{1}})
	condition := saying([]kernels.Op{tells}, modes{in, in, kernels.OutBytes}, kernels.BufferArg(y, 0, 64), kernels.BufferArg(w, 0, 64), kernels.BufferArg(bytes, 0, 64))
	touch := func(mode kernels.Mode, b kernels.Buffer, off, n int) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(b, off, n))
	}
	gpuOf := func(l capture.Launch, stores fused.EpilogueSpec) capture.Launch {
		return product(modes{in, out}, stores, l.Args[0], l.Args[1])
	}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name  string
		step  []capture.Launch
		lives kernels.Buffer
		want  string
	}{
		{"a map", steps(base, negate), z, "latter"},
		{"on a device that stores otherwise", steps(gpuOf(base, fused.EpilogueSpec{CPU: 4}), negate), z, "in another way"},
		{"after other values", steps(gpuOf(base, fused.EpilogueSpec{GPU: 4,
			Before: func([]kernels.Arg, kernels.Target) bool { return true }}), negate), z, "added up where"},
		{"never after other values", steps(gpuOf(base,
			fused.EpilogueSpec{GPU: 4, Before: func([]kernels.Arg, kernels.Target) bool { return false }}), negate), z,
			"latter"},
		{"stored otherwise", steps(gpuOf(size(8, 8), of(0)), negate), z, "one after the other"},
		{"a part is stored", steps(gpuOf(size(8, 8), of(7)), negate), z, "one after the other"},
		{"of a part", steps(size(8, 9), negate), z, "read the result whole"},
		{"from another on", steps(size(7, 8), negate), z, "read the result whole"},
		{"every other", steps(size(8, 16), maps(fn.Neg, line, viewOf(0, 8, 2), viewOf(3, 0, 1))), z, "read the result whole"},
		{"in gaps", steps(base, maps(fn.Neg, line, viewOf(0, 8, 2), viewOf(3, 0, 1))), z, "read the result whole"},
		{"repeated", steps(size(8, 16), maps(fn.Neg, []int{2, 8}, viewOf(0, 8, 0, 1), viewOf(3, 0, 8, 1))), z, "read the result whole"},
		{"transposed", steps(base, maps(fn.Neg, []int{2, 4}, viewOf(0, 8, 1, 2), viewOf(3, 0, 4, 1))), z, "latter unaligned"},
		{"one row", steps(base, maps(fn.Neg, []int{1, 8}, viewOf(0, 8, 3, 1), viewOf(3, 0, 8, 1))), z, "latter"},
		{"and its transpose", steps(base, maps(fn.Add, []int{2, 4}, viewOf(0, 8, 1, 2), viewOf(0, 8, 4, 1), viewOf(3, 0, 4, 1))), z, "other elements of the result"},
		{"and what is beside it", steps(base, plus(0, 16)), z, "latter"},
		{"and a part beside", steps(base, plus(0, 15)), z, "other elements of the result"},
		{"and another tensor", steps(base, plus(1, 0)), z, "latter"},
		{"and another result", steps(two, plus(2, 1)), z, "something else that the former writes"},
		{"and what is beside another result", steps(two, plus(2, 16)), z, "latter"},
		{"to what the former reads", steps(base, maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(4, 7, 1))), z, "writes what the former reads"},
		{"to beside what the former reads", steps(base, maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(4, 8, 1))), z, "latter"},
		{"to another result", steps(product(modes{in, out, out}, wide, kernels.BufferArg(x, 40, 8), kernels.BufferArg(y, 8, 8), kernels.BufferArg(x, 0, 8)), maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(4, 7, 1))), z,
			"writes what the former reads or writes"},
		{"to other elements of it", steps(base, maps(fn.Neg, line, viewOf(0, 8, 1), viewOf(5, 9, 1))), z, "at other indices"},
		{"in place", steps(base, inPlace), y, "latter"},
		{"in place, of what is added to", steps(adds, inPlace), y, "latter reads"},
		{"in place of what the former reads a part of", steps(product(modes{in, out}, wide, kernels.BufferArg(y, 8, 4), kernels.BufferArg(y, 8, 8)), inPlace), y, "writes what the former reads"},
		{"in place and elsewhere", steps(base, twice), y, "latter"},
		{"what is added to", steps(adds, negate), z, "latter reads"},
		{"what is not", steps(gpuOf(base, reads), negate), z, "latter"},
		{"there after the run", steps(base, negate), y, "latter keeps"},
		{"there after the run, and then another", steps(base, negate, touch(out, y, 8, 8)), y, "latter"},
		{"read behind", steps(base, negate, touch(in, y, 15, 1)), z, "latter keeps"},
		{"beside it read", steps(base, negate, touch(in, y, 16, 1)), z, "latter"},
		{"read between", steps(base, touch(in, y, 15, 1), negate), z, "former keeps"},
		{"read between, and then written", steps(base, touching(modes{in, out}, kernels.BufferArg(y, 15, 1), kernels.BufferArg(w, 3, 1)), plus(1, 0)), z, "depends on the former"},
		{"the other operand written between", steps(base, touch(out, w, 3, 1), plus(1, 0)), z, "latter"},
		{"to bytes", steps(base, condition), z, "latter"},
		{"to bytes, and kept", steps(base, condition), y, "latter keeps"},
		{"of seven", steps(size(8, 7), maps(fn.Neg, []int{7}, viewOf(0, 8, 1), viewOf(3, 0, 1))), z, "latter unaligned"},
		{"from the sixth on", steps(size(6, 8), maps(fn.Neg, line, viewOf(0, 6, 1), viewOf(3, 0, 1))), z, "latter unaligned"},
		{"of a function of vectors", steps(base, maps(fn.Exp, line, viewOf(0, 8, 1), viewOf(3, 0, 1))), z, "latter vectors"},
		{"of a function of elements", steps(size(7, 8), maps(fn.Exp, line, viewOf(0, 7, 1), viewOf(3, 0, 1))), z, "latter unaligned"},
		{"of a function of both", steps(size(8, 7), maps(fn.Exp, []int{7}, viewOf(0, 8, 1), viewOf(3, 0, 1))), z, "vectors of a function"},
	} {
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == c.lives }, never)
		i, j := 0, len(c.step)-1
		for c.step[j].Kernel.Semantics == nil {
			j--
		}
		m, before := r.nodes[j].m, r.nodes[i]
		at, e, why := r.fuseEpilogue(i, j, 0, m)
		got := why.String()
		if why == nil {
			got = map[int]string{i: "former", j: "latter"}[at]
			if e.spec.Keep {
				got += " keeps"
			}
			if e.spec.Vectors {
				got += " vectors"
			}
			if !e.spec.Layout.Aligned {
				got += " unaligned"
			}
			if a := e.args[1]; !e.spec.Keep && a.N > 0 {
				got += " reads"
			} else if e.spec.Keep && a != before.args[1] {
				got += ", another"
			}
			if got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		} else if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}

	// Which operand is the value, and the arguments.
	grid, deep := []int{2, 4}, []int{2, 2, 2}
	for _, c := range []struct {
		name  string
		m     capture.Launch
		x     int // operand
		value int
		ints  []int
	}{
		{"the latter of two", maps(fn.Add, line, viewOf(1, 8, 1), viewOf(0, 8, 1), viewOf(3, 0, 1)), 1, 1, []int{8}},
		{"after what is beside it", maps(fn.Add, line, viewOf(0, 16, 1), viewOf(0, 8, 1), viewOf(3, 0, 1)), 1, 1, []int{8}},
		{"with a row", maps(fn.Add, grid, viewOf(0, 8, 4, 1), viewOf(1, 0, 0, 1), viewOf(3, 0, 8, 1)), 0, 0, []int{4, 2, 0, 8}},
		{"after a row", maps(fn.Add, grid, viewOf(1, 0, 0, 1), viewOf(0, 8, 4, 1), viewOf(3, 0, 8, 1)), 1, 1, []int{4, 2, 0, 8}},
		{"after columns", maps(fn.Add, grid, viewOf(1, 0, 16, 2), viewOf(0, 8, 4, 1), viewOf(3, 0, 8, 1)), 1, 1, []int{4, 2, 16, 2, 8}},
		{"before columns", maps(fn.Add, grid, viewOf(0, 8, 4, 1), viewOf(1, 0, 16, 2), viewOf(3, 0, 8, 1)), 0, 0, []int{4, 2, 16, 2, 8}},
		{"in three dimensions", maps(fn.Add, deep, viewOf(1, 0, 1, 5, 3), viewOf(0, 8, 4, 2, 1), viewOf(3, 0, 16, 6, 1)), 1, 1, []int{2, 4, 2, 1, 5, 3, 16, 6}},
	} {
		r := rewriterOf(steps(base, c.m), never, never)
		_, e, why := r.fuseEpilogue(0, 1, c.x, r.nodes[1].m)
		if why != nil {
			t.Errorf("%s: %s", c.name, why)
			continue
		}
		var ints []int
		bufs := 0
		for _, a := range e.args[len(base.Args):] {
			if a.Kind == kernels.ArgInt {
				ints = append(ints, int(a.Int))
			} else if bufs++; a.Off == 8 && a.Buf == y {
				t.Errorf("%s: the value is an argument", c.name)
			}
		}
		if e.spec.Value != c.value || bufs != 2 || !slices.Equal(ints, c.ints) {
			t.Errorf("%s: value %d, %d tensors, ints %v, want %v", c.name, e.spec.Value, bufs, ints, c.ints)
		}
	}

	// What both do.
	n := rewriterOf(steps(product(modes{in, out, out}, wide, kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 8, 8), kernels.BufferArg(v, 8, 8)),
		maps(fn.Add, line, viewOf(0, 8, 1), viewOf(0, 16, 1), viewOf(3, 0, 1)), maps(fn.Add, line, viewOf(0, 8, 1), viewOf(0, 0, 1), viewOf(3, 0, 1))), never, never)
	for j, other := range []string{1: "1:16", 2: "1:0"} {
		for _, keep := range []bool{false, true} {
			if j == 0 {
				continue
			}
			reads, writes, fills := n.effectsOf(n.nodes[0], n.nodes[j], &epilogue{spec: fused.Epilogue{Keep: keep}})
			names := map[kernels.Buffer]int{x: 0, y: 1, v: 2, z: 3}
			got := ""
			for _, list := range [][]region{reads, writes} {
				for _, g := range list {
					got += fmt.Sprintf("%d:%d ", names[g.buf], g.span.lo)
				}
				got += "| "
			}
			for _, f := range fills {
				got += fmt.Sprintf("%d:%d ", names[f.buf], f.lo)
			}
			kept := map[bool]string{true: "1:8 "}[keep]
			if want := "0:0 " + other + " | " + kept + "2:8 3:0 | " + kept + "2:8 3:0 "; got != want {
				t.Errorf("map %d, kept %v: %s, want %s", j, keep, got, want)
			}
		}
	}
}

// TestStorers: the launch that stores what an operand reads is the last that writes to its memory,
// if it stores it as a result.
func TestStorers(t *testing.T) {
	x, y, z := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	type modes = []kernels.Mode
	stores := func(args ...kernels.Arg) capture.Launch {
		l := touching(modes{kernels.In, kernels.Out, kernels.Out}, args...)
		l.Kernel.Fusions = fused.Fusions{Epilogue: &fused.EpilogueSpec{Result: 1}}
		return l
	}
	base := stores(kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 8, 8), kernels.BufferArg(z, 0, 1))
	other := stores(kernels.BufferArg(x, 0, 8), kernels.BufferArg(z, 8, 8), kernels.BufferArg(y, 8, 8))
	rows := stores(base.Args[:3]...)
	rows.Kernel.Fusions = fused.Fusions{Epilogue: &fused.EpilogueSpec{Result: 1},
		Rows: &fused.RowSpec{Of: func([]kernels.Arg, kernels.Target) *fused.RowTiling { return &fused.RowTiling{Rows: 1} }}}
	mapped := saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes{kernels.In, kernels.Out}, kernels.BufferArg(x, 0, 8), kernels.BufferArg(y, 8, 8))
	mapped.Kernel.Fusions = fused.Fusions{Epilogue: &fused.EpilogueSpec{Result: 1}}
	scalars := kernels.NewStepScalars(1, func(n []kernels.Arg) error { n[0] = kernels.IntArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	varying := stores(base.Args[:3]...)
	varying.Args = append(varying.Args, scalars.Arg(0))
	touch := func(mode kernels.Mode, off int) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(y, off, 1))
	}
	read := touch(kernels.In, 8)
	steps := func(list ...capture.Launch) []capture.Launch { return append(list, read) }
	for _, c := range []struct {
		name string
		step []capture.Launch
		off  int
		set  func(r *rewriter)
		mask bool
		want int
	}{
		{"one", steps(base), 8, nil, false, 0},
		{"the last element", steps(base), 15, nil, false, 0},
		{"behind it", steps(base), 16, nil, false, -1},
		{"before it", steps(base), 7, nil, false, -1},
		{"bytes", steps(base), 8, nil, true, -1},
		{"none", steps(touch(kernels.In, 8)), 8, nil, false, -1},
		{"read between", steps(base, touch(kernels.In, 8)), 8, nil, false, 0},
		{"written between", steps(base, touch(kernels.Out, 40)), 8, nil, false, -1},
		{"the last", steps(base, base), 8, nil, false, 1},
		{"another result", steps(other), 8, nil, false, -1},
		{"a map", steps(mapped), 8, nil, false, -1},
		{"done once", steps(base), 8, func(r *rewriter) { r.nodes[0].once = true }, false, -1},
		{"nothing is said of stores", steps(touching(modes{kernels.In, kernels.Out}, base.Args[:2]...)), 8, nil, false, -1},
		{"of sizes that may change", steps(varying), 8, nil, false, -1},
		{"by rows", steps(rows), 8, nil, false, -1},
		{"by rows that are not joined", steps(rows), 8, func(r *rewriter) { r.opt.Without = []string{"rows"} }, false, 0},
	} {
		r := rewriterOf(c.step, never, never)
		if c.set != nil {
			c.set(r)
		}
		if got := r.producer(len(c.step)-1, operand{view: view{y, c.off, []int{1}}, mask: c.mask}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
