package expr

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestReplace: a formula of formulas computes what they compute one after the other.
func TestReplace(t *testing.T) {
	f := Input(0).Mul(Param(0)).Add(Input(1).Tanh())
	g := Where(Input(0).Lt(Param(0)), Input(1), Input(0).Neg())
	both := g.Replace(func(i int) *Expr {
		if i == 0 {
			return f
		}
		return Input(2)
	}, func(i int) *Expr { return Param(i + 1) })
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
	same := Input(0).Exp()
	twice := Input(0).Mul(Input(0)).Replace(func(int) *Expr { return same }, Param)
	if n := Compile(twice).Steps(); n != 2 {
		t.Errorf("a formula used twice is computed in %d steps, want 2", n)
	}
	for name, x := range map[string]*Expr{"an int scalar": IntParam(0).Float(), "an operand by index": Load(0, Index(0))} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is replaced", name)
				}
			}()
			x.Replace(Input, Param)
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
		"an operand":  {Input(0), 0, true, true},
		"a constant":  {Const(3), 0, true, true},
		"arithmetic":  {Input(0).Mul(Param(0)).Add(Const(1)), 2, true, true},
		"a choice":    {Where(Input(0).Lt(Input(1)), Input(0), Input(1)), 1, true, true},
		"a quotient":  {Input(0).Div(Input(1)), 1, true, true},
		"a root":      {Input(0).Sqrt(), 1, false, true},
		"exp":         {Input(0).Exp(), 1, false, false},
		"tanh":        {Input(0).Tanh().Neg(), 2, false, false},
		"pow":         {Input(0).Pow(Input(1)), 1, false, true}, // one element after the other
		"a floor":     {Input(0).Floor(), 1, true, true},
		"a remainder": {Input(0).Fmod(Input(1)), 1, false, true},
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
	build := func() *Expr { return Input(0).Mul(Param(0)).Add(Const(1)) }
	if first, again := key(build()), key(build()); first != again {
		t.Error("the same formula has two keys")
	}
	negative := math.Copysign(0, -1)
	seen := map[string]int{}
	for i, x := range [][]*Expr{{build()}, {Input(1).Mul(Param(0)).Add(Const(1))}, {Input(0).Mul(Param(1)).Add(Const(1))}, {Input(0).Mul(Param(0)).Add(Const(2))}, {Input(0).Mul(Param(0)).Sub(Const(1))},
		{Const(0)}, {Const(negative)}, {Input(0)}, {Param(0)}, {IntParam(0).Float()}, {Index(0).Float()}, {Index(1).Float()}, {Input(0), Input(1)}, {Input(1), Input(0)}, {Load(0, Index(0))}, {Input(0).Sub(Input(1))}, {Input(1).Sub(Input(0))}} {
		k := key(x...)
		if j, ok := seen[k]; ok {
			t.Errorf("%d and %d have the key %s", j, i, k)
		}
		seen[k] = i
	}
}
