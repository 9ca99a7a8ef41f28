package ir_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/irtest"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// TestGradientRules: derived gradients are what differences of the results say.
func TestGradientRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	programs := []*ir.Program{defs.Norm(defs.NormForm{Centred: true})}
	for i, build := range []func(b *ir.Builder, x, l, c, s, label *expr.Expr){
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) { b.Result("Y", x.Mul(l).Add(c.Mul(s)).Mul(x)) },
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) { // a term that does not vary counts n times
			b.Result("Y", b.Sum(x.Add(l).Add(s).Add(c.Mul(x)), ir.N))
		},
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) { // and one of results, as often as they have it
			b.Result("Y", l.Add(s), ir.Outer, ir.N, ir.Inner)
			b.Result("Z", s.Square(), ir.Outer, ir.Inner)
			b.Result("V", c.Mul(l))
		},
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) {
			b.Result("Y", b.Pick(x.Mul(c).Mul(l), label, ir.N).Mul(s).Add(b.Pick(c, label, ir.N)))
		},
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) {
			hot := b.OneHot(l.Mul(s), label, ir.N)
			b.Result("Y", hot.Mul(x))
		},
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) { // the gradient of a one-hot does not vary
			b.Result("Y", b.Sum(b.OneHot(l.Mul(s), label, ir.N), ir.N).Mul(b.Sum(x.Square(), ir.N)))
		},
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) {
			sum := b.Sum(x.Mul(c), ir.N)
			b.Result("Y", x.Sub(sum).Tanh().Mul(sum).Sub(sum.Mul(s)))
			b.Result("Z", b.Sum(x.Sub(sum).Square().Add(sum).Add(l), ir.N))
		},
		func(b *ir.Builder, x, l, c, s, label *expr.Expr) { // extremes of which no two elements are equal
			b.Result("Y", b.Max(x.Mul(c), ir.N).Mul(s).Sub(b.Min(x.Add(c), ir.N).Square()).Add(l))
		},
	} {
		b := ir.NewRows(fmt.Sprint("rule", i))
		build(b, b.Input("X", ir.Outer, ir.N, ir.Inner), b.Input("L", ir.Outer, ir.Inner), b.Input("C", ir.N), b.Input("S"), b.IntInput("T", ir.Outer, ir.Inner))
		programs = append(programs, b.Program())
	}
	for _, p := range programs {
		var of []string
		for _, v := range p.Values {
			if v.Kind == ir.Input && !v.Int {
				of = append(of, v.Name)
			}
		}
		v := irtest.Draw(p.Gradient(of...), rng, 3, 3, 4)
		got := v.Run()
		forward := *v
		forward.Program = p
		number := func() (sum float64) { // of which the results have the gradients that were drawn
			for k, y := range forward.Run() {
				for i, g := range v.Floats["G"+p.Results[k].Name] {
					sum += g * y[i]
				}
			}
			return sum
		}
		for k, name := range of {
			const step = 1e-4
			at := v.Floats[name]
			for i, was := range at {
				at[i] = was + step
				up := number()
				at[i] = was - step
				want := (up - number()) / (2 * step)
				at[i] = was
				if math.Abs(got[k][i]-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("%s: element %d of D%s is %v, want %v\n%s", p.Name, i, name, got[k][i], want, v.Program)
				}
			}
		}
	}
}

// TestNoGradient: a maximum hands on no gradient, and an input that nothing reads has 0; there is none
// by what is by channel, or no input.
func TestNoGradient(t *testing.T) {
	b := ir.NewRows("max")
	x := b.Input("X", ir.Outer, ir.N, ir.Inner)
	b.Input("Z", ir.Outer, ir.Inner)
	b.Result("Y", b.MaxNumber(x.Mul(x), ir.N))
	v := irtest.Draw(b.Program().Gradient("X", "Z"), rand.New(rand.NewPCG(1, 2)), 2, 3, 1)
	for k, d := range v.Run() {
		irtest.Near(t, v.Program.Results[k].Name, d, make([]float64, []int{6, 2}[k]), 0)
	}
	for name, want := range map[string]string{"W": "or it is by channel", "Q": "has no input Q"} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("by %s: panic %q, want %q", name, r, want)
				}
			}()
			defs.Norm(defs.NormForm{Weights: true}).Gradient(name)
		}()
	}
}
