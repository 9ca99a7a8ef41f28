package expr_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestPhilox holds the generator against the known answers of its authors' kat_vectors.
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    string
	}{
		{[4]uint32{}, [2]uint32{}, "[6627e8d5 e169c58d bc57ac4c 9b00dbd8]"},
		{[4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, [2]uint32{^uint32(0), ^uint32(0)}, "[408f276d 41c83b0e a20bc7c6 6d5451fd]"},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, "[d16cfe09 94fdcceb 5001e420 24126ea1]"},
	} {
		if got := fmt.Sprintf("%08x", expr.Philox(c.counter, c.key)); got != c.want {
			t.Errorf("Philox(%x, %x) = %s, want %s", c.counter, c.key, got, c.want)
		}
	}
}

// evalInts computes a formula that is an int, of index 0 from a first one on, with vector loops and
// without.
func evalInts(t *testing.T, n *expr.Expr, first int32, count int, scalars ...int32) []int32 {
	t.Helper()
	plain, fast := indexed[int32](n.Float(), false, int(first), count, scalars...), indexed[int32](n.Float(), true, int(first), count, scalars...)
	if !slices.Equal(plain, fast) {
		t.Errorf("%v with vectors, %v without", fast, plain)
	}
	return plain
}

// indexed computes a formula in T, of index 0 from a first one on.
func indexed[T expr.Number](f *expr.Expr, vectors bool, first, count int, scalars ...int32) []T {
	e := expr.NewEval[T](expr.Compile(f))
	e.Vectors(vectors)
	e.Scalars(func(i int) T { return T(scalars[i]) }, func(i int) int32 { return scalars[i] })
	out := make([]T, count)
	e.RunAll([][]T{out}, nil, func(int) expr.Indices { return expr.Indices{Cols: count, First: first} })
	return out
}

// TestIndexNumbers: indices are numbers rounded once, with vector loops and without, also where
// they are ints beside that.
func TestIndexNumbers(t *testing.T) {
	testIndexNumbers[float32](t)
	testIndexNumbers[float64](t)
	testIndexNumbers[int32](t)
}

func testIndexNumbers[T expr.Number](t *testing.T) {
	i := expr.Index(0)
	for _, vectors := range []bool{false, true} {
		for _, first := range []int{0, 1<<24 - 3, math.MaxInt32 - 90} {
			for name, f := range map[string]*expr.Expr{"alone": i.Float(), "beside ints": i.Float().Add(i.Sub(i).Float())} {
				for k, got := range indexed[T](f, vectors, first, 90) {
					if want := T(first + k); got != want {
						t.Fatalf("%T, vectors %v: index %d %s is %v, want %v", got, vectors, first+k, name, got, want)
					}
				}
			}
		}
	}
	rows := expr.NewEval[T](expr.Compile(i.Float()))
	rows.Vectors(true)
	out := make([]T, 8)
	rows.RunAll([][]T{out}, nil, func(int) expr.Indices { return expr.Indices{Cols: 4, Rows: []int32{7, 9}} })
	if got := fmt.Sprint(out); got != "[7 7 7 7 9 9 9 9]" {
		t.Errorf("%T: rows are %s", out[0], got)
	}
}

// TestChosenInts: a condition of numbers chooses among ints, which stay exact.
func TestChosenInts(t *testing.T) {
	i := expr.Index(0)
	const first = 1<<28 + 1
	third := expr.Where(i.Rem(expr.Const(3)).Float().Eq(expr.Const(0)), i.Add(expr.Const(2)), expr.Const(-7))
	want := make([]int32, 90)
	for k := range want {
		if want[k] = -7; (first+k)%3 == 0 {
			want[k] = int32(first + k + 2)
		}
	}
	if got := evalInts(t, third, first, len(want)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, vectors := range []bool{false, true} {
		for k, got := range indexed[float32](third.Sub(i).Float(), vectors, first, len(want)) {
			if float32(want[k]-first-int32(k)) != got {
				t.Errorf("vectors %v: element %d is %v", vectors, k, got)
			}
		}
	}
}

// TestInts: ints wrap around, and are unsigned where they are divided.
func TestInts(t *testing.T) {
	i, n, m := expr.Index(0), expr.IntParam(0), expr.IntParam(1)
	for name, c := range map[string]struct {
		f       *expr.Expr
		first   int32
		scalars []int32
		want    string
	}{
		"quo":           {i.Quo(n), 5, []int32{3}, "[1 2 2]"},
		"rem":           {i.Rem(n), 5, []int32{3}, "[2 0 1]"},
		"quo by 0":      {i.Quo(n), 5, []int32{0}, "[5 6 7]"},
		"rem by 0":      {i.Rem(n), 5, []int32{0}, "[0 0 0]"},
		"quo unsigned":  {i.Quo(n), -1, []int32{1 << 30}, "[3 0 0]"},
		"quo by -1":     {i.Quo(n), math.MinInt32, []int32{-1}, "[0 0 0]"},
		"rem unsigned":  {i.Rem(n), -1, []int32{10}, "[5 0 1]"},
		"mul high":      {i.MulHigh(n), -1, []int32{100}, "[99 0 0]"},
		"wraps":         {i.Mul(n).Add(m), math.MaxInt32, []int32{2, 1}, "[-1 1 3]"},
		"min, max, abs": {i.Min(n).Max(m).Abs(), -3, []int32{-2, -5}, "[3 2 2]"},
		"constants":     {i.Mul(expr.Const(3)).Neg().Sub(expr.Const(1)), 1, nil, "[-4 -7 -10]"},
	} {
		if got := fmt.Sprint(evalInts(t, c.f, c.first, 3, c.scalars...)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestIntParameter: a scalar that is an int is one in OpenCL C: a float has 24 bits.
func TestIntParameter(t *testing.T) {
	p := expr.Compile(expr.IntParam(1).Float().Mul(expr.Param(0)))
	text := p.Function("f", expr.Types{Vector: "float4", Scalar: "float", Width: 4}, nil, []int{0, 1})
	if head, _, _ := strings.Cut(text, "\n"); head != "static float4 f(float s0, int s1) {" {
		t.Error(head)
	}
}

// TestRandomStreams: neighbours have words of the streams that each of them names.
func TestRandomStreams(t *testing.T) {
	i := expr.Index(0)
	for varying := range 3 {
		args := []*expr.Expr{expr.IntParam(0), expr.IntParam(1), expr.IntParam(2)}
		args[varying] = i
		for k, got := range evalInts(t, expr.Random(expr.Const(1).Add(expr.IntParam(3)), args[0], args[1], args[2]), 0, 9, 7, 8, 9, 0) {
			of := []uint32{7, 8, 9}
			of[varying] = uint32(k)
			if want := expr.Philox([4]uint32{0, of[0]}, [2]uint32{of[1], of[2]})[1]; uint32(got) != want {
				t.Errorf("number 1 of stream %v is %x, want %x", of, uint32(got), want)
			}
		}
	}
}

// TestRandomWords: the words of a stream, across counters, from any index on, and of indices that
// repeat.
func TestRandomWords(t *testing.T) {
	stream := func(n *expr.Expr) *expr.Expr {
		return expr.Random(n, expr.IntParam(0), expr.IntParam(1), expr.IntParam(2))
	}
	word := func(i uint32) int32 {
		return int32(expr.Philox([4]uint32{i / 4, 7}, [2]uint32{11, uint32(1<<32 - 13)})[i%4])
	}
	for _, first := range []int32{0, 1, 6, -3} {
		for i, v := range evalInts(t, stream(expr.Index(0)), first, 300, 7, 11, -13) {
			if want := word(uint32(first + int32(i))); v != want {
				t.Errorf("word %d is %x, want %x", first+int32(i), v, want)
			}
		}
	}
	for i, v := range evalInts(t, stream(expr.Index(0).Quo(expr.Const(6)).Mul(expr.Const(5))), 0, 40, 7, 11, -13) {
		if want := word(uint32(i / 6 * 5)); v != want {
			t.Errorf("word %d is %x, want %x", i/6*5, v, want)
		}
	}
}

// TestSeveral: formulas that share steps give what each gives alone, in numbers and with ints, also
// where one is an operand, a number, the other's part, or the same.
func TestSeveral(t *testing.T) {
	sum := x.Add(expr.Index(1).Float())
	formulas := []*expr.Expr{sum.Mul(y), sum, y, expr.Param(0), sum, expr.Load(2, expr.Index(0).Rem(expr.Const(5))), expr.IntParam(1).Float(), x}
	p := expr.Compile(formulas...)
	const n = 9
	fresh := func() [][]float64 {
		ops := [][]float64{make([]float64, n), make([]float64, n), {10, 11, 12}}
		for i := range n {
			ops[0][i], ops[1][i] = float64(i), float64(3*i-4)
		}
		return ops
	}
	scalar, whole := func(int) float64 { return 0.5 }, func(int) int32 { return 8 }
	index := func(axis int) expr.Indices {
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32((axis + 1) * i)
		}
		return expr.Indices{Cols: 1, Rows: rows}
	}
	outs := make([][]float64, len(formulas))
	operands := fresh()
	for k := range outs {
		outs[k] = make([]float64, n)
	}
	e := expr.NewEval[float64](p)
	e.Scalars(scalar, whole)
	e.RunAll(outs, operands, index)
	for k, f := range formulas {
		one, want := expr.NewEval[float64](expr.Compile(f)), [][]float64{make([]float64, n)}
		one.Scalars(scalar, whole)
		one.RunAll(want, fresh(), index)
		for i := range n {
			in := fresh()
			v, bound := p.BoundOf(k, expr.Leaves{Operand: func(o int) (float64, float64) { return in[o][i], 0 },
				Scalar: func(i int) float64 { return []float64{0.5, 8}[i] }, Index: func(axis int) int { return (axis + 1) * i },
				Element: func(o, at int) float64 {
					if at < len(in[o]) {
						return in[o][at]
					}
					return 0
				}}, 0, 0)
			if outs[k][i] != want[0][i] || v != want[0][i] || bound != 0 {
				t.Errorf("formula %d of %d: %v, alone %v, by BoundOf %v within %v", k, i, outs[k][i], want[0][i], v, bound)
			}
		}
	}
	if want := []float64{10, 11, 12, 0, 0, 10, 11, 12, 0}; fmt.Sprint(outs[5]) != fmt.Sprint(want) {
		t.Errorf("elements by index %v, want %v", outs[5], want)
	}
}

// TestTurns: sine and cosine of multiples of π, in both types, are exact at quarters and close
// elsewhere, however large the argument, and NaN of what is no number.
func TestTurns(t *testing.T) {
	turns[float32](t, 0x1p-23)
	turns[float64](t, 0x1p-52)
}

func turns[T float32 | float64](t *testing.T, eps float64) {
	e := expr.NewEval[T](expr.Compile(x.SinPi(), x.CosPi()))
	s, c := make([]T, 1), make([]T, 1)
	at := func(v T) (float64, float64) {
		e.RunAll([][]T{s, c}, [][]T{{v}}, nil)
		return float64(s[0]), float64(c[0])
	}
	for k, want := range [][2]float64{{0, 1}, {1, 0}, {0, -1}, {-1, 0}} {
		for _, whole := range []float64{0, 2, -2, 1 << 20, -1 << 20} {
			if s, c := at(T(whole + float64(k)/2)); s != want[0] || c != want[1] {
				t.Errorf("at %v: %v and %v, want %v", whole+float64(k)/2, s, c, want)
			}
		}
	}
	for i := range 4000 {
		v := float64(T(float64(i-2000) * 0.000977))
		sin, cos := math.Sincos(math.Pi * v)
		if s, c := at(T(v)); math.Abs(s-sin) > eps*math.Abs(sin)+1e-15 || math.Abs(c-cos) > eps*math.Abs(cos)+1e-15 {
			t.Errorf("at %v: %v and %v, want %v and %v", v, s, c, sin, cos)
		}
		if s, c := at(T(v) * 0x1p40); math.Abs(s*s+c*c-1) > 4*eps {
			t.Errorf("at 2⁴⁰·%v: %v and %v", v, s, c)
		}
	}
	if s, _ := at(-1e-20); !(math.Abs(s/(-1e-20*math.Pi)-1) < 2*eps) {
		t.Errorf("at -1e-20: %v", s)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s, c := at(T(v)); s == s || c == c {
			t.Errorf("at %v: %v and %v", v, s, c)
		}
	}
}

// TestLdexp: powers of two of any size, normal or not.
func TestLdexp(t *testing.T) {
	for _, n := range []int32{0, 1, -1, 63, 64, 999, 1000, 1100, -999, -1000, -1070, -5000, math.MinInt32} {
		for _, v := range []float64{1, -0.75, 0, 0x1p-1000, math.Inf(1)} {
			e := expr.NewEval[float64](expr.Compile(x.Ldexp(expr.IntParam(0))))
			e.Scalars(nil, func(int) int32 { return n })
			out := []float64{0}
			e.Run(out, [][]float64{{v}})
			if want := math.Ldexp(v, int(n)); out[0] != want {
				t.Errorf("%v·2^%d: %v, want %v", v, n, out[0], want)
			}
		}
	}
}

// TestKinds: ints and numbers are not mixed, unless a constant may be either.
func TestKinds(t *testing.T) {
	i := expr.Index(0)
	for want, f := range map[string]func() *expr.Expr{
		"expr: add: takes an int, not operand":                     func() *expr.Expr { return i.Add(x) },
		"expr: add: takes an int, not 0.5":                         func() *expr.Expr { return i.Add(expr.Const(0.5)) },
		"expr: quo: takes an int, not 3e+09":                       func() *expr.Expr { return i.Quo(expr.Const(3e9)) },
		"expr: div: takes a number: see Real, not index":           func() *expr.Expr { return i.Div(x) },
		"expr: lt: takes a number: see Real, not index":            func() *expr.Expr { return i.Lt(expr.Const(1)) },
		"expr: where: takes an int, not operand":                   func() *expr.Expr { return expr.Where(x.Lt(y), i, x) },
		"expr: float: takes an int, not operand":                   func() *expr.Expr { return x.Float() },
		"expr: at: takes an int, not operand":                      func() *expr.Expr { return expr.Load(1, x) },
		"expr: index -1: they count from 0 to 255":                 func() *expr.Expr { return expr.Index(-1) },
		"expr: at 256: they count from 0 to 255":                   func() *expr.Expr { return expr.Load(256, i) },
		"expr: operand 1 is read by index: its gradient is no map": func() *expr.Expr { return expr.Load(1, i).Mul(x).Derivative(1, x) },
		"expr: random: takes a number, not lt":                     func() *expr.Expr { return expr.Random(i, i, i, x.Lt(y)) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
	if d := expr.Load(1, i).Mul(x).Derivative(0, y); fmt.Sprint(d.Gathers()) != "[false true]" {
		t.Errorf("a derivative beside an operand that is read by index: %v", d.Gathers())
	}
}
