"""Sums and extremes over axes."""
import torch

from cases import INF, NAN, case, normal

REDUCE = {"Sum": torch.sum, "Mean": torch.mean, "Max": torch.amax, "Min": torch.amin}
for name, f in REDUCE.items():
    case(name, "all", lambda x: f(x, dim=tuple(range(x.dim()))), normal(3, 1, 7))
    case(name, "last", lambda x: f(x, dim=-1), normal(4, 33))
    case(name, "apart", lambda x: f(x, dim=(0, 2)), normal(3, 5, 2, 2))
    case(name, "kept", lambda x: f(x, dim=(1, -1), keepdim=True), normal(2, 3, 4, 5))
    case(name, "special", lambda x: f(x, dim=1), [[INF, 1, 2], [-INF, 1, 2], [1, 1, 0], [2, 2, 2]])
    case(name, "nan", lambda x: f(x, dim=1), [[NAN, 1, 2], [INF, -INF, NAN], [0, -0.0, 1]], grad=False)
    case(name, "none", lambda x: f(x, dim=1), normal(0, 3))
case("Sum", "empty", lambda x: x.sum(1), normal(3, 0))
case("Mean", "empty", lambda x: x.mean(1), normal(3, 0))

case("SumTo", "rows", lambda x: x.sum_to_size(3, 1), normal(2, 3, 4))
case("SumTo", "scalar", lambda x: x.sum(), normal(2, 3))
case("SumTo", "special", lambda x: x.sum_to_size(1, 3), [[INF, NAN, 1], [-INF, 1, 2]])
