package expr_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestVectors: every primitive gives with vector loops what it gives with plain ones: the same bits
// where its value is rounded once, else within 8 ULP, at special values and in blocks of odd length
// too, and of angles that are too large for a loop.
func TestVectors(t *testing.T) {
	testVectors[float32](t, 0x1p-23, 0x1p-126)
	testVectors[float64](t, 0x1p-52, 0x1p-1022)
}

func testVectors[T float32 | float64](t *testing.T, eps, normal float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, 1e-40, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 32768, -32769, 1e6, -1e30, 0.5, 2}
	for _, name := range formulaNames {
		c := formulas[name]
		p := expr.Compile(c.f)
		for _, n := range []int{1, 7, 100, 511, expr.Block, p.Block()} {
			in := make([][]T, 3)
			for i := range in {
				in[i] = make([]T, n)
				for k := range in[i] {
					in[i][k] = T(c.lo + rng.Float64()*(c.hi-c.lo))
					if k%9 == 5 {
						in[i][k] = T(special[rng.IntN(len(special))])
					}
				}
			}
			plain, fast := make([]T, n), make([]T, n)
			e := expr.NewEval[T](p)
			e.Scalars(func(int) T { return 0.5 }, func(int) int32 { return 3 })
			e.Run(plain, in)
			e.Vectors(true)
			e.Run(fast, in)
			var inPlace [3][]T
			for i := range in {
				with := slices.Clone(in)
				with[i] = slices.Clone(in[i])
				inPlace[i] = with[i]
				e.Run(inPlace[i], with)
			}
			for k, want := range plain {
				got, off := fast[k], 0.0
				if !p.Exact() {
					off = 8 * eps * max(math.Abs(float64(want)), normal)
				}
				if name == "mixed" { // a difference, of terms up to 8
					off = 64 * eps
				}
				if got != want && !(math.Abs(float64(got-want)) <= off) && (got == got || want == want) {
					t.Errorf("%s of %v: %v with vectors, %v without", name, in[0][k], got, want)
				}
				for i := range in {
					if inPlace[i][k] != got && got == got {
						t.Errorf("%s of %v: %v in place of operand %d, %v elsewhere", name, in[0][k], inPlace[i][k], i, got)
					}
				}
			}
			e.Vectors(false)
			e.Run(fast, in)
			for k, want := range plain {
				if fast[k] != want && want == want {
					t.Fatalf("%s: %v without vectors again, was %v", name, fast[k], want)
				}
			}
		}
	}
}

// TestFMA: x·y + z is rounded once, also where the product lies halfway between two numbers and z
// says to which it goes.
func TestFMA(t *testing.T) {
	e := expr.NewEval[float32](expr.Compile(x.FMA(y, z)))
	const u, v, tiny = 1 + 0x1p-12, 1 + 0x1p-11, 0x1p-60 // u² is halfway between v and the next number
	for _, vectors := range []bool{false, true} {
		e.Vectors(vectors)
		for _, c := range []struct{ x, z, want float32 }{{u, tiny, v + 0x1p-23}, {u, -tiny, v}, {-u, -tiny, -v - 0x1p-23}, {-u, tiny, -v}} {
			out := make([]float32, 1)
			if e.Run(out, [][]float32{{c.x}, {u}, {c.z}}); out[0] != c.want {
				t.Errorf("vectors %v: %v·%v + %v is %v, want %v", vectors, c.x, float32(u), c.z, out[0], c.want)
			}
		}
	}
}

// TestResultsStay: a result that another is made of stays until all are copied.
func TestResultsStay(t *testing.T) {
	e := expr.NewEval[float64](expr.Compile(x.Abs(), x.Abs().Neg().Floor()))
	outs := [][]float64{make([]float64, 2), make([]float64, 2)}
	e.RunAll(outs, [][]float64{{-1.5, 2.5}}, nil)
	if !slices.Equal(outs[0], []float64{1.5, 2.5}) || !slices.Equal(outs[1], []float64{-2, -3}) {
		t.Errorf("%v", outs)
	}
}

// TestLiteral: a number in OpenCL C is exact, and has its sign.
func TestLiteral(t *testing.T) {
	for v, want := range map[float64]string{1.5: "NUM(0x1.8p+00)", -1.5: "(-NUM(0x1.8p+00))", 0: "NUM(0x0p+00)", math.Inf(1): "INFINITY", math.Inf(-1): "(-INFINITY)"} {
		if got := expr.Literal(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	if got := expr.Literal(math.Copysign(0, -1)); got != "(-NUM(0x0p+00))" {
		t.Errorf("−0 is %s", got)
	}
}

// TestUniform: what is made of scalars and constants alone follows the scalars, in values and in
// functions of elements, in numbers and in ints.
func TestUniform(t *testing.T) {
	x, s, n := expr.Input(0), expr.Param(0), expr.IntParam(1)
	scaled := s.Mul(expr.Const(2)).Sub(expr.Const(1)).Abs()
	whole := n.Rem(expr.Const(5)).Float().Mul(s)
	p := expr.Compile(x.Mul(scaled).Add(whole), scaled)
	e := expr.NewEval[float32](p)
	in := make([]float32, 700)
	for i := range in {
		in[i] = float32(i)
	}
	for _, vectors := range []bool{false, true, false} {
		e.Vectors(vectors)
		for k, scalar := range []float32{3, -2, 0.5, float32(math.Inf(1))} {
			e.Scalars(func(int) float32 { return scalar }, func(int) int32 { return int32(k + 6) })
			for _, n := range []int{300, 1, 0, 500} { // a block may be longer than the one before
				outs := [][]float32{make([]float32, n), make([]float32, n)}
				e.RunAll(outs, [][]float32{in[:n]}, nil)
				for i := range n {
					factor := float32(math.Abs(float64(scalar*2 - 1)))
					want := in[i]*factor + float32((k+6)%5)*scalar
					if got := outs[0][i]; got != want && (got == got || want == want) || outs[1][i] != factor {
						t.Fatalf("vectors %v, scalar %v, element %d of %d: %v and %v, want %v and %v", vectors, scalar, i, n, got, outs[1][i], want, factor)
					}
				}
			}
		}
	}
}
