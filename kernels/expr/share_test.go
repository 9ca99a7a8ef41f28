package expr

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSimplify: what is shared and simplified has the bits of the formula, of NaN, infinite, −0 and
// denormal operands, too.
func TestSimplify(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.3, -7, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -3e-310, math.MaxFloat64, -1e300}
	smaller := 0
	for range 3000 {
		parts := []*Expr{Input(0), Input(1), Input(2), Const(1), Const(-1), Const(0), Const(math.Copysign(0, -1)), Const(3)}
		for range 12 {
			a, b, c := parts[r.IntN(len(parts))], parts[r.IntN(len(parts))], parts[r.IntN(len(parts))]
			parts = append(parts, []*Expr{a.Neg(), a.Neg(), a.Add(b), a.Sub(b), a.Mul(b), a.Div(b), Where(a.Lt(b), b, c), Where(a.Eq(a).Not(), b, c)}[r.IntN(8)])
		}
		f := parts[len(parts)-1]
		s := newTable().share(f)
		if again := newTable().share(s); len(again.sorted()) != len(s.sorted()) {
			t.Fatalf("simplified again it has %d parts, had %d", len(again.sorted()), len(s.sorted()))
		}
		if len(s.sorted()) < len(f.sorted()) {
			smaller++
		}
		want, got := Compile(f), Compile(s)
		for range 40 {
			at := func(int) float64 { return special[r.IntN(len(special))] }
			of := []float64{at(0), at(1), at(2)}
			operand := func(i int) float64 { return of[i] }
			a, b := want.At(operand, nil), got.At(operand, nil)
			if math.Float64bits(a) != math.Float64bits(b) && !(a != a && b != b) {
				t.Fatalf("of %v it is %v, and simplified %v", of, a, b)
			}
		}
	}
	if smaller < 1000 {
		t.Errorf("%d of 3000 random formulas became smaller", smaller)
	}
}

// TestSharedDerivatives: what two orders of derivatives have in common is one formula.
func TestSharedDerivatives(t *testing.T) {
	f := Input(0).Exp().Mul(Input(0).Sin())
	if n := Input(0).Exp().Mul(Input(0).Exp()).Size(); n != 3 {
		t.Errorf("a square has %d parts, want 3: the same formula twice is one", n)
	}
	var sizes []int
	for range 8 {
		f = f.Derivative(0, Const(1))
		sizes = append(sizes, f.Size())
	}
	if n := sizes[7]; n > 40 {
		t.Errorf("the eighth derivative of eˣ·sin x has %d parts; all: %v", n, sizes)
	}
}

// TestOrderOfArguments: a sum and a product are the same formula whichever argument is first, a
// difference and a quotient are not.
func TestOrderOfArguments(t *testing.T) {
	for _, c := range []struct {
		of   func(a, b *Expr) *Expr
		size int
	}{{(*Expr).Add, 4}, {(*Expr).Mul, 4}, {(*Expr).Sub, 5}, {(*Expr).Div, 5}, {(*Expr).Min, 5}} {
		f := c.of(Input(0), Input(1)).Hypot(c.of(Input(1), Input(0)))
		if n := f.Size(); n != c.size {
			t.Errorf("%s and the reverse have %d parts, want %d", primitives[f.args[0].op].name, n, c.size)
		}
	}
}

// TestLongConditions: the text of conditions of conditions grows with their number, and it computes
// what they do.
func TestLongConditions(t *testing.T) {
	c := Input(0).Lt(Input(1))
	for i := range 40 {
		c = c.And(Input(0).Lt(Const(float64(i + 2)))).Or(c.Not().And(Input(1).Lt(Const(float64(i)))))
	}
	for _, width := range []int{1, 4} {
		typ := []string{1: "float", 4: "float4"}[width]
		text := Compile(Where(c, Input(0), Input(1))).Function("f", Types{Vector: typ, Scalar: "float", Width: width}, []int{0, 1}, nil)
		if len(text) > 40*1000 {
			t.Errorf("a formula of 200 conditions has a text of %d bytes", len(text))
		}
		if !strings.Contains(text, "!= ("+typ+")0)") {
			t.Error("no condition has a name")
		}
	}
}
