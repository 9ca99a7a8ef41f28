package linalg

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestMisuse: what no function takes is refused, with the name of the function and what to do.
func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	zeros := func(typ tensor.Type, shape ...int) *node { return autograd.Const(tensor.ZerosOf(d, typ, shape...)) }
	square, tall := zeros(tensor.Float32, 2, 3, 3), zeros(tensor.Float32, 3, 2)
	for want, f := range map[string]func(){
		"linalg: Cholesky: shape mismatch [3 2]: the matrices are square":                          func() { Cholesky(tall) },
		"linalg: Inv: shape mismatch [3 2]: the matrices are square":                               func() { Inv(tall) },
		"linalg: Det: shape mismatch [3]: an operand is a matrix, or a batch of them":              func() { Det(zeros(tensor.Float32, 3)) },
		"linalg: SlogDet: bad element type [2 2]: an operand is of type int32: convert it with To": func() { SlogDet(zeros(tensor.Int32, 2, 2)) },
		"linalg: Eigh: bad element type [2 2]: an operand is of type bfloat16: convert it with To": func() { Eigh(zeros(tensor.BFloat16, 2, 2)) },
		"linalg: SVD: bad element type [2 2]: an operand is of type float16: convert it with To":   func() { SVD(zeros(tensor.Float16, 2, 2)) },
		"linalg: QR: bad value [3 2]: more than one linalg.QROptions":                              func() { QR(tall, QROptions{}, QROptions{}) },
		"linalg: Solve: shape mismatch [2 3 3] [3 2 2]: the sides are":                             func() { Solve(square, zeros(tensor.Float32, 3, 2, 2)) },
		"linalg: Solve: shape mismatch [2 3 3] [3 3 1]: the sides are":                             func() { Solve(square, zeros(tensor.Float32, 3, 3, 1)) },
		"linalg: Solve: bad element type [2 3 3] [3 1]: the sides are of types float32 and float64": func() {
			Solve(square, zeros(tensor.Float64, 3, 1))
		},
		"linalg: SolveTriangular: shape mismatch [3 2]: the matrices are square":                 func() { SolveTriangular(tall, tall) },
		"linalg: Cross: shape mismatch [2 4] [2 4]: axis 1 has three elements in both":           func() { Cross(zeros(tensor.Float32, 2, 4), zeros(tensor.Float32, 2, 4), -1) },
		"linalg: Cross: axis out of range [3] [3]: there is no axis 1":                           func() { Cross(zeros(tensor.Float32, 3), zeros(tensor.Float32, 3), 1) },
		"linalg: Cross: shape mismatch [1 3] [3]: the operands have as many axes":                func() { Cross(zeros(tensor.Float32, 1, 3), zeros(tensor.Float32, 3), -1) },
		"linalg: Cross: bad element type [3]: an operand is of type int64: convert it with To":   func() { Cross(zeros(tensor.Int64, 3), zeros(tensor.Int64, 3), 0) },
		"linalg: Cross: bad element type [3] [3]: the operands are of types float32 and float64": func() { Cross(zeros(tensor.Float32, 3), zeros(tensor.Float64, 3), 0) },
		"linalg: QR: bad value [3 2]: a complete Q of more rows than columns has no gradient": func() {
			q, _ := QR(autograd.Param(tensor.Full(d, 1, 3, 2), "a"), QROptions{Complete: true})
			if err := q.Sum().Backward(); err != nil {
				t.Error(err)
			}
		},
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := tensor.Try(func() { Inv(nil) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("of no node: %v", err)
	}
}

// TestNoResult: a matrix without the result gives NaN for itself alone.
func TestNoResult(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		nan, inf := math.NaN(), math.Inf(1)
		batch := func(bad ...float64) *node {
			return autograd.Const(devtest.New(d, append([]float64{2, 1, 1, 2}, bad...), 2, 2, 2))
		}
		for name, y := range map[string]*node{
			"Cholesky, indefinite": Cholesky(batch(1, 2, 2, 1)),
			"Cholesky, NaN":        Cholesky(batch(nan, 0, 0, 1)),
			"Inv, singular":        Inv(batch(1, 2, 2, 4)),
			"Inv, zero":            Inv(batch(0, 0, 0, 0)),
			"Solve, singular":      Solve(batch(1, 2, 2, 4), batch(1, 2, 3, 4)),
			"SVD, NaN":             nth(SVD(batch(1, nan, 0, 1)))[0],
			"SVD, infinite":        nth(SVD(batch(1, inf, 0, 1)))[1],
			"SVD, V":               nth(SVD(batch(1, -inf, 0, 1)))[2],
			"Eigh, NaN":            nth(Eigh(batch(1, 0, nan, 1)))[0],
			"Eigh, vectors":        nth(Eigh(batch(inf, 0, 0, 1)))[1],
		} {
			v := devtest.Float64s(t, y.Value())
			for i, e := range v {
				if bad := i >= len(v)/2; math.IsNaN(e) != bad {
					t.Errorf("%s: %v", name, v)
					break
				}
			}
		}
		// The upper triangle is not read.
		if v := devtest.Float64s(t, nth(Eigh(batch(1, nan, 0, 1)))[0].Value()); math.IsNaN(v[3]) {
			t.Errorf("Eigh read the upper triangle: %v", v)
		}
	})
}

func nth(xs ...*node) []*node { return xs }

// TestEqualValues: where singular values and eigenvalues are equal, a loss of these alone, or of what does not depend on
// the choice of vectors, has a finite gradient.
func TestEqualValues(t *testing.T) {
	d := devtest.CPU(t)
	for name, f := range map[string]func(x *node) *node{
		"SVD": func(x *node) *node {
			u, s, vh := SVD(x)
			return s.Square().Sum().Add(u.MatMul(diagonal(s, 3, 3)).MatMul(vh).Sum())
		},
		"Eigh": func(x *node) *node {
			l, v := Eigh(x)
			return l.Square().Sum().Add(v.MatMul(diagonal(l, 3, 3)).MatMul(transposed(v)).Sum())
		},
	} {
		x := autograd.Param(tensor.Eye(d, 3, 3), "x")
		if err := f(x).Backward(); err != nil {
			t.Fatal(err)
		}
		for i, g := range devtest.Float64s(t, x.Grad()) {
			// Of Σx² and Σx, as far as vectors of equal values turn nothing.
			want := map[bool]float64{true: 3, false: 0}[i%4 == 0]
			if math.Abs(g-want) > 1e-12 {
				t.Errorf("%s: gradient %d is %v, want %v", name, i, g, want)
			}
		}
	}
}

// TestSingularDeterminant: the gradient is that of the cofactors, also where pivots are 0, and whether or not it has a
// graph. By the gradient from above, the gradient of their sum is that sum.
func TestSingularDeterminant(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, graph := range []bool{false, true} {
			x := autograd.Param(devtest.New(d, []float64{1, 0, 0, 0, 1, 2, 3, 4, 2, 4, 6, 8, 0, 0, 0, 0}, 4, 2, 2), "x")
			seed := autograd.Param(devtest.New(d, []float64{1, 1, 1, 1}), "seed")
			g, err := autograd.Grad(Det(x), []*autograd.Node{x}, autograd.GradOptions{Seed: seed, CreateGraph: graph})
			if err != nil {
				t.Fatal(err)
			}
			check := func(x *autograd.Node, want ...float64) {
				t.Helper()
				for i, g := range devtest.Float64s(t, x.Value()) {
					if !(math.Abs(g-want[i]) <= 1e-5) {
						t.Errorf("with a graph %v: gradient %d is %v, want %v", graph, i, g, want[i])
					}
				}
			}
			check(g[0], 0, 0, 0, 1, 4, -3, -2, 1, 8, -6, -4, 2, 0, 0, 0, 0)
			if !graph {
				continue
			}
			sums, err := autograd.Grad(g[0].Sum(), []*autograd.Node{seed})
			if err != nil {
				t.Fatal(err)
			}
			check(sums[0], 1, 0, 0, 0)
		}
	})
}
