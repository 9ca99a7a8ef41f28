"""Matrix products, and layers."""
from cases import INF, NAN, case, ints, normal, torch

case("MatMul", "odd", torch.matmul, normal(5, 7), normal(7, 3))
case("MatMul", "transposed", lambda a, b: a.T @ b.T, normal(7, 5), normal(3, 7))
case("MatMul", "none", torch.matmul, normal(4, 0), normal(0, 3))
case("MatMul", "empty", torch.matmul, normal(0, 4), normal(4, 3))
case("MatMul", "special", torch.matmul, [[1, INF], [0, 1]], [[1, -2], [0.5, NAN]], grad=False)
case("MatMul", "batch", torch.matmul, normal(3, 5, 7), normal(3, 7, 2))
case("MatMul", "repeated", torch.matmul, normal(2, 1, 5, 7), normal(3, 7, 2))
case("MatMul", "shared", torch.matmul, normal(3, 2, 5, 7), normal(7, 2))
case("MatMul", "no batch", torch.matmul, normal(3, 0, 5, 7), normal(3, 1, 7, 2))
case("MatMul", "row", torch.matmul, normal(7), normal(3, 7, 2))
case("MatMul", "column", torch.matmul, normal(3, 5, 7), normal(7))
case("MatMul", "both", torch.matmul, normal(7), normal(7))
case("MatMul", "special batch", torch.matmul, [[[1, INF], [0, 1]], [[1, 2], [3, 4]]], [[[1, -2], [0.5, NAN]]], grad=False)
case("MatMul", "heads", lambda q, k: q.transpose(1, 2) @ k.permute(0, 2, 3, 1), normal(2, 5, 3, 7), normal(2, 9, 3, 7))

case("Dot", "odd", torch.dot, normal(7), normal(7))
case("Dot", "empty", torch.dot, normal(0), normal(0))
case("Dot", "special", torch.dot, [1, INF, 2.0], [0.5, 3, NAN], grad=False)

case("Outer", "odd", torch.outer, normal(5), normal(7))
case("Outer", "empty", torch.outer, normal(0), normal(7))
case("Outer", "special", torch.outer, [1, INF, 0], [0.5, NAN, 0], grad=False)

case("TensorDot", "odd", lambda x, w: torch.tensordot(x, w, ([1, 2], [2, 0])), normal(2, 3, 5), normal(5, 4, 3))
case("TensorDot", "outer", lambda x, w: torch.tensordot(x, w, 0), normal(2, 3), normal(5))
case("TensorDot", "all", lambda x, w: torch.tensordot(x, w, 2), normal(2, 3), normal(2, 3))
case("TensorDot", "empty", lambda x, w: torch.tensordot(x, w, 1), normal(2, 0), normal(0, 3))
case("TensorDot", "special", lambda x, w: x @ w.T, [[1, INF], [0, 1]], [[1, -2], [0.5, NAN]], grad=False)


def einsum(equation, *operands, grad=True):
    case("autograd.Einsum", equation, lambda *xs: torch.einsum(equation, *xs), *operands, grad=grad)


einsum("bik,bkj->bij", normal(3, 2, 5), normal(3, 5, 7))
einsum("ij,jk,kl->il", normal(2, 5), normal(5, 3), normal(3, 7))
einsum("ii->i", normal(5, 5))
einsum("ii", normal(5, 5))
einsum("iij->j", normal(3, 3, 5))
einsum("bthd,bshd->bhts", normal(2, 5, 3, 4), normal(2, 7, 3, 4))
einsum("...ij,...jk->...ik", normal(3, 1, 2, 5), normal(4, 5, 3))
einsum("b...,b...->...", normal(3, 5), normal(3, 5))
einsum("bA,Ab", normal(3, 5), normal(5, 3))
einsum("ij->ji", normal(3, 5))
einsum("i,j", normal(3), normal(5))
einsum("ij,ij->", normal(3, 5), normal(3, 5))
einsum("a,a,a->a", normal(5), normal(5), normal(5))
einsum("i...->...", normal(3, 5, 2))
einsum("bi,ijk,bj->bk", normal(3, 5), normal(5, 4, 2), normal(3, 4))
einsum("xy,zy->", normal(3, 5), normal(2, 1))
einsum("ab,cb,db,eb->acde", normal(2, 3), normal(4, 3), normal(5, 3), normal(2, 3))
einsum("ij,k->jk", normal(0, 3), normal(5))
einsum("a,a->", [1, INF], [0.5, 2.0], grad=False)
einsum("ij,jk", [[1, INF], [0, 1]], [[1, -2], [0.5, NAN]], grad=False)
einsum("a,ab,bc,cd,de,ef,fg,gh,h->", normal(2), normal(2, 3), normal(3, 2), normal(2, 4), normal(4, 2), normal(2, 3), normal(3, 2), normal(2, 5), normal(5))
case("autograd.Einsum", "ij,ij->ij", lambda x, y: torch.einsum("ij,ij->ij", x, y), [[1, 2, 3]], [[4, 5, 6]], grad=False)

case("Linear", "tanh", lambda x, w, b: torch.tanh(x @ w + b), normal(5, 7), normal(7, 3), normal(3))
case("Linear", "plain", lambda x, w: x @ w, normal(5, 7), normal(7, 3))
case("Linear", "axes", lambda x, w, b: x.transpose(0, 1) @ w + b, normal(5, 2, 7), normal(7, 3), normal(3))
case("Linear", "vector", lambda x, w, b: x @ w + b, normal(7), normal(7, 3), normal(3))
case("Linear", "special", lambda x, w, b: torch.relu(x @ w + b), [[1, INF], [0, 1]], [[1, -2], [0.5, 3]], [NAN, 1], grad=False)

case("SquaredError", "odd", lambda x, y: ((x - y) ** 2).sum().reshape(()), normal(3, 7), normal(3, 7))
case("SquaredError", "empty", lambda x, y: ((x - y) ** 2).sum(), normal(0, 7), normal(0, 7))
case("SquaredError", "special", lambda x, y: ((x - y) ** 2).sum(), [1, INF], [2, 3], grad=False)

add_outer = lambda c, u, v: c + u.T @ v
case("OuterAccInPlace", "odd", add_outer, normal(5, 3), normal(7, 5), normal(7, 3), grad=False)
case("OuterAccInPlace", "special", add_outer, [[INF, 1], [1, NAN]], [[0.0, 1]], [[INF, 2.0]], grad=False)

case("Trace", "odd", torch.trace, normal(3, 5))
case("Trace", "tall", lambda x: torch.trace(x.T), normal(2, 5))
case("Trace", "empty", torch.trace, normal(0, 5))
case("Trace", "ints", torch.trace, ints(-9, 9, 3, 3))
case("Kron", "odd", torch.kron, normal(2, 3), normal(3, 2))
case("Kron", "ranks", torch.kron, normal(2, 1, 3), normal(4))
case("Kron", "scalar", torch.kron, normal(2, 3), normal())
case("Kron", "empty", torch.kron, normal(0, 3), normal(2, 2))
for p in (1.0, 2.0, 2.5):
    case("Cdist", f"p={p}", lambda x, y: torch.cdist(x, y, p), normal(2, 3, 5), normal(4, 5))
case("Cdist", "max", lambda x, y: torch.cdist(x, y, float("inf")), normal(3, 5), normal(4, 5))
case("Cdist", "same", lambda x, y: torch.cdist(x, y, 2.0), [[1.0, 2], [3, 4]], [[1.0, 2], [0, 4]])

bilinear = torch.nn.functional.bilinear
case("autograd.Bilinear", "odd", bilinear, normal(2, 3, 5), normal(2, 3, 4), normal(6, 5, 4), normal(6))
case("autograd.Bilinear", "one", lambda x, w, k: bilinear(x, w, k), normal(5), normal(4), normal(3, 5, 4))
