package ir_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/irtest"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// sumWithLine is Σ (x + l) along n: each element of l is read n times.
func sumWithLine() *ir.Program {
	b := ir.NewRows("sum_with_line")
	x, l := b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("L", ir.Outer, ir.Inner)
	b.Result("Y", b.Sum(x.Add(l), ir.N))
	return b.Program()
}

// TestDerivedGradients: derived gradients are what central differences say.
func TestDerivedGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		p  *ir.Program
		by string
	}{
		{defs.Softmax(), "X"}, {defs.LogSoftmax(), "X"}, {defs.SoftmaxGrad(), "Y"}, {defs.SoftmaxGrad(), "G"}, {defs.Norm(defs.NormForm{Centred: true}), "X"},
		{defs.Norm(defs.NormForm{}), "X"}, {defs.CrossEntropy(defs.EntropyForm{Logits: true, Smoothing: true}), "X"}, {sumWithLine(), "L"}, {sumWithLine(), "X"},
	} {
		d := c.p.Gradient(c.by)
		v := irtest.Draw(d, rng, 2, 4, 3)
		clear(v.Floats["GMOST"]) // no gradient flows through a maximum
		clear(v.Floats["GLOGSUM"])
		got := v.Run()[0]
		x := v.Floats[c.by]
		total := func() (sum float64) { // of all results, each element times its gradient
			forward := *v
			forward.Program = c.p
			for k, r := range forward.Run() {
				for i, y := range r {
					sum += y * v.Floats["G"+c.p.Results[k].Name][i]
				}
			}
			return sum
		}
		want := make([]float64, len(x))
		const h = 1e-5
		for i, at := range x {
			x[i] = at + h
			up := total()
			x[i] = at - h
			want[i] = (up - total()) / (2 * h)
			x[i] = at
		}
		irtest.Near(t, d.Name+" by "+c.by, got, want, 1e-7)
	}
}

// TestNoRows: what is no row program is refused.
func TestNoRows(t *testing.T) {
	for want, build := range map[string]func(b *ir.Builder, x *expr.Expr){
		"of elements or of lines": func(b *ir.Builder, x *expr.Expr) { b.Result("Y", b.Input("C", ir.N)) },
		"the index along n alone": func(b *ir.Builder, x *expr.Expr) { b.Result("Y", x.Add(expr.Index(ir.Outer).Real())) },
		"reduces along n":         func(b *ir.Builder, x *expr.Expr) { b.Result("Y", x.Sub(b.Sum(x, ir.Outer))) },
		"elements, lines, or columns": func(b *ir.Builder, x *expr.Expr) {
			b.Result("Y", x.Sub(b.Input("O", ir.Outer)))
		},
	} {
		b := ir.NewRows("wrong")
		build(b, b.Input("X", ir.Outer, ir.N, ir.Inner))
		if _, err := b.Program().Rows(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
