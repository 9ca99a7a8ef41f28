package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/recorder"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// TestTermsConditions: a sum of few terms is made a map only where all that read it can add them up.
func TestTermsConditions(t *testing.T) {
	x, w, y, z := kernels.NewMem(kernels.Float32, 256), kernels.NewMem(kernels.Float32, 256), kernels.NewMem(kernels.Float32, 64), kernels.NewMem(kernels.Float32, 64)
	type modes = []kernels.Mode
	// sum adds rows of x up, of 8 elements each.
	sum := func(rows int, to kernels.Buffer) recorder.Launch {
		l := touching(modes{kernels.In, kernels.Out}, kernels.Vec(x, 0, 8*rows), kernels.Vec(to, 0, 8))
		l.Kernel.Terms = func([]kernels.Arg, kernels.Limits) *kernels.Map {
			value, views := expr.X(0), []kernels.View(nil)
			for k := range rows {
				if views = append(views, viewOf(0, 8*k, 1)); k > 0 {
					value = value.Add(expr.X(k))
				}
			}
			return mapOf(&kernels.Function{Name: "terms", Value: value}, []int{8}, append(views, viewOf(1, 0, 1))...)
		}
		return l
	}
	// read is a map of y and rows of w.
	read := func(rows int) recorder.Launch {
		value, views := expr.X(0), []kernels.View{viewOf(0, 0, 1)}
		for k := range rows {
			value, views = value.Mul(expr.X(k+1)), append(views, viewOf(1, 8*k, 1))
		}
		return saying([]kernels.Operation{mapOf(&kernels.Function{Name: "factors", Value: value}, []int{8}, append(views, viewOf(2, 0, 1))...)}, modes{kernels.In, kernels.In, kernels.Out},
			kernels.Vec(y, 0, 8), kernels.Vec(w, 0, 8*max(rows, 1)), kernels.Vec(z, 0, 8))
	}
	set := func(l recorder.Launch, change func(l *recorder.Launch)) recorder.Launch {
		change(&l)
		return l
	}
	slots := kernels.NewSlots(1, func(n []kernels.Arg) error { n[0] = kernels.I(1); return nil })
	if err := slots.Next(); err != nil {
		t.Fatal(err)
	}
	touch := func(mode kernels.Mode, off, n int) recorder.Launch {
		return touching(modes{mode}, kernels.Vec(y, off, n))
	}
	byRows := touching(modes{kernels.In, kernels.Out}, kernels.Vec(y, 0, 8), kernels.Vec(z, 0, 8))
	byRows.Kernel.Rows = &kernels.Rows{Of: func([]kernels.Arg, kernels.Limits) *kernels.RowsOf { return &kernels.RowsOf{Rows: 1} }}
	for _, c := range []struct {
		name  string
		step  []recorder.Launch
		lives kernels.Buffer
		once  bool
		want  bool
	}{
		{"read by a map", []recorder.Launch{sum(3, y), read(1)}, z, false, true},
		{"read by two maps", []recorder.Launch{sum(3, y), read(1), read(2)}, z, false, true},
		{"read by rows", []recorder.Launch{sum(3, y), byRows}, z, false, true},
		{"done once", []recorder.Launch{sum(3, y), read(1)}, z, true, false},
		{"read by nobody", []recorder.Launch{sum(3, y), touch(kernels.In, 8, 1)}, z, false, false},
		{"there after the run", []recorder.Launch{sum(3, y), read(1)}, y, false, false},
		{"there after the run, and anew", []recorder.Launch{sum(3, y), read(1), touch(kernels.Out, 0, 8)}, y, false, true},
		{"read by another", []recorder.Launch{sum(3, y), read(1), touch(kernels.In, 7, 1)}, z, false, false},
		{"read by another before", []recorder.Launch{sum(3, y), touch(kernels.In, 7, 1), read(1)}, z, false, false},
		{"read by rows of which the sizes may change", []recorder.Launch{sum(3, y), set(byRows, func(l *recorder.Launch) {
			l.Args = append(append([]kernels.Arg(nil), l.Args...), slots.Arg(0))
		})}, z, false, false},
		{"as many as a map takes", []recorder.Launch{sum(4, y), read(4)}, z, false, true},
		{"one more", []recorder.Launch{sum(4, y), read(5)}, z, false, false},
		{"too many terms", []recorder.Launch{sum(kernels.MapOperands+1, y), byRows}, z, false, false},
		{"no sum", []recorder.Launch{set(sum(3, y), func(l *recorder.Launch) { l.Kernel.Terms = nil }), read(1)}, z, false, false},
		{"no sum of few terms", []recorder.Launch{set(sum(3, y), func(l *recorder.Launch) {
			l.Kernel.Terms = func([]kernels.Arg, kernels.Limits) *kernels.Map { return nil }
		}), read(1)}, z, false, false},
		{"nothing to do", []recorder.Launch{set(sum(3, y), func(l *recorder.Launch) { l.Args[2] = kernels.I(0) }), read(1)}, z, false, false},
		{"sizes that may change", []recorder.Launch{set(sum(3, y), func(l *recorder.Launch) { l.Args = append(l.Args, slots.Arg(0)) }), read(1)}, z, false, false},
		{"to where its terms are", []recorder.Launch{set(sum(3, y), func(l *recorder.Launch) {
			l.Args[0] = kernels.Vec(y, 0, 24)
			l.Args[1] = kernels.Vec(y, 4, 8)
		}), touching(modes{kernels.In}, kernels.Vec(y, 30, 1)), set(byRows, func(*recorder.Launch) {})}, z, false, false},
		{"a map", []recorder.Launch{set(read(1), func(l *recorder.Launch) {
			l.Kernel.Terms = func([]kernels.Arg, kernels.Limits) *kernels.Map { panic("it is a map") }
		}), touching(modes{kernels.In}, kernels.Vec(z, 0, 1))}, y, false, true},
	} {
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == c.lives }, never)
		r.nodes[0].once = c.once
		addTerms(r)
		if n := r.nodes[0]; (n.m != nil) != c.want || c.name != "a map" && n.joined != c.want {
			t.Errorf("%s: a map: %v", c.name, n.m != nil)
		}
	}
}
