package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// mapped returns a launch that is a map of a function: of all views but the last, which is its result.
func mapped(f *kernels.Function, dims []int, at ...view) capture.Launch {
	var views []kernels.View
	var modes []kernels.Mode
	var args []kernels.Arg
	for i, v := range at {
		p := kernels.View{Arg: i, Type: v.buf.DType(), Offset: v.off, Strides: v.strides}
		mode := map[bool]map[kernels.DType]kernels.Mode{
			false: {kernels.Float32: kernels.In, kernels.Int32: kernels.InInts, kernels.Uint8: kernels.InBytes},
			true:  {kernels.Float32: kernels.Out, kernels.Int32: kernels.OutInts, kernels.Uint8: kernels.OutBytes},
		}[i == len(at)-1][p.Type]
		views, modes = append(views, p), append(modes, mode)
		args = append(args, kernels.BufferArg(v.buf, 0, v.buf.Len()))
	}
	return saying([]kernels.Op{mapOf(f, dims, views...)}, modes, args...)
}

// long is a function of so many steps.
func long(steps int) *kernels.Function {
	value := expr.Input(0)
	for range steps {
		value = value.Mul(expr.Input(0))
	}
	return &kernels.Function{Name: "long", Value: value}
}

// TestJoinConditions: two maps are one launch with the results of both where each element is computed as it was, and
// one launch is worth it.
func TestJoinConditions(t *testing.T) {
	const most = joinSmall
	mem := func() kernels.Buffer { return &room{2*most + 64} }
	x, y, z, w, out := mem(), mem(), mem(), mem(), mem()
	lives := func(b kernels.Buffer) bool { return b == out }
	ints := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Int32, 64) }
	bytes := kernels.NewHostBuffer(kernels.Uint8, 64)
	at := func(b kernels.Buffer, off int, strides ...int) view { return view{b, off, strides} }
	line := func(f *kernels.Function, n int, a kernels.Buffer, from int, b kernels.Buffer, to int) capture.Launch {
		return mapped(f, []int{n}, at(a, from, 1), at(b, to, 1))
	}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	negate := line(fn.Neg, 8, x, 0, y, 0)
	grid, tall := []int{2, 4}, []int{4, 2}
	for _, c := range []struct {
		name string
		step []capture.Launch
		want int // launches
	}{
		{"small ones", steps(negate, line(fn.Neg, 8, z, 0, w, 0)), 1},
		{"of other sizes", steps(negate, line(fn.Neg, 9, z, 0, w, 0)), 2},
		{"as large as small ones are", steps(line(fn.Neg, most, x, 0, y, 0), line(fn.Neg, most, z, 0, w, 0)), 1},
		{"larger", steps(line(fn.Neg, most+1, x, 0, y, 0), line(fn.Neg, most+1, z, 0, w, 0)), 2},
		{"larger, of one tensor", steps(line(fn.Neg, most+1, x, 0, y, 0), line(fn.Neg, most+1, x, 0, w, 0)), 1},
		{"larger, of other parts of it", steps(line(fn.Neg, most+1, x, 0, y, 0), line(fn.Neg, most+1, x, 1, w, 0)), 2},
		{"larger, of the other's result", steps(line(fn.Neg, most+1, x, 0, y, 0), line(fn.Neg, most+1, y, 0, w, 0)), 1},
		{"larger, to one tensor", steps(mapped(fn.Neg, []int{most + 1}, at(x, 0, 1), at(y, 0, 2)),
			mapped(fn.Neg, []int{most + 1}, at(z, 0, 1), at(y, 1, 2))), 1},
		{"larger, to one that is there after the run",
			steps(line(fn.Neg, most+1, x, 0, out, 0), line(fn.Neg, most+1, z, 0, out, most+2)), 2},
		{"reals and integers", steps(negate, mapped(fn.Neg, []int{8}, at(ints(), 0, 1), at(ints(), 0, 1))), 2},
		{"in rows of others", steps(mapped(fn.Neg, grid, at(x, 0, 4, 1), at(y, 0, 4, 1)),
			mapped(fn.Neg, tall, at(y, 0, 2, 1), at(w, 0, 3, 1))), 1},
		{"transposed", steps(mapped(fn.Neg, grid, at(x, 0, 4, 1), at(y, 0, 4, 1)),
			mapped(fn.Neg, tall, at(y, 0, 1, 4), at(w, 0, 2, 1))), 2},
		{"of windows that overlap", steps(negate, mapped(fn.Neg, tall, at(y, 0, 1, 1), at(w, 0, 2, 1))), 2},
		{"of the result, at two indices", steps(mapped(fn.Neg, grid, at(x, 0, 4, 1), at(y, 0, 4, 1)),
			mapped(fn.Add, grid, at(y, 0, 4, 1), at(y, 0, 1, 2), at(w, 0, 4, 1))), 2},
		{"over what the former reads", steps(negate, line(fn.Neg, 8, z, 0, x, 0)), 1},
		{"over other elements of it", steps(negate, line(fn.Neg, 8, z, 0, x, 1)), 2},
		{"over what the former writes", steps(negate, line(fn.Neg, 8, z, 0, y, 4)), 2},
		{"beside what the former writes", steps(negate, line(fn.Neg, 8, z, 0, y, 8)), 1},
		{"between what the former writes", steps(mapped(fn.Neg, []int{8}, at(x, 0, 1), at(y, 0, 2)),
			mapped(fn.Neg, []int{8}, at(z, 0, 1), at(y, 1, 2))), 1},
		{"between it, and not exact", steps(mapped(fn.Neg, []int{8}, at(x, 0, 1), at(y, 0, 2)),
			mapped(fn.Exp, []int{8}, at(z, 0, 1), at(y, 1, 2))), 2},
		{"of columns", steps(mapped(fn.Neg, grid, at(x, 0, 16, 2), at(y, 0, 4, 1)),
			mapped(fn.Neg, grid, at(z, 0, 4, 1), at(w, 0, 4, 1))), 2},
		{"of rows that are repeated", steps(mapped(fn.Neg, grid, at(x, 0, 16, 0), at(y, 0, 4, 1)),
			mapped(fn.Neg, grid, at(z, 0, 4, 1), at(w, 0, 4, 1))), 1},
		{"a condition", steps(negate, mapped(fn.Lt, []int{8}, at(x, 0, 1), at(z, 0, 1), at(bytes, 0, 1))), 2},
		{"as many steps as may be", steps(line(long(mostSteps-1), 8, x, 0, y, 0), line(fn.Neg, 8, z, 0, w, 0)), 1},
		{"one more", steps(line(long(mostSteps), 8, x, 0, y, 0), line(fn.Neg, 8, z, 0, w, 0)), 2},
	} {
		nodes, err := rewriteLaunches(only("join"), gpu, c.step, lives, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != c.want {
			t.Errorf("%s: %d launches, want %d", c.name, len(nodes), c.want)
		}
	}
	for _, between := range []int{joinFar - 1, joinFar} {
		step := steps(negate)
		for range between {
			step = append(step, touching([]kernels.Mode{kernels.In}, kernels.BufferArg(out, 0, 1)))
		}
		r := rewriterOf(append(step, line(fn.Neg, 8, z, 0, w, 0)), lives, never)
		if joinMaps(r); (r.nodes[0] == nil) != (between < joinFar) {
			t.Errorf("%d launches between two maps: they are one: %v", between, r.nodes[0] == nil)
		}
	}
}

// TestInlineCost: a map is computed again where that costs less than its result.
func TestInlineCost(t *testing.T) {
	const n = joinSmall + 16
	x, y, z, w, out := &room{4 * n}, &room{4 * n}, &room{4 * n}, &room{4 * n}, &room{16 * n}
	lives := func(b kernels.Buffer) bool { return b != kernels.Buffer(y) }
	at := func(b kernels.Buffer, off int, strides ...int) view { return view{b, off, strides} }
	cheap := &kernels.Function{Name: "cheap", Value: expr.Input(0).Mul(expr.Input(1)).Add(expr.Input(2))}
	three := mapped(cheap, []int{n}, at(x, 0, 1), at(z, 0, 1), at(w, 0, 1), at(y, 0, 1))
	row := mapped(cheap, []int{n}, at(x, 0, 1), at(z, 0, 0), at(w, 0, 0), at(y, 0, 1))
	power := func(steps int) capture.Launch {
		return mapped(long(steps), []int{n}, at(x, 0, 1), at(y, 0, 1))
	}
	exp := func(n int) capture.Launch { return mapped(fn.Exp, []int{n}, at(x, 0, 1), at(y, 0, 1)) }
	read := func(n, to int) capture.Launch { return mapped(fn.Neg, []int{n}, at(y, 0, 1), at(out, to, 1)) }
	repeat := func(times, n int) capture.Launch {
		return mapped(fn.Neg, []int{times, n}, at(y, 0, 0, 1), at(out, 0, n, 1))
	}
	steps := func(list ...capture.Launch) []capture.Launch { return list }
	for _, c := range []struct {
		name string
		step []capture.Launch
		want int // launches
	}{
		{"three operands for two", steps(three, read(n, 0), read(n, n)), 2},
		{"three operands for three", steps(three, read(n, 0), read(n, n), read(n, 2*n)), 4},
		{"one, and two that are repeated, for three", steps(row, read(n, 0), read(n, n), read(n, 2*n)), 3},
		{"two steps, twice", steps(power(2), read(n, 0), read(n, n)), 2},
		{"three steps, twice", steps(power(3), read(n, 0), read(n, n)), 3},
		{"a costly one, once", steps(exp(n), read(n, 0)), 1},
		{"a costly one, twice", steps(exp(n), read(n, 0), read(n, n)), 3},
		{"a small one, twice", steps(exp(64), read(64, 0), read(64, n)), 2},
		{"a costly one, repeated", steps(exp(n), repeat(2, n)), 2},
		{"a small one, repeated", steps(exp(64), repeat(2, 64)), 1},
		{"beside another part of its memory", steps(exp(n),
			mapped(fn.Add, []int{n}, at(y, 0, 1), at(y, n, 1), at(out, 0, 1))), 1},
	} {
		nodes, err := rewriteLaunches(only("inline"), gpu, c.step, lives, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != c.want {
			t.Errorf("%s: %d launches, want %d", c.name, len(nodes), c.want)
		}
	}
}

// TestAlike: a function that has one form for vectors and one for an element is computed in another map only where
// each element stays in a vector, or out of one.
func TestAlike(t *testing.T) {
	a, b := &room{1 << 12}, &room{1 << 12}
	cpu := kernels.Target{CPU: true, Units: 2}
	of := func(f *kernels.Function, off int, dims ...int) *mapping {
		strides := make([]int, len(dims)) // of rows with gaps
		for d, step := len(dims)-1, 1; d >= 0; d-- {
			strides[d] = step
			step = 64
		}
		return &mapping{typ: kernels.Float32, dims: dims, operands: []operand{{view: view{a, off, strides}}},
			results: []result{{f.Value, view{b, 0, strides}}}}
	}
	for _, c := range []struct {
		name     string
		f        *kernels.Function
		target   kernels.Target
		off      [2]int
		was, now []int
		straight bool
		want     bool
	}{
		{"exact", fn.Neg, cpu, [2]int{0, 0}, []int{12}, []int{20}, false, true},
		{"whole vectors", fn.Exp, cpu, [2]int{0, 0}, []int{3, 16}, []int{2, 32}, false, true},
		{"no vectors", fn.Exp, cpu, [2]int{0, 0}, []int{3, 15}, []int{5, 9}, false, true},
		{"no vectors, and whole ones", fn.Exp, cpu, [2]int{0, 0}, []int{3, 15}, []int{3, 16}, false, false},
		{"no vectors, and some", fn.Exp, cpu, [2]int{0, 0}, []int{3, 15}, []int{20}, true, false},
		{"a vector and a rest, at the same place", fn.Exp, cpu, [2]int{0, 0}, []int{3, 20}, []int{5, 20}, true, true},
		{"a vector and a rest, at another", fn.Exp, cpu, [2]int{0, 0}, []int{3, 20}, []int{3, 20}, false, false},
		{"rows of other lengths", fn.Exp, cpu, [2]int{0, 0}, []int{3, 20}, []int{3, 24}, true, false},
		{"aligned", fn.Exp, gpu, [2]int{0, 4}, []int{3, 20}, []int{3, 20}, false, true},
		{"aligned, and not", fn.Exp, gpu, [2]int{0, 1}, []int{3, 20}, []int{3, 20}, true, false},
	} {
		r := &rewriter{target: c.target}
		if got := r.alike(of(c.f, c.off[0], c.was...), of(c.f, c.off[1], c.now...), c.straight); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}

	// Two maps are one launch only where both are computed as they were.
	x, y, z := &room{64 * 64}, &room{64 * 64}, &room{64 * 64}
	for _, c := range []struct {
		was, now *kernels.Function
		rows     [2]int
		want     int // launches
	}{
		{fn.Exp, fn.Neg, [2]int{1, 1}, 1},
		{fn.Exp, fn.Neg, [2]int{1, 3}, 2},
		{fn.Neg, fn.Exp, [2]int{1, 3}, 1}, // which stays in rows of 20
		{fn.Neg, fn.Exp, [2]int{3, 1}, 2},
	} {
		was, now := []int{c.rows[0], 60 / c.rows[0]}, []int{c.rows[1], 60 / c.rows[1]}
		step := []capture.Launch{mapped(c.was, was, view{x, 0, []int{64, 1}}, view{y, 0, []int{was[1], 1}}),
			mapped(c.now, now, view{y, 0, []int{now[1], 1}}, view{z, 0, []int{64, 1}})}
		nodes, err := rewriteLaunches(only("join"), cpu, step, always, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes) != c.want {
			t.Errorf("%s and %s, of %v rows: %d launches, want %d", c.was.Name, c.now.Name, c.rows, len(nodes), c.want)
		}
	}

	// What is read twice is straight only if it is so both times.
	square := []int{20, 20}
	for _, straight := range []bool{false, true} {
		second := view{y, 0, []int{1, 64}}
		if straight {
			second = view{y, 0, []int{64, 1}}
		}
		step := []capture.Launch{mapped(fn.Exp, square, view{x, 0, []int{64, 1}}, view{y, 0, []int{64, 1}}),
			mapped(fn.Add, square, second, view{y, 0, []int{64, 1}}, view{z, 0, []int{64, 1}})}
		nodes, err := rewriteLaunches(only("inline"), cpu, step,
			func(b kernels.Buffer) bool { return b == kernels.Buffer(z) }, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 - btoi(straight); len(nodes) != want {
			t.Errorf("read straight both times: %v: %d launches, want %d", straight, len(nodes), want)
		}
	}
}

// TestMappingConditions: a launch is a map only where its formula says all that it does.
func TestMappingConditions(t *testing.T) {
	memory := func(typ kernels.DType) kernels.Buffer { return kernels.NewHostBuffer(typ, 16) }
	x, y := memory(kernels.Float32), memory(kernels.Float32)
	of := func(f *kernels.Function, codegen bool, at ...view) (m *mapping, why *cause) {
		var views []kernels.View
		var args []kernels.Arg
		for i, v := range at {
			views = append(views, kernels.View{Arg: i, Type: v.buf.DType(), Offset: v.off, Strides: v.strides})
			args = append(args, kernels.BufferArg(v.buf, 0, v.buf.Len()))
		}
		op := mapOf(f, []int{8}, views...)
		op.Codegen = codegen
		return mappingOf(&kernels.Kernel{Name: "k_map"}, args, []kernels.Op{op})
	}
	at := func(b kernels.Buffer, off int, strides ...int) view { return view{b, off, strides} }
	for _, c := range []struct {
		name    string
		f       *kernels.Function
		codegen bool
		at      []view
		want    Reason // "": it is one
	}{
		{"a formula", fn.Exp, true, []view{at(x, 0, 1), at(y, 0, 1)}, ""},
		{"by a kernel of its own", fn.Exp, false, []view{at(x, 0, 1), at(y, 0, 1)}, ReasonRounding},
		{"by one of its own, exact", fn.Neg, false, []view{at(x, 0, 1), at(y, 0, 1)}, ""},
		{"backwards", fn.Neg, true, []view{at(x, 7, -1), at(y, 0, 1)}, ReasonAccess},
		{"backwards to its result", fn.Neg, true, []view{at(x, 0, 1), at(y, 7, -1)}, ReasonAccess},
		{"integers", fn.Neg, true, []view{at(memory(kernels.Int32), 0, 1), at(memory(kernels.Int32), 0, 1)}, ""},
		{"no formula of integers", fn.Exp, true, []view{at(memory(kernels.Int32), 0, 1),
			at(memory(kernels.Int32), 0, 1)}, ReasonTypes},
		{"integers to reals", fn.Identity, false, []view{at(memory(kernels.Int32), 0, 1), at(y, 0, 1)}, ""},
		{"integers to halves", fn.Identity, false,
			[]view{at(memory(kernels.Int32), 0, 1), at(memory(kernels.Float16), 0, 1)}, ReasonRounding},
		{"bytes to halves", fn.Identity, false, []view{at(memory(kernels.Uint8), 0, 1),
			at(memory(kernels.Float16), 0, 1)}, ""},
	} {
		m, why := of(c.f, c.codegen, c.at...)
		if (why == nil) != (c.want == "") || (m == nil) != (why != nil) || why != nil && why.reason != c.want {
			t.Errorf("%s: %v, want %q", c.name, why, c.want)
		}
	}
}

// TestGapsOfResults: a kernel may leave elements of a result as they were only where that has gaps.
func TestGapsOfResults(t *testing.T) {
	x, y := &room{64}, &room{64}
	for _, c := range []struct {
		read, written int // steps
		want          bool
	}{{1, 1, false}, {2, 1, false}, {1, 2, true}} {
		m := &mapping{typ: kernels.Float32, dims: []int{8}, operands: []operand{{view: view{x, 0, []int{c.read}}}},
			results: []result{{fn.Neg.Value, view{y, 0, []int{c.written}}}}}
		if layout, _ := m.layout(gpu); layout.Gaps != c.want {
			t.Errorf("steps of %d and %d: gaps: %v", c.read, c.written, layout.Gaps)
		}
	}
}
