package ir_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Leaves of the programs of TestVerify: value 0 is of elements, value 1 is the int of each line.
var (
	x     = expr.Input(0)
	label = expr.IntParam(1)
)

// wrong returns a program of x and label, with further values, that stores a formula of elements.
func wrong(result *expr.Expr, values ...ir.Value) *ir.Program {
	return &ir.Program{Name: "wrong", Axes: []string{"outer", "n", "inner"},
		Values:  append([]ir.Value{{Name: "X", Along: ir.Element}, {Name: "T", Int: true, Along: ir.Line}}, values...),
		Results: []ir.Result{{Name: "Y", Value: result, Along: ir.Element}}}
}

// TestVerify: programs that mean nothing are refused, each for what is wrong with it.
func TestVerify(t *testing.T) {
	if err := wrong(x).Verify(); err != nil {
		t.Fatal(err)
	}
	sum := ir.Value{Kind: ir.Sum, Of: x, Over: ir.Column, Along: ir.Line}
	pick := ir.Value{Kind: ir.Pick, Of: x, At: label, Over: ir.Column, Along: ir.Line}
	hot := ir.Value{Kind: ir.OneHot, Of: expr.Const(1), At: label, Over: ir.Column, Along: ir.Element}
	with := func(v ir.Value, change func(v *ir.Value)) *ir.Program {
		change(&v)
		return wrong(x, v)
	}
	results := func(r ...ir.Result) *ir.Program {
		p := wrong(x)
		p.Results = r
		return p
	}
	for _, v := range []ir.Value{sum, pick, hot} {
		if err := with(v, func(*ir.Value) {}).Verify(); err != nil {
			t.Fatal(err)
		}
	}
	two := ir.Set(ir.Outer, ir.N)
	for _, c := range []struct {
		err     string
		program *ir.Program
	}{
		{"value 2 varies along an axis that the space has not", wrong(x, ir.Value{Name: "Z", Along: ir.Set(3)})},
		{"value 2 is no length", wrong(x, ir.Value{Kind: ir.Length})},
		{"value 2 is no length", wrong(x, ir.Value{Kind: ir.Length, Over: ir.Set(3)})},
		{"value 2 is no length", wrong(x, ir.Value{Kind: ir.Length, Over: two})},
		{"value 2 is no length", wrong(x, ir.Value{Kind: ir.Length, Over: ir.Column, Along: ir.Column})},
		{`named "X"`, wrong(x, ir.Value{Name: "X"})},
		{`named "X"`, wrong(x, ir.Value{Kind: ir.Number, Name: "X"})},
		{`named ""`, wrong(x, ir.Value{})},
		{"a is a number, and varies", wrong(x, ir.Value{Kind: ir.Number, Name: "a", Along: ir.Line})},
		{"value 2 is no input of floats by channel", wrong(x, ir.Value{Name: "W", Channel: true, Along: ir.Column})},
		{"value 2 is no input of floats by channel", wrong(x, ir.Value{Name: "W", Channel: true, Int: true, Along: two})},
		{"value 2 is no input of floats by channel", wrong(x, ir.Value{Kind: ir.Number, Name: "W", Channel: true, Along: two})},
		{"value 2 has another type than its formula", with(sum, func(v *ir.Value) { v.Int = true })},
		{"value 2 is of floats, and has a formula of ints", with(sum, func(v *ir.Value) { v.Kind, v.Int, v.Of = ir.MaxNumber, true, expr.Index(ir.N) })},
		{"value 2 has no formula", with(sum, func(v *ir.Value) { v.Of = nil })},
		{"value 2 has no formula", with(pick, func(v *ir.Value) { v.At = nil })},
		{"value 2 has no formula", with(hot, func(v *ir.Value) { v.At = nil })},
		{"value 2 reads value 2, which comes later", with(sum, func(v *ir.Value) { v.Of = x.Add(expr.Input(2)) })},
		{"value 2 reads value 3, which comes later", with(pick, func(v *ir.Value) { v.At = expr.IntParam(3) })},
		{"value 2 reads value 1 as another type", with(sum, func(v *ir.Value) { v.Of = x.Add(expr.Input(1)) })},
		{"value 2 reads value 0 as another type", with(pick, func(v *ir.Value) { v.At = expr.IntParam(0) })},
		{"value 2 reads parameter 0", with(sum, func(v *ir.Value) { v.Of = x.Add(expr.Param(0)) })},
		{"value 2 reads the index along axis 3", with(sum, func(v *ir.Value) { v.Of = x.Add(number(expr.Index(3))) })},
		{"value 2 has another type than its formula", with(sum, func(v *ir.Value) { v.Of = expr.Index(ir.N) })},
		{"value 2 has another type than its formula", with(sum, func(v *ir.Value) { v.Of = x.Lt(expr.Const(0)) })},
		{"value 2 has an index that is no int", with(pick, func(v *ir.Value) { v.At = expr.Const(0) })},
		{"value 2 has an index that is no int", with(hot, func(v *ir.Value) { v.At = expr.Const(0) })},
		{"value 2 has an index along several axes", with(pick, func(v *ir.Value) { v.Over = two })},
		{"value 2 has an index that varies along its axis", with(pick, func(v *ir.Value) { v.At, v.Along = expr.Index(ir.N), ir.Element })},
		{"value 2 varies along [outer n], and says [outer n inner]", with(hot, func(v *ir.Value) { v.At = expr.Index(ir.Outer); v.Over = ir.Column })},
		{"value 2 varies along [outer n inner], and says [outer inner]", with(hot, func(v *ir.Value) { v.Along = ir.Line })},
		{"value 2 varies along [outer n inner], and says [outer n inner]", with(hot, func(v *ir.Value) { v.Of = x })},
		{"value 2 folds an axis that its formula does not vary along", with(sum, func(v *ir.Value) { v.Over = 0 })},
		{"value 2 folds an axis that its formula does not vary along", with(sum, func(v *ir.Value) { v.Of = number(label) })},
		{"value 2 varies along [outer inner], and says [outer]", with(sum, func(v *ir.Value) { v.Along = ir.Set(ir.Outer) })},
		{"value 2 varies along [outer inner], and says [outer n inner]", with(pick, func(v *ir.Value) { v.Along = ir.Element })},
		{"value 2 varies along [outer inner], and says []", with(pick, func(v *ir.Value) { v.Of, v.Along = number(expr.Index(ir.N)), 0 })},
		{"there is no result", results()},
		{`named "X"`, results(ir.Result{Name: "X", Value: x, Along: ir.Element})},
		{`named ""`, results(ir.Result{Value: x, Along: ir.Element})},
		{`named "Y"`, results(ir.Result{Name: "Y", Value: x, Along: ir.Element}, ir.Result{Name: "Y", Value: x, Along: ir.Element})},
		{"Y reads value 2, which comes later", results(ir.Result{Name: "Y", Value: expr.Input(2), Along: ir.Element})},
		{"Y has another type than its formula", results(ir.Result{Name: "Y", Value: label, Along: ir.Line})},
		{"Y has another type than its formula", results(ir.Result{Name: "Y", Value: x.Lt(expr.Const(0)), Along: ir.Element})},
		{"Y varies along [outer n inner], and says [outer inner]", results(ir.Result{Name: "Y", Value: x, Along: ir.Line})},
		{"Y varies along [outer n inner], and says", results(ir.Result{Name: "Y", Value: x, Along: ir.Element | ir.Set(3)})},
		{"Y is no sum of floats over lines", results(ir.Result{Name: "Y", Value: number(label), Along: ir.Column, Summed: true})},
		{"Y is no sum of floats over lines", results(ir.Result{Name: "Y", Value: x, Along: ir.Line, Summed: true})},
		{"Y is no sum of floats over lines", results(ir.Result{Name: "Y", Value: x, Along: ir.Column, Summed: true, Int: true})},
		{"value 2 is no input of floats by set", wrong(x, ir.Value{Name: "W", Set: true, Along: ir.Column})},
		{"value 2 is no input of floats by set", wrong(x, ir.Value{Name: "W", Set: true, Int: true, Along: ir.Line})},
		{"value 2 is no input of floats by set", wrong(x, ir.Value{Name: "W", Set: true, Along: ir.Line},
			ir.Value{Name: "V", Channel: true, Along: two})},
	} {
		if err := c.program.Verify(); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("error %v, want %q", err, c.err)
		}
	}
}

// TestRowsRefused: programs that are none of rows have no steps.
func TestRowsRefused(t *testing.T) {
	for _, c := range []struct {
		err   string
		build func(b *ir.Builder, x *expr.Expr)
	}{
		{"reduces along n", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", b.Sum(x, ir.Outer), ir.Outer, ir.N, ir.Inner) }},
		{"reduces along n", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", x.Mul(b.Length(ir.Outer))) }},
		{"of elements, lines, or columns", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", x.Mul(b.Input("Z", ir.Outer))) }},
		{"an int is of elements or of lines", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", x.Mul(number(b.IntInput("T", ir.N)))) }},
		{"of elements or of lines", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", b.Input("C", ir.N)) }},
		{"of elements or of lines", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", b.Input("S")) }},
		{"has no input by channel or set", func(b *ir.Builder, x *expr.Expr) { b.Parts(); b.Result("Y", x.Mul(b.Channels("W"))) }},
		{"has no input by channel or set", func(b *ir.Builder, x *expr.Expr) { b.Parts(); b.Result("Y", x.Mul(b.Sets("W"))) }},
		{"has no sums over lines", func(b *ir.Builder, x *expr.Expr) { b.Parts(); b.SumOfLines("Y", x) }},
		{"has no sums over lines", func(b *ir.Builder, x *expr.Expr) {
			b.SumOfLines("Y", x.Mul(number(b.IntInput("T", ir.Outer, ir.N, ir.Inner))))
		}},
		{"an int of lines", func(b *ir.Builder, x *expr.Expr) { b.IntResult("Y", x) }},
		{"the index along n alone", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", x.Mul(number(expr.Index(ir.Outer)))) }},
		{"the index along n alone", func(b *ir.Builder, x *expr.Expr) { b.Result("Y", b.Sum(x.Mul(number(expr.Index(ir.Inner))), ir.N)) }},
	} {
		b := ir.NewRows("wrong")
		c.build(b, b.Input("X", ir.Outer, ir.N, ir.Inner))
		if _, err := b.Program().Rows(); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("error %v, want %q", err, c.err)
		}
	}
	b := ir.New("flat", "n")
	b.Result("Y", b.Input("X", 0))
	if _, err := b.Program().Rows(); err == nil || !strings.Contains(err.Error(), "is over [outer, n, inner]") {
		t.Errorf("error %v", err)
	}
}

// number is an int as a number.
func number(n *expr.Expr) *expr.Expr { return n.Float() }
