package catalog

import (
	"slices"

	"github.com/clgrad/clgrad/linalg"
)

// factorised are factorisations of matrices, and what they solve.
var factorised = family{"linalg", []operation{
	{"linalg.Cross", cases{
		"odd":       binary(func(x, y *node) *node { return linalg.Cross(x, y, -2) }),
		"broadcast": binary(func(x, y *node) *node { return linalg.Cross(x, y, -1) }),
		"empty":     binary(func(x, y *node) *node { return linalg.Cross(x, y, 1) }),
		"special":   binary(func(x, y *node) *node { return linalg.Cross(x, y, 0) }),
	}},
	{"linalg.Cholesky", matrixCases(unary(linalg.Cholesky), "lower", "special")},
	{"linalg.Solve", cases{
		"odd":       binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
		"broadcast": binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
		"vectors":   binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
		"one":       binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
		"right":     binary(func(x, y *node) *node { return linalg.Solve(x, y, linalg.SolveOptions{Right: true}) }),
		"views":     binary(func(x, y *node) *node { return linalg.Solve(x.T(), y.T()) }),
		"none":      binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
		"empty":     binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
		"special":   binary(func(x, y *node) *node { return linalg.Solve(x, y) }),
	}},
	{"linalg.SolveTriangular", cases{
		"odd": binary(func(x, y *node) *node { return linalg.SolveTriangular(x, y) }),
		"upper": binary(func(x, y *node) *node {
			return linalg.SolveTriangular(x, y, linalg.TriangularOptions{Upper: true})
		}),
		"unit": binary(func(x, y *node) *node {
			return linalg.SolveTriangular(x, y, linalg.TriangularOptions{Unit: true, Right: true})
		}),
		"empty":   binary(func(x, y *node) *node { return linalg.SolveTriangular(x, y) }),
		"special": binary(func(x, y *node) *node { return linalg.SolveTriangular(x, y) }),
	}},
	{"linalg.Inv", matrixCases(unary(linalg.Inv), "special")},
	{"linalg.Det", matrixCases(unary(linalg.Det), "singular", "large", "special")},
	{"linalg.SlogDet", matrixCases(one2(linalg.SlogDet), "singular", "large", "special")},
	{"linalg.QR", cases{
		"tall":     one2(func(x *node) (q, r *node) { return linalg.QR(x) }),
		"wide":     one2(func(x *node) (q, r *node) { return linalg.QR(x) }),
		"square":   one2(func(x *node) (q, r *node) { return linalg.QR(x.T()) }),
		"complete": one2(func(x *node) (q, r *node) { return linalg.QR(x, linalg.QROptions{Complete: true}) }),
		"empty":    one2(func(x *node) (q, r *node) { return linalg.QR(x) }),
		"zero":     one2(func(x *node) (q, r *node) { return linalg.QR(x) }),
		"special":  one2(func(x *node) (q, r *node) { return linalg.QR(x) }),
	}},
	{"linalg.SVD", cases{
		"tall":   singular,
		"wide":   singular,
		"square": singular,
		"large":  singular,
		"full": func(in []*node) []*node { // beyond the singular values only the space is what it is
			u, s, vh := linalg.SVD(in[0])
			k := s.Shape()[0]
			rest := vh.Slice(-2, k, vh.Shape()[0])
			return []*node{u.Square(), s, rest.T().MatMul(rest)}
		},
		"special": unary(func(x *node) *node {
			_, s, _ := linalg.SVD(x)
			return s
		}),
	}},
	{"linalg.Eigh", cases{
		"odd":   eigen,
		"large": eigen,
		"one":   eigen,
		"special": unary(func(x *node) *node {
			l, _ := linalg.Eigh(x)
			return l
		}),
	}},
}}

// matrixCases are those of a function of square matrices, and more of its own.
func matrixCases(f func(in []*node) []*node, more ...string) cases {
	return under(f, slices.Concat([]string{"odd", "one", "none", "empty"}, more)...)
}

// one2 makes a case of a function of one node with two results.
func one2(f func(x *node) (a, b *node)) func(in []*node) []*node {
	return func(in []*node) []*node {
		a, b := f(in[0])
		return []*node{a, b}
	}
}

// singular is a decomposition in terms that do not depend on signs.
func singular(in []*node) []*node {
	u, s, vh := linalg.SVD(in[0], linalg.SVDOptions{Reduced: true})
	return []*node{u.Square(), s, vh.Square(), u.Mul(vh.Select(-1, 0).Unsqueeze(-2))}
}

func eigen(in []*node) []*node {
	l, v := linalg.Eigh(in[0])
	return []*node{l, v.Square(), v.Mul(v.Select(-2, 0).Unsqueeze(-2))}
}
