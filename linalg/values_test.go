package linalg

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// off returns the largest element of |x − y|, NaN if one is.
func off(t *testing.T, x, y *node) float64 {
	t.Helper()
	worst := 0.0
	for _, v := range devtest.Float64s(t, x.Sub(y).Value()) {
		worst = math.Max(worst, math.Abs(v))
	}
	return worst
}

// orthonormal returns how far the rows of x are from orthonormal ones.
func orthonormal(t *testing.T, x *node) float64 {
	n := x.Shape()[x.Value().Rank()-2]
	return off(t, x.MatMul(transposed(x)), identity(x, n))
}

// diagonal returns matrices with the elements of s on the diagonal of m rows and n columns.
func diagonal(s *node, m, n int) *node {
	return autograd.Const(tensor.Eye(s.Device(), m, n)).To(s.Type()).Mul(s.Pad([][2]int{{0, n - s.Shape()[s.Value().Rank()-1]}}).Unsqueeze(-2))
}

// TestFactors: products of factors are what was factorised, their vectors are orthonormal, and triangles
// triangular; of matrices of all shapes, of deficient rank, and beyond mostRows.
func TestFactors(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		eps := 0x1p-23
		if d.DefaultType() == tensor.Float64 {
			eps = 0x1p-52
		}
		check := func(name string, e, size float64) {
			t.Helper()
			if !(e <= 40*size*eps) {
				t.Errorf("%s: off by %g ε", name, e/eps)
			}
		}
		one := func(name string, a *node) {
			tensor.Scope(d, func() {
				rank := a.Value().Rank()
				m, n := a.Shape()[rank-2], a.Shape()[rank-1]
				size := float64(max(m, n, 8))
				for _, complete := range []bool{false, true} {
					q, r := QR(a, QROptions{Complete: complete})
					check(name+" QR", off(t, q.MatMul(r), a), size)
					check(name+" Q", orthonormal(t, transposed(q)), size)
					check(name+" R", off(t, r, r.Triu(0)), 0)
					u, s, vh := SVD(a, SVDOptions{Reduced: !complete})
					check(name+" SVD", off(t, u.MatMul(diagonal(s, u.Shape()[rank-1], vh.Shape()[rank-2])).MatMul(vh), a), size)
					check(name+" U", orthonormal(t, transposed(u)), size)
					check(name+" V", orthonormal(t, vh), size)
					if k := s.Shape()[rank-2]; k > 1 {
						check(name+" S", off(t, s.Slice(-1, 1, k).Sub(s.Slice(-1, 0, k-1)).ReLU(), s.Slice(-1, 1, k).MulScalar(0)), 0)
					}
				}
				if m != n {
					return
				}
				l, v := Eigh(symmetricPart(a))
				check(name+" Eigh", off(t, v.MatMul(diagonal(l, n, n)).MatMul(transposed(v)), symmetricPart(a)), size)
				check(name+" eigenvectors", orthonormal(t, transposed(v)), size)
				b := a.MatMul(transposed(a)).Add(identity(a, n).MulScalar(float64(n)))
				c := Cholesky(b)
				check(name+" Cholesky", off(t, c.MatMul(transposed(c)), b)/float64(n), size)
				check(name+" L", off(t, c, c.Tril(0)), 0)
				check(name+" Inv", off(t, Inv(b).MatMul(b), identity(b, n)), 10*size)
				logs := c.Diagonal(0, -2, -1).Log().Sum(-1).MulScalar(2)
				sign, log := SlogDet(b)
				check(name+" SlogDet", off(t, log, logs)/float64(4*n), size)
				check(name+" sign", off(t, sign, sign.MulScalar(0).AddScalar(1)), 0)
			})
		}
		rng := tensor.NewRNG(1)
		for _, shape := range [][]int{{1, 1}, {3, 3}, {2, 5, 3}, {2, 3, 5}, {2, 1, 16, 16}, {33, 20}} {
			a := autograd.Const(rng.Uniform(d, -1, 1, shape...))
			one(fmt.Sprint(shape), a)
			was := mostRows
			mostRows = 0
			one(fmt.Sprint(shape, " on the host"), a)
			mostRows = was
		}
		one("transposed", autograd.Const(rng.Uniform(d, -1, 1, 2, 3, 4)).Transpose(1, 2, 0))
		one("rank 1", autograd.Const(rng.Uniform(d, -1, 1, 2, 6, 1)).MatMul(autograd.Const(rng.Uniform(d, -1, 1, 2, 1, 6))))
		one("zero", autograd.Const(tensor.Zeros(d, 2, 4, 4)))
		one("identity", autograd.Const(tensor.Eye(d, 5, 5)))
		one("ones", autograd.Const(tensor.Full(d, 1, 5, 3)))
		one("tiny", autograd.Const(rng.Uniform(d, -1e-30, 1e-30, 4, 4)))
	})
}
