package replay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// gpu are limits of a device on which launches are done together and beside each other.
var gpu = kernels.Target{Units: 16, MaxGroup: 256, LocalMem: 32 << 10}

// opaque returns a kernel that says nothing of itself, with parameters of these modes and four
// ints: its work-groups along two dimensions, and the work-items of one.
func opaque(name string, modes ...kernels.Mode) *kernels.Kernel {
	k := &kernels.Kernel{Name: "k_" + name, Text: "// " + name,
		Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: name}}}
	for i, m := range modes {
		k.Params = append(k.Params, kernels.Param{Name: fmt.Sprint("A", i), Mode: m})
	}
	for _, name := range []string{"across", "down", "items"} {
		k.Params = append(k.Params, kernels.Param{Name: name, Mode: kernels.IntParam})
	}
	k.Grid = func(args []kernels.Arg, _ kernels.Target) kernels.Grid {
		size := args[len(modes):]
		across, down, items := int(size[0].Int), int(size[1].Int), int(size[2].Int)
		return kernels.Grid{Dims: 2, Global: [3]int{items * across, down}, Local: [3]int{items, 1}}
	}
	return k
}

// room is memory that nobody touches.
type room struct{ n int }

func (r *room) DType() kernels.DType { return kernels.Float32 }
func (r *room) Len() int             { return r.n }

// only are options without other rewrites.
func only(names ...string) *Options {
	o := &Options{}
	for _, w := range rewrites() {
		if !slices.Contains(names, w.name) {
			o.Without = append(o.Without, w.name)
		}
	}
	return o
}

func always(kernels.Buffer) bool { return true }
func never(kernels.Buffer) bool  { return false }

// TestDepend: either of two launches depends on the other where it reads or writes elements that
// the other writes, and only there.
func TestDepend(t *testing.T) {
	a, b := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	at := func(buf kernels.Buffer, lo, hi int) []region { return []region{{buf: buf, span: span{lo, hi}}} }
	row := func(off int) []region { // every other element
		v := view{a, off, []int{2}}
		return []region{{buf: a, span: v.span([]int{8}), view: v, dims: []int{8}}}
	}
	for _, c := range []struct {
		name                                   string
		reads, writes, otherReads, otherWrites []region
		want                                   bool
	}{
		{"both read", at(a, 0, 8), nil, at(a, 0, 8), nil, false},
		{"the latter reads what the former writes", nil, at(a, 0, 8), at(a, 7, 9), nil, true},
		{"the latter writes what the former writes", nil, at(a, 0, 8), nil, at(a, 7, 9), true},
		{"the latter writes what the former reads", at(a, 0, 8), nil, nil, at(a, 7, 9), true},
		{"beside it", at(a, 0, 8), at(a, 8, 16), at(a, 16, 20), at(a, 20, 24), false},
		{"before it", at(a, 8, 16), at(a, 16, 24), at(a, 0, 8), at(a, 4, 8), false},
		{"of other memory", at(a, 0, 8), at(a, 8, 16), at(b, 0, 16), at(b, 0, 16), false},
		{"the second of several", append(at(b, 0, 8), at(a, 0, 8)...), nil, nil, append(at(b, 8, 9), at(a, 3, 4)...), true},
		{"between its elements", row(0), row(0), row(1), row(1), false},
		{"the same elements", row(0), nil, nil, row(2), true},
	} {
		n, m := &node{reads: c.reads, writes: c.writes}, &node{reads: c.otherReads, writes: c.otherWrites}
		r := &rewriter{}
		if got := r.depend(n, m); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := r.depend(m, n); got != c.want {
			t.Errorf("%s, the other way round: %v", c.name, got)
		}
	}
}

// touches are the elements that a launch reads, and those that it writes.
func touches(l capture.Launch) (reads, writes map[kernels.Buffer][]span) {
	reads, writes = map[kernels.Buffer][]span{}, map[kernels.Buffer][]span{}
	for i, p := range l.Kernel.Params {
		a := l.Args[i]
		if a.Kind != kernels.ArgBuffer {
			continue
		}
		s := span{a.Off, a.Off + a.N}
		if p.Mode.Read() {
			reads[a.Buf] = append(reads[a.Buf], s)
		}
		if p.Mode.Written() {
			writes[a.Buf] = append(writes[a.Buf], s)
		}
	}
	return reads, writes
}

// ordered reports whether two launches have to be done one after the other.
func ordered(x, y capture.Launch) bool {
	common := func(p, q map[kernels.Buffer][]span) bool {
		for buf, list := range p {
			for _, s := range list {
				if slices.ContainsFunc(q[buf], func(u span) bool { return max(s.lo, u.lo) < min(s.hi, u.hi) }) {
					return true
				}
			}
		}
		return false
	}
	xr, xw := touches(x)
	yr, yw := touches(y)
	return common(xw, yr) || common(xw, yw) || common(xr, yw)
}

// TestOrderKept: launches that are done together, or beside each other, do not depend on each
// other, and what depends on one of them is done behind it, what it depends on before it.
func TestOrderKept(t *testing.T) {
	kinds := []*kernels.Kernel{opaque("copy", kernels.In, kernels.Out), opaque("change", kernels.In, kernels.InOut), opaque("mix", kernels.In, kernels.In, kernels.Out)}
	for _, rewrite := range []string{"batch-launches", "horizontal-fusion"} {
		joined, kept := 0, 0
		for seed := range uint64(1000) {
			r := rand.New(rand.NewPCG(seed, 11))
			var mems []kernels.Buffer
			for range 2 + r.IntN(4) {
				mems = append(mems, kernels.NewHostBuffer(kernels.Float32, 32))
			}
			var step []capture.Launch
			for range 2 + r.IntN(9) {
				k := kinds[r.IntN(len(kinds))]
				l := capture.Launch{Kernel: k}
				for range len(k.Params) - 3 {
					n := 1 + r.IntN(6)
					l.Args = append(l.Args, kernels.BufferArg(mems[r.IntN(len(mems))], r.IntN(32-n), n))
				}
				l.Args = append(l.Args, kernels.IntArg(1+r.IntN(3)), kernels.IntArg(1), kernels.IntArg(64))
				step = append(step, l)
			}
			nodes, err := rewriteLaunches(only(rewrite), gpu, step, always, never, nil)
			if err != nil {
				t.Fatal(err)
			}
			place, done := make([]int, len(step)), 0
			for at, n := range nodes {
				for _, i := range n.from {
					place[i] = at
					done++
				}
				if len(n.from) > 1 {
					joined++
				}
			}
			if done != len(step) {
				t.Fatalf("%s, seed %d: %d launches of %d are done", rewrite, seed, done, len(step))
			}
			for j := range step {
				for i := range j {
					if !ordered(step[i], step[j]) {
						continue
					}
					kept++
					if place[i] >= place[j] {
						t.Fatalf("%s, seed %d: launch %d depends on launch %d; they are done at places %d and %d", rewrite, seed, j, i, place[j], place[i])
					}
				}
			}
		}
		if joined < 300 || kept < 1000 {
			t.Errorf("%s: %d launches do several, %d depend on another", rewrite, joined, kept)
		}
	}
}

// TestHorizontalConditions: which launches are done beside each other, and which of the two comes
// first, by what is not their memory.
func TestHorizontalConditions(t *testing.T) {
	mem := kernels.NewHostBuffer(kernels.Float32, 64)
	large := &room{largeReads + 1}
	fill, read := opaque("fill", kernels.Out), opaque("read", kernels.In, kernels.Out)
	alone := opaque("alone", kernels.Out)
	alone.Fusions = nil
	blocks := opaque("blocks", kernels.Out)
	blocks.Fusions = fused.Fusions{Batch: &fused.BatchSpec{GroupRanges: &fused.GroupRanges{}}}
	local := opaque("local", kernels.Out)
	local.Fusions = fused.Fusions{Batch: &fused.BatchSpec{Function: "local", Local: "64"}}
	ints := func(across, down, items int) []kernels.Arg {
		return []kernels.Arg{kernels.IntArg(across), kernels.IntArg(down), kernels.IntArg(items)}
	}
	fills := func(k *kernels.Kernel, at, across, down, items int) capture.Launch {
		return capture.Launch{Kernel: k, Args: append([]kernels.Arg{kernels.BufferArg(mem, at, 1)}, ints(across, down, items)...)}
	}
	reads := func(buf kernels.Buffer, at int) capture.Launch {
		return capture.Launch{Kernel: read, Args: append([]kernels.Arg{kernels.BufferArg(buf, 0, buf.Len()), kernels.BufferArg(mem, at, 1)}, ints(1, 1, 64)...)}
	}
	scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.IntArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	slotted := fills(fill, 0, 1, 1, 64)
	slotted.Args[1] = scalars.Arg(0)
	one := fills(fill, 1, 2, 1, 64)
	for _, c := range []struct {
		name  string
		step  []capture.Launch
		want  int // launches
		first int // the launch of the step whose arguments are the first of what does several
	}{
		{"small ones", []capture.Launch{fills(fill, 0, 3, 1, 64), one}, 1, 1},
		{"the smaller first", []capture.Launch{fills(fill, 0, 1, 1, 64), one}, 1, 0},
		{"as small", []capture.Launch{fills(fill, 0, 2, 1, 64), one}, 1, 0},
		{"of rows", []capture.Launch{fills(fill, 0, 1, 2, 64), one}, 2, 0},
		{"the latter of rows", []capture.Launch{one, fills(fill, 0, 1, 2, 64)}, 2, 0},
		{"of other work-groups", []capture.Launch{fills(fill, 0, 1, 1, 32), one}, 2, 0},
		{"one large", []capture.Launch{fills(fill, 0, smallLaunch+1, 1, 64), one}, 1, 1},
		{"both as large as may be", []capture.Launch{fills(fill, 0, smallLaunch, 1, 64),
			fills(fill, 1, smallLaunch+1, 1, 64)}, 1, 0},
		{"both large", []capture.Launch{fills(fill, 0, smallLaunch+1, 1, 64), fills(fill, 1, smallLaunch+1, 1, 64)}, 2, 0},
		{"nothing to do", []capture.Launch{fills(fill, 0, 0, 1, 64), one}, 2, 0},
		{"alone", []capture.Launch{fills(alone, 0, 1, 1, 64), one}, 2, 0},
		{"of blocks", []capture.Launch{one, fills(blocks, 0, 1, 1, 64)}, 2, 0},
		{"local memory", []capture.Launch{fills(local, 0, 1, 1, 64), one}, 1, 0},
		{"local memory of both", []capture.Launch{fills(local, 0, 1, 1, 64), fills(local, 1, 1, 1, 64)}, 2, 0},
		{"sizes that are step scalars", []capture.Launch{slotted, one}, 2, 0},
		{"the latter's, too", []capture.Launch{one, slotted}, 2, 0},
		{"what is between needs the former", []capture.Launch{fills(fill, 0, 1, 1, 64), fills(alone, 0, 1, 1, 64), one}, 2, 2},
		{"what is between is needed", []capture.Launch{one, fills(alone, 0, 1, 1, 64), fills(fill, 0, 1, 1, 64)}, 2, 2},
		{"both", []capture.Launch{fills(fill, 0, 1, 1, 64), fills(alone, 0, 1, 1, 64), {Kernel: alone, Args: append([]kernels.Arg{kernels.BufferArg(mem, 1, 1)}, ints(1, 1, 64)...)}, one}, 4, 0},
		{"much memory waits", []capture.Launch{reads(large, 0), fills(alone, 1, 1, 1, 64), fills(fill, 2, 1, 1, 64)}, 3, 0},
		{"much memory, next to each other", []capture.Launch{reads(large, 0), fills(fill, 2, 1, 1, 64)}, 1, 0},
		{"not the nearest", []capture.Launch{fills(fill, 0, 3, 1, 64), fills(fill, 2, 1, 1, 32), one}, 2, 0},
		{"not the nearest, of local memory", []capture.Launch{fills(fill, 0, 1, 2, 64), fills(fill, 3, 1, 1, 64), fills(local, 2, 1, 1, 64), fills(local, 1, 1, 1, 64)}, 3, 0},
		{"three", []capture.Launch{fills(fill, 0, 1, 1, 64), fills(fill, 1, 2, 1, 64), fills(fill, 2, 3, 1, 64)}, 2, 0},
	} {
		living := func(b kernels.Buffer) bool { return b != large }
		nodes, err := rewriteLaunches(only("horizontal-fusion"), gpu, c.step, living, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != c.want {
			t.Errorf("%s: %d launches, want %d", c.name, len(nodes), c.want)
			continue
		}
		for _, n := range nodes {
			if c.want == 1 && n.args[0].Off != c.step[c.first].Args[0].Off {
				t.Errorf("%s: launch %d is not the first of the two", c.name, c.first)
			}
		}
		if nodes, _ = rewriteLaunches(only("horizontal-fusion"), kernels.Target{CPU: true, Units: 16}, c.step, living, never, nil); len(nodes) != len(c.step) {
			t.Errorf("%s: %d launches on a CPU", c.name, len(nodes))
		}
	}
	for _, broken := range []error{nil, errors.New("broken")} {
		tried := &device{try: func(*kernels.Kernel, []kernels.Arg) error { return broken }}
		nodes, _ := rewriteLaunches(only("horizontal-fusion"), gpu, []capture.Launch{fills(fill, 0, 3, 1, 64), one}, always, never, tried)
		if want := 1 + btoi(broken != nil); len(nodes) != want {
			t.Errorf("the trial returns %v: %d launches", broken, len(nodes))
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
