package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// saying returns a launch of a kernel that says that it computes these operations, of memory with
// these modes.
func saying(ops []kernels.Op, modes []kernels.Mode, args ...kernels.Arg) capture.Launch {
	k := opaque("says", modes...)
	k.Semantics = func([]kernels.Arg) []kernels.Op { return ops }
	return capture.Launch{Kernel: k, Args: append(args, kernels.IntArg(1), kernels.IntArg(1), kernels.IntArg(64))}
}

// vecs returns an argument of memory of its own for each size.
func vecs(sizes ...int) (args []kernels.Arg) {
	for _, n := range sizes {
		args = append(args, kernels.BufferArg(kernels.NewHostBuffer(kernels.Float32, n+8), 3, n))
	}
	return args
}

// viewOf is a view of argument arg from an element on.
func viewOf(arg, offset int, strides ...int) kernels.View {
	return kernels.View{Arg: arg, Type: kernels.Float32, Offset: offset, Strides: strides}
}

// mapOf is the map of a function of views, the last of which is the result.
func mapOf(f *kernels.Function, dims []int, views ...kernels.View) *operation.Map {
	last := len(views) - 1
	m := &operation.Map{Dims: dims, Operands: views[:last],
		Results: []operation.Result{{Function: f, View: views[last]}}, Codegen: true, Type: views[0].Type.Widened()}
	for range f.Scalars {
		m.Results[0].Scalars = append(m.Results[0].Scalars, operation.ConstScalar(2))
	}
	return m
}

// sumOf is the sum of the middle axis of argument 0, of [2, 3, 4], to a view.
func sumOf(y kernels.View) *operation.Reduction {
	return &operation.Reduction{Function: fn.Add, Outer: 2, Len: 3, Inner: 4, Shares: 1, Chunk: 3,
		X: viewOf(0, 0, 12, 4, 1), Y: y}
}

// TestEffects: what a launch reads, writes and fills is found in its parameters and in what it says
// of itself.
func TestEffects(t *testing.T) {
	type operations = []kernels.Op
	type modes = []kernels.Mode
	const in, out, inOut = kernels.In, kernels.Out, kernels.InOut
	silent := func(items int, m modes, args ...kernels.Arg) capture.Launch {
		l := saying(nil, m, args...)
		l.Kernel.Semantics = nil
		l.Args[len(args)] = kernels.IntArg(items)
		return l
	}
	idle := saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, out}, vecs(24, 8)...)
	idle.Args[2] = kernels.IntArg(0)
	scalars := kernels.NewStepScalars(2, func(n []kernels.Arg) error { n[0], n[1] = kernels.IntArg(1), kernels.FloatArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	changing := func(l capture.Launch, arg, number int) capture.Launch {
		if arg == len(l.Args) {
			l.Args = append(l.Args, kernels.Arg{})
		}
		l.Args[arg] = scalars.Arg(number)
		return l
	}
	random := func(set func(r *operation.Random)) capture.Launch {
		r := &operation.Random{N: 5, Y: viewOf(0, 0, 1)}
		none := operation.ConstScalar(1)
		r.Seed[0], r.Seed[1], r.Call, r.A, r.B = none, none, none, none, none
		set(r)
		return changing(saying(operations{r}, modes{inOut}, vecs(5)...), 1, 0)
	}
	scaled := func(arg int) *operation.Map {
		m := mapOf(&kernels.Function{Name: "scaled", Value: fn.Pow.Value, Scalars: []float64{2}}, []int{5}, viewOf(0, 0, 1), viewOf(1, 0, 1))
		m.Results[0].Scalars[0] = operation.ArgScalar(arg)
		return m
	}
	rounds := mapOf(fn.Neg, []int{5}, viewOf(0, 0, 1), viewOf(1, 0, 1))
	rounds.Codegen, rounds.ExactRounding = false, true
	opaquely := mapOf(fn.Neg, []int{5}, viewOf(0, 0, 1), viewOf(1, 0, 1)) // of which the tolerance says that it is no map
	opaquely.Codegen = false
	near := saying(operations{opaquely}, modes{in, out}, vecs(5, 5)...)
	near.Kernel.Tol.ULP = 1
	product := func(n, k, slice int, strides ...int) capture.Launch {
		p := &operation.MatMul{Batch: []int{2}, M: 3, N: 4, K: k, Slice: slice, A: viewOf(0, 0, 3*k, k, 1),
			B: viewOf(1, 0, 4*k, 4, 1), C: viewOf(2, 0, strides...)}
		return saying(operations{p}, modes{in, in, inOut}, vecs(2*3*5, 2*5*4, n)...)
	}
	labelled := operation.CrossEntropySpec{Outer: 1, Len: 3, Inner: 1, X: viewOf(0, 0, 3, 1, 1),
		Labels: viewOf(1, 0, 1, 1), Smoothing: operation.ConstScalar(0)}
	entropy := &operation.CrossEntropy{CrossEntropySpec: labelled, Loss: viewOf(2, 0, 1, 1), Counted: viewOf(3, 0, 1, 1),
		Most: viewOf(4, 0, 1, 1), LogSum: viewOf(5, 0, 1, 1), Slope: viewOf(6, 0, 1, 1)}
	for _, c := range []struct {
		name string
		l    capture.Launch
		want string
	}{
		{"nothing said", silent(1, modes{in, out, inOut}, vecs(4, 5, 6)...), "reads [0 2] writes [1 2] fills [1]"},
		{"of no memory", silent(1, modes{in, out, inOut}, vecs(0, 0, 0)...), "reads [] writes [] fills []"},
		{"without work-items", silent(0, modes{in, out, inOut}, vecs(4, 5, 6)...), "reads [0 2] writes [1 2] fills []"},
		{"without work-items, and said", idle, "reads [0] writes [1] fills []"},
		{"no operation", saying(nil, modes{in, out, inOut}, vecs(4, 5, 6)...), "reads [0 2] writes [1 2] fills [1]"},
		{"a sum", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, inOut}, vecs(24, 8)...), "reads [0] writes [1] fills [1] said"},
		{"a sum of a part", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, inOut}, vecs(24, 9)...), "reads [0 1] writes [1] fills [] said"},
		{"what no operation reads", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, inOut, in}, vecs(24, 8, 2)...), "reads [0 2] writes [1] fills [1] said"},
		{"not from the first", saying(operations{sumOf(viewOf(1, 1, 4, 4, 1))}, modes{in, inOut}, vecs(24, 9)...), "reads [0 1] writes [1] fills [] said"},
		{"with gaps", saying(operations{sumOf(viewOf(1, 0, 8, 8, 2))}, modes{in, inOut}, vecs(24, 15)...), "reads [0 1] writes [1] fills [] said"},
		{"columns first", saying(operations{sumOf(viewOf(1, 0, 1, 8, 2))}, modes{in, inOut}, vecs(24, 8)...), "reads [0] writes [1] fills [1] said"},
		{"what is only written", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, out}, vecs(24, 9)...), "reads [0] writes [1] fills [1] said"},
		{"what is written and named as read", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{inOut, inOut}, vecs(24, 8)...), "reads [0] writes [0 1] fills [1] said"},
		{"elements twice", saying(operations{&operation.Gather{Outer: 1, N: 4, Cols: 4, Rows: 4, X: viewOf(0, 0, 0, 4, 1),
			Index: viewOf(1, 0, 0, 1, 0), Y: viewOf(2, 0, 0, 2, 3)}},
			modes{in, in, inOut}, vecs(16, 4, 16)...), "reads [0 1 2] writes [2] fills [] said"},
		{"backwards", saying(operations{&operation.Gather{Outer: 1, N: 4, Cols: 1, Rows: 4, X: viewOf(0, 0, 0, 1, 1),
			Index: viewOf(1, 0, 0, 1, 0), Y: viewOf(2, 3, 0, -1, 1)}},
			modes{in, in, inOut}, vecs(4, 4, 4)...), "reads [0 1 2] writes [2] fills [] said"},
		{"rows", saying(operations{&operation.Gather{Outer: 1, N: 4, Cols: 3, Rows: 4, X: viewOf(0, 0, 0, 3, 1), Index: viewOf(1, 0, 0, 1, 0),
			Y: viewOf(2, 0, 0, 3, 1)}},
			modes{in, in, inOut}, vecs(12, 4, 12)...), "reads [0 1] writes [2] fills [2] said"},
		{"to one element", saying(operations{&operation.Scatter{Function: fn.Add, Outer: 1, N: 4, Cols: 1, Rows: 1, X: viewOf(0, 0, 0, 1, 1),
			Index: viewOf(1, 0, 0, 1, 0), Y: viewOf(2, 0, 0, 1, 1)}},
			modes{in, in, inOut}, vecs(4, 4, 1)...), "reads [0 1 2] writes [2] fills [] said"},
		{"losses", saying(operations{entropy}, modes{in, in, inOut, inOut, inOut, inOut, inOut}, vecs(3, 1, 1, 1, 1, 1, 1)...),
			"reads [0 1 2 3 4 5 6] writes [2 3 4 5 6] fills [] said"},
		{"read before", saying(operations{mapOf(fn.Neg, []int{8}, viewOf(1, 0, 1), viewOf(operation.Temp(0), 0, 1)),
			sumOf(viewOf(1, 0, 4, 4, 1))},
			modes{in, inOut}, vecs(24, 8)...), "reads [0 1] writes [1] fills [1] said"},
		{"read afterwards", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1)), mapOf(fn.Neg, []int{8}, viewOf(1, 0, 1), viewOf(2, 0, 1))},
			modes{in, inOut, inOut}, vecs(24, 8, 8)...), "reads [0] writes [1 2] fills [1 2] said"},
		{"whole, and then a part", saying(operations{sumOf(viewOf(1, 0, 4, 4, 1)), mapOf(fn.Neg, []int{3}, viewOf(0, 0, 1), viewOf(1, 0, 1))},
			modes{in, inOut}, vecs(24, 8)...), "reads [0] writes [1] fills [1] said"},
		{"of a temporary", saying(operations{sumOf(viewOf(operation.Temp(0), 0, 4, 4, 1)),
			mapOf(fn.Neg, []int{8}, viewOf(operation.Temp(0), 0, 1), viewOf(1, 0, 1))},
			modes{in, inOut}, vecs(24, 8)...), "reads [0] writes [1] fills [1] said"},
		{"a batch of products", product(24, 5, 5, 12, 12, 4, 1), "reads [0 1] writes [2] fills [2] said"},
		{"products of nothing", product(24, 0, 0, 12, 12, 4, 1), "reads [0 1 2] writes [2] fills [] said"},
		{"products in parts", product(72, 5, 2, 36, 12, 4, 1), "reads [0 1] writes [2] fills [2] said"},
		{"products in parts, and more", product(73, 5, 2, 36, 12, 4, 1), "reads [0 1 2] writes [2] fills [] said"},
		{"a size that may change", changing(saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, out, inOut},
			vecs(24, 8, 1)...), 3, 0), "reads [0 2] writes [1 2] fills [] step scalar"},
		{"a real that may change", changing(saying(operations{sumOf(viewOf(1, 0, 4, 4, 1))}, modes{in, inOut}, vecs(24, 8)...), 5, 1), "reads [0] writes [1] fills [1] said"},
		{"a seed that may change", random(func(r *operation.Random) { r.Seed[0] = operation.ArgScalar(1) }),
			"reads [] writes [0] fills [0] said"},
		{"the other seed", random(func(r *operation.Random) { r.Seed[1] = operation.ArgScalar(1) }),
			"reads [] writes [0] fills [0] said"},
		{"a call that may change", random(func(r *operation.Random) { r.Call = operation.ArgScalar(1) }),
			"reads [] writes [0] fills [0] said"},
		{"a low end that may change", random(func(r *operation.Random) { r.A = operation.ArgScalar(1) }),
			"reads [] writes [0] fills [0] said"},
		{"a high end that may change", random(func(r *operation.Random) { r.B = operation.ArgScalar(1) }),
			"reads [] writes [0] fills [0] said"},
		{"how many may change", random(func(*operation.Random) {}), "reads [0] writes [0] fills [] step scalar"},
		{"a number of a map that may change", changing(saying(operations{scaled(5)}, modes{in, out}, vecs(5, 5)...), 5, 1), "reads [0] writes [1] fills [1] said map"},
		{"an int of a map that may change", changing(saying(operations{scaled(5)}, modes{in, out}, vecs(5, 5)...), 5, 0), "reads [0] writes [1] fills [1] said"},
		{"a size of a map that may change", changing(saying(operations{scaled(3)}, modes{in, out}, vecs(5, 5)...), 2, 0),
			"reads [0] writes [1] fills [] step scalar"},
		{"a map", saying(operations{mapOf(fn.Neg, []int{5}, viewOf(0, 0, 1), viewOf(1, 0, 1))}, modes{in, inOut}, vecs(5, 5)...), "reads [0] writes [1] fills [1] said map"},
		{"a map that rounds", saying(operations{rounds}, modes{in, inOut}, vecs(5, 5)...), "reads [0] writes [1] fills [1] said late"},
		{"a map that may round otherwise", near, "reads [0] writes [1] fills [1] said"},
	} {
		n := &node{kernel: c.l.Kernel, args: c.l.Args}
		(&rewriter{opt: &Options{}, target: gpu}).analyze(n)
		numbers := func(list []span2) []int {
			of := []int{}
			for _, s := range list {
				i := slices.IndexFunc(n.args, func(a kernels.Arg) bool {
					return a.Kind == kernels.ArgBuffer && a.Buf == s.buf && a.Off == s.lo && a.Off+a.N == s.hi
				})
				if of = append(of, i); i < 0 {
					t.Errorf("%s: elements %d to %d are no argument", c.name, s.lo, s.hi)
				}
			}
			slices.Sort(of)
			return of
		}
		spans := func(list []region) (spans []span2) {
			for _, g := range list {
				spans = append(spans, span2{g.buf, g.span})
			}
			return spans
		}
		got := fmt.Sprintf("reads %v writes %v fills %v", numbers(spans(n.reads)), numbers(spans(n.writes)), numbers(n.fills))
		for _, is := range []struct {
			is   bool
			name string
		}{{n.described, " said"}, {n.m != nil, " map"}, {n.late != nil, " late"}, {n.why == dynamicSize, " step scalar"}} {
			if is.is {
				got += is.name
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if (n.why == nil) != (n.m != nil) || (n.m != nil) != (n.reads != nil && n.reads[0].dims != nil) {
			t.Errorf("%s: it is no map since %q", c.name, n.why)
		}
	}
}

// TestFillsOfMaps: results of a map that fill the gaps of each other fill memory together; those of
// other memory do not.
func TestFillsOfMaps(t *testing.T) {
	a, b := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	for _, c := range []struct {
		name  string
		views []view
		want  []span2
	}{
		{"without gaps", []view{{a, 4, []int{1}}}, []span2{{a, span{4, 12}}}},
		{"with gaps", []view{{a, 4, []int{2}}}, nil},
		{"in turn", []view{{a, 4, []int{2}}, {a, 5, []int{2}}}, []span2{{a, span{4, 20}}}},
		{"in turn, of others", []view{{a, 4, []int{2}}, {b, 5, []int{2}}}, nil},
		{"in turn, and one of other steps", []view{{a, 4, []int{3}}, {a, 5, []int{3}}, {a, 6, []int{5}}}, nil},
		{"each alone", []view{{a, 4, []int{1}}, {b, 5, []int{1}}, {a, 12, []int{1}}}, []span2{{a, span{4, 12}}, {a, span{12, 20}}, {b, span{5, 13}}}},
	} {
		m := &mapping{dims: []int{8}}
		for _, v := range c.views {
			m.results = append(m.results, result{view: v})
		}
		n := &node{m: m}
		(&rewriter{}).ofMap(n)
		if !slices.Equal(n.fills, c.want) {
			t.Errorf("%s: %v, want %v", c.name, n.fills, c.want)
		}
	}
}

// TestUses: who reads, writes or fills elements is found as if every launch were asked for every
// element.
func TestUses(t *testing.T) {
	bufs := []kernels.Buffer{kernels.NewHostBuffer(kernels.Float32, 16), kernels.NewHostBuffer(kernels.Float32, 16), kernels.NewHostBuffer(kernels.Float32, 16)}
	lives := func(b kernels.Buffer) bool { return b != bufs[0] }
	var many [5]int
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		any := func() region {
			lo := rng.IntN(16)
			return region{buf: bufs[rng.IntN(len(bufs))], span: span{lo, lo + 1 + rng.IntN(16-lo)}}
		}
		r := &rewriter{lives: lives, uses: map[kernels.Buffer][]int{}, writers: map[kernels.Buffer][]int{}}
		for range 2 + rng.IntN(7) {
			n := &node{}
			for range rng.IntN(3) {
				n.reads = append(n.reads, any())
			}
			for range 1 + rng.IntN(2) {
				g := any()
				n.writes = append(n.writes, g)
				if rng.IntN(2) == 0 {
					n.fills = append(n.fills, span2{g.buf, g.span})
				}
			}
			r.nodes = append(r.nodes, n)
		}
		for _, i := range rng.Perm(len(r.nodes)) {
			r.note(i)
			if rng.IntN(4) == 0 {
				r.note(i)
			}
		}
		if rng.IntN(2) == 0 {
			r.leave(rng.IntN(len(r.nodes)))
		}
		meets := func(list []region, g region) bool {
			return slices.ContainsFunc(list, func(h region) bool { return h.buf == g.buf && max(h.span.lo, g.span.lo) < min(h.span.hi, g.span.hi) })
		}
		fills := func(n *node, g region) bool {
			return slices.ContainsFunc(n.fills, func(s span2) bool { return s.buf == g.buf && s.lo <= g.span.lo && g.span.hi <= s.hi })
		}
		for range 6 {
			g, i := any(), rng.IntN(len(r.nodes))
			lasts, readers := lives(g.buf), []int(nil)
			for k, over := i+1, false; k < len(r.nodes); k++ {
				if n := r.nodes[k]; n != nil && !over {
					if meets(n.reads, g) {
						readers = append(readers, k)
					}
					if over = fills(n, g); over {
						lasts = false
						many[0]++
					}
				}
			}
			if got := r.readers(&g, i); !slices.Equal(got, readers) {
				t.Fatalf("seed %d: %v read %v, want %v", seed, got, g, readers)
			}
			if got := r.liveOut(&g, i); got != lasts {
				t.Fatalf("seed %d: %v is there after the run: %v", seed, g, got)
			}
			from := rng.IntN(len(r.nodes) + 1)
			to := rng.IntN(len(r.nodes) + 1)
			for way := range 4 {
				reads, writes := way&1 > 0, way&2 > 0
				first := -1
				for k := from; k < to && first < 0; k++ {
					if n := r.nodes[k]; n != nil && (reads && meets(n.reads, g) || writes && meets(n.writes, g)) {
						first = k
						many[1+way]++
					}
				}
				if got := r.firstConflict(&g, from, to, reads, writes); got != first {
					t.Fatalf("seed %d: launch %d meets %v, want %d", seed, got, g, first)
				}
			}
		}
	}
	if slices.Min(append(slices.Clone(many[:1]), many[2:]...)) < 500 {
		t.Errorf("only so many were found: %v", many)
	}
}

// TestRegions: two regions meet where they may have an element in common.
func TestRegions(t *testing.T) {
	a, b := kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	all := func(buf kernels.Buffer, lo, hi int) region { return region{buf: buf, span: span{lo, hi}} }
	other := func(off int) region { // every other of 8
		v := view{a, off, []int{2}}
		return region{buf: a, span: v.span([]int{8}), view: v, dims: []int{8}}
	}
	for _, c := range []struct {
		name string
		g, h region
		want bool
	}{
		{"the same", all(a, 0, 8), all(a, 0, 8), true},
		{"of other memory", all(a, 0, 8), all(b, 0, 8), false},
		{"next to each other", all(a, 0, 8), all(a, 8, 16), false},
		{"one element", all(a, 0, 9), all(a, 8, 16), true},
		{"in turn", other(0), other(1), false},
		{"every other", other(0), other(2), true},
		{"in a gap, as a span", other(0), all(a, 1, 2), true},
	} {
		if c.g.overlaps(&c.h) != c.want || c.h.overlaps(&c.g) != c.want {
			t.Errorf("%s: %v, %v", c.name, c.g.overlaps(&c.h), c.h.overlaps(&c.g))
		}
	}
}
