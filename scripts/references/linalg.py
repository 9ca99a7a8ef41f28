"""Linear algebra."""
import numpy as np

from cases import INF, NAN, case, normal, torch

linalg = torch.linalg


def definite(*shape):
    a = normal(*shape)
    return a @ a.swapaxes(-1, -2) + 2 * np.eye(shape[-1])


def regular(*shape):
    return normal(*shape) + 3 * np.eye(shape[-1])


case("linalg.Cross", "odd", lambda a, b: linalg.cross(a, b, dim=-2), normal(2, 3, 5), normal(2, 3, 5))
case("linalg.Cross", "broadcast", linalg.cross, normal(2, 1, 3), normal(1, 4, 3))
case("linalg.Cross", "empty", lambda a, b: linalg.cross(a, b, dim=1), normal(0, 3), normal(0, 3))
case("linalg.Cross", "special", lambda a, b: linalg.cross(a, b, dim=0), [INF, 1, 0.0], [2, NAN, 0.5], grad=False)


def square(operation, f, make):
    case(operation, "odd", f, make(2, 5, 5))
    case(operation, "one", f, make(3, 1, 1))
    case(operation, "none", f, normal(2, 0, 0))
    case(operation, "empty", f, normal(0, 3, 3))


square("linalg.Cholesky", linalg.cholesky, definite)
case("linalg.Cholesky", "lower", linalg.cholesky, np.tril(definite(4, 4)))
# PyTorch refuses matrices that are not positive definite.
case("linalg.Cholesky", "special", lambda a: torch.stack([linalg.cholesky(a[0]), torch.full((2, 2), NAN)]),
     [[[4, 2.0], [2, 3]], [[1, 2], [2, 1]]], grad=False)

case("linalg.Solve", "odd", linalg.solve, regular(2, 5, 5), normal(2, 5, 3))
case("linalg.Solve", "broadcast", linalg.solve, regular(2, 1, 3, 3), normal(4, 3, 2))
case("linalg.Solve", "vectors", linalg.solve, regular(2, 4, 4), normal(2, 4))
case("linalg.Solve", "one", linalg.solve, regular(1, 1), normal(1))
case("linalg.Solve", "right", lambda a, b: linalg.solve(a, b, left=False), regular(3, 3), normal(2, 4, 3))
case("linalg.Solve", "views", lambda a, b: linalg.solve(a.T, b.T), regular(4, 4), normal(3, 4))
case("linalg.Solve", "none", linalg.solve, normal(2, 0, 0), normal(2, 0, 3))
case("linalg.Solve", "empty", linalg.solve, normal(0, 3, 3), normal(0, 3, 2))
# PyTorch refuses singular matrices.
case("linalg.Solve", "special", lambda a, b: torch.stack([linalg.solve(a[0], b[0]), torch.full((2, 1), NAN)]),
     [[[0, 2.0], [1, 3]], [[1, 2], [2, 4]]], [[[1.0], [2]], [[1], [2]]], grad=False)

triangular = linalg.solve_triangular
case("linalg.SolveTriangular", "odd", lambda a, b: triangular(a, b, upper=False), regular(2, 5, 5), normal(2, 5, 3))
case("linalg.SolveTriangular", "upper", lambda a, b: triangular(a, b, upper=True), regular(4, 4), normal(3, 4, 1))
case("linalg.SolveTriangular", "unit", lambda a, b: triangular(a, b, upper=False, left=False, unitriangular=True), normal(3, 3), normal(2, 3))
case("linalg.SolveTriangular", "empty", lambda a, b: triangular(a, b, upper=False), normal(2, 0, 0), normal(2, 0, 3))
case("linalg.SolveTriangular", "special", lambda a, b: triangular(a, b, upper=False), [[0, 7.0], [1, 2]], [[1.0], [NAN]], grad=False)

square("linalg.Inv", linalg.inv, regular)
case("linalg.Inv", "special", lambda a: torch.stack([linalg.inv(a[0]), torch.full((2, 2), NAN)]),
     [[[0, 2.0], [1, 3]], [[1, 2], [2, 4]]], grad=False)

square("linalg.Det", linalg.det, normal)
# Of rank 2: PyTorch's gradient is 0 where a pivot is, and clgrad's has the cofactors.
case("linalg.Det", "singular", linalg.det, [[1, 2, 3.0], [0, 0, 0], [2, 3, 5]], grad=False)
case("linalg.Det", "large", linalg.det, regular(2, 17, 17) / 3)
case("linalg.Det", "special", linalg.det, [[[1.0, 2], [NAN, 1]], [[INF, 0], [0, 1]]], grad=False)
square("linalg.SlogDet", linalg.slogdet, normal)
case("linalg.SlogDet", "singular", linalg.slogdet, [[1, 2.0], [2, 4]], grad=False)
case("linalg.SlogDet", "large", linalg.slogdet, 1e40 * normal(17, 17))
case("linalg.SlogDet", "special", linalg.slogdet, [[INF, 0.0], [0, -1]], grad=False)

case("linalg.QR", "tall", linalg.qr, normal(2, 5, 3))
case("linalg.QR", "wide", linalg.qr, normal(2, 3, 5))
case("linalg.QR", "square", lambda a: linalg.qr(a.T), normal(4, 4))
case("linalg.QR", "complete", lambda a: linalg.qr(a, "complete"), normal(5, 3), grad=False)
case("linalg.QR", "empty", linalg.qr, normal(2, 3, 0), grad=False)
case("linalg.QR", "zero", linalg.qr, np.zeros((3, 2)), grad=False)
case("linalg.QR", "special", linalg.qr, [[1.0, 2], [NAN, 3]], grad=False)


def singular(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return u**2, s, vh**2, u * vh[..., :, 0].unsqueeze(-2)


def full(a):
    u, s, vh = linalg.svd(a)
    rest = vh[s.shape[0]:]
    return u**2, s, rest.T @ rest


case("linalg.SVD", "tall", singular, normal(2, 5, 3))
case("linalg.SVD", "wide", singular, normal(3, 5))
case("linalg.SVD", "square", singular, normal(2, 1, 4, 4))
case("linalg.SVD", "large", singular, np.diag(np.arange(1, 18)) + 0.1 * normal(20, 17)[:17])
case("linalg.SVD", "full", full, normal(3, 5), grad=False)
case("linalg.SVD", "special", linalg.svdvals, [[[1, 2.0], [2, 4]], [[0, 0], [0, 0]]], grad=False)


def eigen(a):
    values, v = linalg.eigh(a)
    return values, v**2, v * v[..., 0, :].unsqueeze(-2)


case("linalg.Eigh", "odd", eigen, definite(2, 5, 5))
case("linalg.Eigh", "large", eigen, np.diag(np.arange(17)) + 0.02 * definite(17, 17))
case("linalg.Eigh", "one", eigen, normal(1, 1))
case("linalg.Eigh", "special", linalg.eigvalsh, [[[1, 7.0], [2, 1]], [[0, 0], [0, 0]]], grad=False)
