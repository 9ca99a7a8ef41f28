package expr

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestReplace: a formula of formulas computes what they compute one after the other.
func TestReplace(t *testing.T) {
	f := X(0).Mul(S(0)).Add(X(1).Tanh())
	g := Where(X(0).Lt(S(0)), X(1), X(0).Neg())
	both := g.Replace(func(i int) *Expr {
		if i == 0 {
			return f
		}
		return X(2)
	}, func(i int) *Expr { return S(i + 1) })
	scalars := []float64{0.5, 1.25}
	scalar := func(i int) float64 { return scalars[i] }
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		first := Compile(f).At(func(i int) float64 { return x[i] }, scalar)
		want := Compile(g).At(func(i int) float64 { return []float64{first, x[2]}[i] }, func(int) float64 { return scalars[1] })
		if got := Compile(both).At(func(i int) float64 { return x[i] }, scalar); got != want {
			t.Fatalf("%v: %v, want %v", x, got, want)
		}
	}
	same := X(0).Exp()
	twice := X(0).Mul(X(0)).Replace(func(int) *Expr { return same }, S)
	if n := Compile(twice).Steps(); n != 2 {
		t.Errorf("a formula used twice is computed in %d steps, want 2", n)
	}
	for name, x := range map[string]*Expr{"an int scalar": N(0).Real(), "an operand by index": At(0, Index(0))} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is replaced", name)
				}
			}()
			x.Replace(X, S)
		}()
	}
}

// TestProgramKinds: what is said of programs.
func TestProgramKinds(t *testing.T) {
	for name, c := range map[string]struct {
		x             *Expr
		steps         int
		simple, alike bool
	}{
		"an operand":  {X(0), 0, true, true},
		"a constant":  {C(3), 0, true, true},
		"arithmetic":  {X(0).Mul(S(0)).Add(C(1)), 2, true, true},
		"a choice":    {Where(X(0).Lt(X(1)), X(0), X(1)), 1, true, true},
		"a quotient":  {X(0).Div(X(1)), 1, true, true},
		"a root":      {X(0).Sqrt(), 1, false, true},
		"exp":         {X(0).Exp(), 1, false, false},
		"tanh":        {X(0).Tanh().Neg(), 2, false, false},
		"pow":         {X(0).Pow(X(1)), 1, false, true}, // one element after the other
		"a floor":     {X(0).Floor(), 1, true, true},
		"a remainder": {X(0).Fmod(X(1)), 1, false, true},
	} {
		p := Compile(c.x)
		if p.Steps() != c.steps || p.Simple() != c.simple || p.Alike() != c.alike {
			t.Errorf("%s: %d steps, simple %v, alike %v", name, p.Steps(), p.Simple(), p.Alike())
		}
	}
}

// TestKey: programs have a key in common if they do the same steps, and only then.
func TestKey(t *testing.T) {
	key := func(x ...*Expr) string { return Compile(x...).Key() }
	build := func() *Expr { return X(0).Mul(S(0)).Add(C(1)) }
	if first, again := key(build()), key(build()); first != again {
		t.Error("the same formula has two keys")
	}
	negative := math.Copysign(0, -1)
	seen := map[string]int{}
	for i, x := range [][]*Expr{{build()}, {X(1).Mul(S(0)).Add(C(1))}, {X(0).Mul(S(1)).Add(C(1))}, {X(0).Mul(S(0)).Add(C(2))}, {X(0).Mul(S(0)).Sub(C(1))},
		{C(0)}, {C(negative)}, {X(0)}, {S(0)}, {N(0).Real()}, {Index(0).Real()}, {Index(1).Real()}, {X(0), X(1)}, {X(1), X(0)}, {At(0, Index(0))}, {X(0).Sub(X(1))}, {X(1).Sub(X(0))}} {
		k := key(x...)
		if j, ok := seen[k]; ok {
			t.Errorf("%d and %d have the key %s", j, i, k)
		}
		seen[k] = i
	}
}
