"""Matrix products, and layers."""
import torch

from cases import INF, NAN, case, normal

case("MatMul", "odd", torch.matmul, normal(5, 7), normal(7, 3))
case("MatMul", "transposed", lambda a, b: a.T @ b.T, normal(7, 5), normal(3, 7))
case("MatMul", "none", torch.matmul, normal(4, 0), normal(0, 3))
case("MatMul", "empty", torch.matmul, normal(0, 4), normal(4, 3))
case("MatMul", "special", torch.matmul, [[1, INF], [0, 1]], [[1, -2], [0.5, NAN]], grad=False)

case("Linear", "tanh", lambda x, w, b: torch.tanh(x @ w + b), normal(5, 7), normal(7, 3), normal(3))
case("Linear", "plain", lambda x, w: x @ w, normal(5, 7), normal(7, 3))
case("Linear", "special", lambda x, w, b: torch.relu(x @ w + b), [[1, INF], [0, 1]], [[1, -2], [0.5, 3]], [NAN, 1], grad=False)

case("SquaredError", "odd", lambda x, y: ((x - y) ** 2).sum().reshape(()), normal(3, 7), normal(3, 7))
case("SquaredError", "empty", lambda x, y: ((x - y) ** 2).sum(), normal(0, 7), normal(0, 7))
case("SquaredError", "special", lambda x, y: ((x - y) ** 2).sum(), [1, INF], [2, 3], grad=False)

add_outer = lambda c, u, v: c + u.T @ v
case("OuterAccInPlace", "odd", add_outer, normal(5, 3), normal(7, 5), normal(7, 3), grad=False)
case("OuterAccInPlace", "special", add_outer, [[INF, 1], [1, NAN]], [[0.0, 1]], [[INF, 2.0]], grad=False)
