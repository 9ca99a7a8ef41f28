package replay

import (
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// TestTermsConditions: a sum of few terms is made a map only where all that read it can add them
// up.
func TestTermsConditions(t *testing.T) {
	x, w, y, z := kernels.NewHostBuffer(kernels.Float32, 256), kernels.NewHostBuffer(kernels.Float32, 256), kernels.NewHostBuffer(kernels.Float32, 64), kernels.NewHostBuffer(kernels.Float32, 64)
	type modes = []kernels.Mode
	// sum adds rows of x up, of 8 elements each.
	sum := func(rows int, to kernels.Buffer) capture.Launch {
		l := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(x, 0, 8*rows), kernels.BufferArg(to, 0, 8))
		l.Kernel.Fusions = fused.Fusions{AsElementwise: func([]kernels.Arg, kernels.Target) *operation.Map {
			value, views := expr.Input(0), []kernels.View(nil)
			for k := range rows {
				if views = append(views, viewOf(0, 8*k, 1)); k > 0 {
					value = value.Add(expr.Input(k))
				}
			}
			return mapOf(&kernels.Function{Name: "terms", Value: value}, []int{8}, append(views, viewOf(1, 0, 1))...)
		}}
		return l
	}
	// read is a map of y and rows of w.
	read := func(rows int) capture.Launch {
		value, views := expr.Input(0), []kernels.View{viewOf(0, 0, 1)}
		for k := range rows {
			value, views = value.Mul(expr.Input(k+1)), append(views, viewOf(1, 8*k, 1))
		}
		return saying([]kernels.Op{mapOf(&kernels.Function{Name: "factors", Value: value}, []int{8}, append(views, viewOf(2, 0, 1))...)}, modes{kernels.In, kernels.In, kernels.Out},
			kernels.BufferArg(y, 0, 8), kernels.BufferArg(w, 0, 8*max(rows, 1)), kernels.BufferArg(z, 0, 8))
	}
	set := func(l capture.Launch, change func(l *capture.Launch)) capture.Launch {
		change(&l)
		return l
	}
	scalars := kernels.NewStepScalars(1, func(n []kernels.Arg) error { n[0] = kernels.IntArg(1); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	touch := func(mode kernels.Mode, off, n int) capture.Launch {
		return touching(modes{mode}, kernels.BufferArg(y, off, n))
	}
	byRows := touching(modes{kernels.In, kernels.Out}, kernels.BufferArg(y, 0, 8), kernels.BufferArg(z, 0, 8))
	byRows.Kernel.Fusions = fused.Fusions{Rows: &fused.RowSpec{
		Of: func([]kernels.Arg, kernels.Target) *fused.RowTiling { return &fused.RowTiling{Rows: 1} }}}
	for _, c := range []struct {
		name  string
		step  []capture.Launch
		lives kernels.Buffer
		once  bool
		want  bool
	}{
		{"read by a map", []capture.Launch{sum(3, y), read(1)}, z, false, true},
		{"read by two maps", []capture.Launch{sum(3, y), read(1), read(2)}, z, false, true},
		{"read by rows", []capture.Launch{sum(3, y), byRows}, z, false, true},
		{"done once", []capture.Launch{sum(3, y), read(1)}, z, true, false},
		{"read by nobody", []capture.Launch{sum(3, y), touch(kernels.In, 8, 1)}, z, false, false},
		{"there after the run", []capture.Launch{sum(3, y), read(1)}, y, false, false},
		{"there after the run, and again", []capture.Launch{sum(3, y), read(1), touch(kernels.Out, 0, 8)}, y, false, true},
		{"read by another", []capture.Launch{sum(3, y), read(1), touch(kernels.In, 7, 1)}, z, false, false},
		{"read by another before", []capture.Launch{sum(3, y), touch(kernels.In, 7, 1), read(1)}, z, false, false},
		{"read by rows of which the sizes may change", []capture.Launch{sum(3, y), set(byRows, func(l *capture.Launch) {
			l.Args = append(append([]kernels.Arg(nil), l.Args...), scalars.Arg(0))
		})}, z, false, false},
		{"as many as a map takes", []capture.Launch{sum(4, y), read(4)}, z, false, true},
		{"one more", []capture.Launch{sum(4, y), read(5)}, z, false, false},
		{"too many terms", []capture.Launch{sum(kernels.MapOperands+1, y), byRows}, z, false, false},
		{"no sum", []capture.Launch{set(sum(3, y), func(l *capture.Launch) { l.Kernel.Fusions = nil }), read(1)}, z,
			false, false},
		{"no sum of few terms", []capture.Launch{set(sum(3, y), func(l *capture.Launch) {
			l.Kernel.Fusions = fused.Fusions{AsElementwise: func([]kernels.Arg, kernels.Target) *operation.Map { return nil }}
		}), read(1)}, z, false, false},
		{"nothing to do", []capture.Launch{set(sum(3, y), func(l *capture.Launch) { l.Args[2] = kernels.IntArg(0) }), read(1)}, z, false, false},
		{"sizes that may change", []capture.Launch{set(sum(3, y),
			func(l *capture.Launch) { l.Args = append(l.Args, scalars.Arg(0)) }), read(1)}, z, false, false},
		{"to where its terms are", []capture.Launch{set(sum(3, y), func(l *capture.Launch) {
			l.Args[0] = kernels.BufferArg(y, 0, 24)
			l.Args[1] = kernels.BufferArg(y, 4, 8)
		}), touching(modes{kernels.In}, kernels.BufferArg(y, 30, 1)), set(byRows, func(*capture.Launch) {})}, z, false, false},
		{"a map", []capture.Launch{set(read(1), func(l *capture.Launch) {
			l.Kernel.Fusions = fused.Fusions{AsElementwise: func([]kernels.Arg, kernels.Target) *operation.Map { panic("it is a map") }}
		}), touching(modes{kernels.In}, kernels.BufferArg(z, 0, 1))}, y, false, true},
	} {
		r := rewriterOf(c.step, func(b kernels.Buffer) bool { return b == c.lives }, never)
		r.nodes[0].once = c.once
		sumsToElementwise(r)
		if n := r.nodes[0]; (n.m != nil) != c.want || c.name != "a map" && n.fused != c.want {
			t.Errorf("%s: a map: %v", c.name, n.m != nil)
		}
	}
}
