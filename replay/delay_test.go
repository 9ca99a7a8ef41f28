package replay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// rewriterOf returns a rewriter of a step before its rewrites.
func rewriterOf(step []capture.Launch, lives, constant func(kernels.Buffer) bool) *rewriter {
	r := &rewriter{opt: &Options{}, target: gpu, lives: lives, constant: constant, uses: map[kernels.Buffer][]int{}, writers: map[kernels.Buffer][]int{}, kinds: map[string]int{}, dependents: map[*node]map[*node]bool{}}
	for i, l := range step {
		n := &node{kernel: l.Kernel, args: l.Args, from: []int{i}, names: []string{l.Kernel.Name}}
		r.analyze(n)
		r.nodes = append(r.nodes, n)
		r.note(i)
	}
	return r
}

// touching is a launch of a kernel that says nothing of itself.
func touching(modes []kernels.Mode, args ...kernels.Arg) capture.Launch {
	return capture.Launch{Kernel: opaque("touch", modes...), Args: append(args, kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64))}
}

// TestSumsLate: a sum is done by the update that reads it only if nobody can tell.
func TestSumsLate(t *testing.T) {
	x, y, z := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	type modes = []kernels.Mode
	sum := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(x, 8, 8), kernels.BufferArg(y, 8, 8))
	update := touching(modes{kernels.In, kernels.InOut}, kernels.BufferArg(y, 0, 32), kernels.BufferArg(z, 0, 8))
	touch := func(mode kernels.Mode, b kernels.Buffer, off, n int) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(b, off, n))
	}
	const in, out, inOut = kernels.In, kernels.Out, kernels.InOut
	const gradient, between, around, overwritten = "the gradient is read by others, or is there after the run", "the gradient is read or written before the update",
		"what it reads is there before or after the run", "what it reads is overwritten before the update"
	for _, c := range []struct {
		name     string
		step     []capture.Launch
		lives    kernels.Buffer
		constant kernels.Buffer
		want     string
	}{
		{"next to each other", []capture.Launch{sum, update}, z, nil, ""},
		{"read before", []capture.Launch{touch(in, y, 8, 1), sum, update}, z, nil, ""},
		{"written before", []capture.Launch{touch(out, y, 8, 1), touch(out, x, 8, 1), sum, update}, z, nil, ""},
		{"read between", []capture.Launch{sum, touch(in, y, 15, 1), update}, z, nil, gradient},
		{"read behind", []capture.Launch{sum, update, touch(in, y, 15, 1)}, z, nil, gradient},
		{"read behind, when it is another", []capture.Launch{sum, update, touch(out, y, 8, 8), touch(in, y, 15, 1)}, z, nil, ""},
		{"another part read", []capture.Launch{sum, touch(in, y, 16, 1), update, touch(in, y, 7, 1)}, z, nil, ""},
		{"not read by the update", []capture.Launch{sum, touch(in, x, 0, 8)}, z, nil, gradient},
		{"read by another", []capture.Launch{sum, touch(in, y, 15, 1), touch(in, x, 0, 8)}, z, nil, gradient},
		{"there after the run", []capture.Launch{sum, update}, y, nil, gradient},
		{"there after the run, and another", []capture.Launch{sum, update, touch(out, y, 8, 8)}, y, nil, ""},
		{"there after the run, but for a part", []capture.Launch{sum, update, touch(out, y, 8, 7)}, y, nil, gradient},
		{"a part written between", []capture.Launch{sum, touch(out, y, 15, 1), update}, z, nil, between},
		{"another part written between", []capture.Launch{sum, touch(out, y, 16, 1), update}, z, nil, ""},
		{"what it reads is an output", []capture.Launch{sum, update}, x, nil, around},
		{"what it reads is a constant", []capture.Launch{sum, update}, z, x, around},
		{"what it reads is read", []capture.Launch{sum, touch(in, x, 8, 8), update, touch(in, x, 8, 8)}, z, nil, ""},
		{"what it reads is written", []capture.Launch{sum, touch(out, x, 15, 1), update}, z, nil, overwritten},
		{"what it reads is changed", []capture.Launch{sum, touch(inOut, x, 8, 1), update}, z, nil, overwritten},
		{"beside what it reads is written", []capture.Launch{sum, touch(out, x, 16, 1), touch(out, x, 7, 1), update}, z, nil, ""},
		{"what it reads is written behind", []capture.Launch{sum, update, touch(out, x, 8, 8)}, z, nil, ""},
	} {
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == c.lives }, func(b kernels.Buffer) bool { return b == c.constant })
		i := slices.IndexFunc(c.step, func(l capture.Launch) bool { return l.Kernel == sum.Kernel })
		j := slices.IndexFunc(c.step, func(l capture.Launch) bool { return l.Kernel == update.Kernel })
		if j < 0 {
			j = len(c.step) - 1
		}
		if got := r.late(i, j).String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestMemoryMoved: memory of launches that can use other memory is moved, with all that they do
// with it; that of others is not.
func TestMemoryMoved(t *testing.T) {
	from, other, to := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 256)
	type modes = []kernels.Mode
	made := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(other, 0, 8), kernels.BufferArg(from, 8, 8))
	sum := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(from, 8, 4), kernels.BufferArg(other, 16, 8))
	also := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(from, 12, 4), kernels.BufferArg(other, 24, 8))
	apart := touching(modes{kernels.In}, kernels.BufferArg(other, 8, 4))
	mapped := saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes{kernels.In, kernels.Out}, kernels.BufferArg(other, 0, 8), kernels.BufferArg(from, 8, 8))
	for _, c := range []struct {
		name string
		step []capture.Launch
		by   []int
		set  func(n *node) // of the first
		want bool
	}{
		{"one", []capture.Launch{made, apart, sum}, []int{2}, nil, true},
		{"two", []capture.Launch{made, sum, also}, []int{1, 2}, nil, true},
		{"one of two", []capture.Launch{made, sum, also}, []int{1}, nil, false},
		{"changed between", []capture.Launch{made, touching(modes{kernels.InOut}, kernels.BufferArg(from, 9, 1)), sum}, []int{2}, nil, true},
		{"made by a map", []capture.Launch{mapped, sum}, []int{1}, nil, false},
		{"made by what may be a map", []capture.Launch{made, sum}, []int{1}, func(n *node) { n.late = &mapping{} }, false},
		{"made by several", []capture.Launch{made, sum}, []int{1}, func(n *node) { n.chain = []rowPart{{}} }, false},
		{"made once", []capture.Launch{made, sum}, []int{1}, func(n *node) { n.once = true }, false},
		{"read by a map", []capture.Launch{made, saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))},
			modes{kernels.In, kernels.Out}, kernels.BufferArg(from, 8, 8), kernels.BufferArg(other, 0, 8))}, []int{1}, nil, false},
	} {
		r := rewriterOf(c.step, never, never)
		if c.set != nil {
			c.set(r.nodes[0])
		}
		if got := r.only(from, c.by); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	r := rewriterOf([]capture.Launch{made, apart, sum, apart, also}, never, never)
	r.leave(3)
	r.move(from, to, 100)
	for i, want := range []string{"0+8 108+8 reads 0:8 writes to108:116 fills to108:116", "8+4 reads 8:12 writes fills", "108+4 16+8 reads to108:112 writes 16:24 fills 16:24", "",
		"112+4 24+8 reads to112:116 writes 24:32 fills 24:32"} {
		n := r.nodes[i]
		if n == nil {
			continue
		}
		got := ""
		for _, a := range n.args {
			if a.Kind == kernels.ArgBuffer {
				got += fmt.Sprintf("%d+%d ", a.Off, a.N)
				if (a.Buf == to) != (a.Off > 100) {
					t.Errorf("argument of launch %d: %v", i, a)
				}
			}
		}
		list := func(b kernels.Buffer, s span) {
			name := map[bool]string{true: "to"}[b == to]
			got += fmt.Sprintf(" %s%d:%d", name, s.lo, s.hi)
		}
		got += "reads"
		for _, g := range n.reads {
			list(g.buf, g.span)
		}
		got += " writes"
		for _, g := range n.writes {
			list(g.buf, g.span)
		}
		got += " fills"
		for _, f := range n.fills {
			list(f.buf, f.span)
		}
		if got != want {
			t.Errorf("launch %d: %s, want %s", i, got, want)
		}
	}
	if !slices.Equal(r.uses[to], []int{0, 2, 4}) || r.uses[from] != nil {
		t.Errorf("uses %v, and before %v", r.uses[to], r.uses[from])
	}
	if made.Args[1].Buf != from {
		t.Error("the launch of the step was changed")
	}
}

// TestInputsApart: a launch is left out, and computed where its result is read, only if nobody can
// tell.
func TestInputsApart(t *testing.T) {
	x, w, y, z := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	type modes = []kernels.Mode
	made := saying([]kernels.Op{mapOf(fn.Neg, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes{kernels.In, kernels.Out}, kernels.BufferArg(x, 8, 8), kernels.BufferArg(y, 8, 8))
	two := saying([]kernels.Op{mapOf(fn.Add, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1), viewOf(2, 0, 1))}, modes{kernels.In, kernels.In, kernels.Out},
		kernels.BufferArg(x, 8, 8), kernels.BufferArg(w, 8, 8), kernels.BufferArg(y, 8, 8))
	byRow := saying([]kernels.Op{mapOf(fn.Add, []int{2, 4}, viewOf(0, 0, 4, 1), viewOf(1, 0, 0, 1), viewOf(2, 0, 4, 1))}, modes{kernels.In, kernels.In, kernels.Out},
		kernels.BufferArg(x, 8, 8), kernels.BufferArg(w, 8, 4), kernels.BufferArg(y, 8, 8))
	gather := saying([]kernels.Op{&operation.Gather{Outer: 1, N: 2, Cols: 4, Rows: 8, X: viewOf(0, 0, 0, 4, 1),
		Index: viewOf(1, 0, 0, 1, 0), Y: viewOf(2, 0, 0, 4, 1)}}, modes{kernels.In, kernels.InInts, kernels.Out},
		kernels.BufferArg(x, 0, 32), kernels.BufferArg(kernels.NewHostBuffer(kernels.Int32, 8), 0, 2), kernels.BufferArg(y, 8, 8))
	again := saying([]kernels.Op{mapOf(fn.Exp, []int{8}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes{kernels.In, kernels.Out}, kernels.BufferArg(y, 8, 8), kernels.BufferArg(w, 8, 8))
	silent := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(x, 8, 8), kernels.BufferArg(y, 8, 8))
	rows := touching(modes{kernels.In, kernels.In, kernels.Out}, kernels.BufferArg(y, 8, 8), kernels.BufferArg(w, 0, 8), kernels.BufferArg(z, 0, 8))
	rows.Kernel.Fusions = fused.Fusions{Prologues: []fused.PrologueSpec{{Operand: 0}}}
	rowsOf := func(args ...kernels.Arg) capture.Launch {
		return capture.Launch{Kernel: rows.Kernel, Args: append(args, rows.Args[3:]...)}
	}
	both := opaque("rows", kernels.In, kernels.In, kernels.Out)
	both.Fusions = fused.Fusions{Prologues: []fused.PrologueSpec{{Operand: 0}, {Operand: 1}}}
	touch := func(mode kernels.Mode, b kernels.Buffer, off int) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(b, off, 1))
	}
	const in, out = kernels.In, kernels.Out
	for _, c := range []struct {
		name  string
		step  []capture.Launch
		j     int
		with  []int // beside j
		lives kernels.Buffer
		set   func(n *node) // of j
		want  bool          // it can be left out
	}{
		{"next to each other", []capture.Launch{made, rows}, 0, nil, z, nil, true},
		{"done once", []capture.Launch{made, rows}, 0, nil, z, func(n *node) { n.once = true }, false},
		{"not said", []capture.Launch{silent, rows}, 0, nil, z, nil, false},
		{"several launches", []capture.Launch{made, rows}, 0, nil, z, func(n *node) { n.chain, n.why = []rowPart{{}}, because(ReasonOpaque, "several") }, false},
		{"there after the run", []capture.Launch{made, rows}, 0, nil, y, nil, false},
		{"read before", []capture.Launch{touch(in, y, 8), made, rows}, 1, nil, z, nil, true},
		{"read between", []capture.Launch{made, touch(in, y, 8), rows}, 0, nil, z, nil, false},
		{"read behind", []capture.Launch{made, rows, touch(in, y, 15)}, 0, nil, z, nil, false},
		{"read beside", []capture.Launch{made, rows, touch(in, y, 16)}, 0, nil, z, nil, true},
		{"read by what is computed, too", []capture.Launch{made, again, rows}, 0, []int{1}, z, nil, true},
		{"read by what is not", []capture.Launch{made, again, rows}, 0, nil, z, nil, false},
		{"read as another operand, too", []capture.Launch{made, rowsOf(kernels.BufferArg(y, 8, 8), kernels.BufferArg(y, 8, 8), kernels.BufferArg(z, 0, 8))}, 0, nil, z, nil, false},
		{"read as two operands", []capture.Launch{made, {Kernel: both, Args: rowsOf(kernels.BufferArg(y, 8, 8), kernels.BufferArg(y, 8, 8), kernels.BufferArg(z, 0, 8)).Args}}, 0, nil, z, nil, true},
		{"what it reads is read between", []capture.Launch{made, touch(in, x, 8), rows}, 0, nil, z, nil, true},
		{"what it reads is written between", []capture.Launch{made, touch(out, x, 8), rows}, 0, nil, z, nil, false},
		{"the last that it reads is written between", []capture.Launch{made, touch(out, x, 15), rows}, 0, nil, z, nil, false},
		{"beside what it reads is written", []capture.Launch{made, touch(out, x, 16), touch(out, x, 7), rows}, 0, nil, z, nil, true},
		{"what it reads is written before", []capture.Launch{touch(out, x, 8), made, rows}, 1, nil, z, nil, true},
		{"what it reads is written behind", []capture.Launch{made, rows, touch(out, x, 8)}, 0, nil, z, nil, true},
		{"what it reads is written by the reader", []capture.Launch{made, rowsOf(kernels.BufferArg(y, 8, 8), kernels.BufferArg(w, 0, 8), kernels.BufferArg(x, 0, 9))}, 0, nil, z, nil, false},
		{"of two tensors", []capture.Launch{two, rows}, 0, nil, z, nil, false},
		{"of a tensor and a row", []capture.Launch{byRow, rows}, 0, nil, z, nil, true},
		{"of rows of a table", []capture.Launch{gather, rows}, 0, nil, z, nil, true},
	} {
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == c.lives }, never)
		i := slices.IndexFunc(r.nodes, func(n *node) bool { return fused.Of(n.kernel).Prologues != nil })
		if c.set != nil {
			c.set(r.nodes[c.j])
		}
		if got := r.apart(i, r.nodes[i], c.j, append(c.with, c.j)); (got == nil) != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	for _, c := range []struct {
		name  string
		step  []capture.Launch
		taken []int
		want  []int
	}{
		{"none", []capture.Launch{touch(out, y, 7), touch(in, y, 8), touch(out, y, 16), rows}, nil, nil},
		{"the last", []capture.Launch{made, made, touch(in, y, 8), rows}, nil, []int{1}},
		{"the last of a part", []capture.Launch{made, touch(out, y, 15), rows}, nil, []int{1}},
		{"before the reader", []capture.Launch{made, rows, made}, nil, []int{0}},
		{"taken", []capture.Launch{made, rows}, []int{0}, nil},
		{"what makes it", []capture.Launch{touch(out, x, 8), touch(out, x, 9), made, touch(out, x, 8), rows}, []int{2}, []int{1}},
		{"of each", []capture.Launch{made, again, {Kernel: both, Args: rowsOf(kernels.BufferArg(y, 8, 8), kernels.BufferArg(w, 8, 8), kernels.BufferArg(z, 0, 8)).Args}}, nil, []int{0, 1}},
		{"once", []capture.Launch{made, {Kernel: both, Args: rowsOf(kernels.BufferArg(y, 8, 8), kernels.BufferArg(y, 8, 4), kernels.BufferArg(z, 0, 8)).Args}}, nil, []int{0}},
	} {
		r := rewriterOf(c.step, never, never)
		i := slices.IndexFunc(r.nodes, func(n *node) bool { return fused.Of(n.kernel).Prologues != nil })
		if got := r.sources(i, r.nodes[i], c.taken); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
