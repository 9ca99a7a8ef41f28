"""Softmax, norms, attention and dropout."""
import torch
import torch.nn.functional as F

from cases import INF, NAN, case, normal

for name, f in {"Softmax": F.softmax, "LogSoftmax": F.log_softmax, "Softmin": F.softmin}.items():
    case(name, "rows", lambda x: f(x, dim=-1), normal(5, 33))
    case(name, "columns", lambda x: f(x, dim=0), normal(7, 5))
    case(name, "middle", lambda x: f(x, dim=1), normal(2, 3, 1, 5))
    case(name, "long", lambda x: f(x, dim=1), 9 * normal(2, 301))
    case(name, "scalar", lambda x: f(x, dim=0), 2.5)
    case(name, "empty", lambda x: f(x, dim=1), normal(0, 3))
    case(name, "large", lambda x: f(x, dim=1), [[1000, 0, 1000], [-1e30, -1e30, -1e30], [1e30, 0, -1e30], [0, -0.0, 700]])
    case(name, "special", lambda x: f(x, dim=1), [[-INF, 0, 1], [1, -2, -INF], [-INF, -INF, 3]] if name != "Softmin" else [[INF, 0, 1], [1, -2, INF], [INF, INF, 3]])
    case(name, "nan", lambda x: f(x, dim=1), [[NAN, 0, 1], [INF, 0, 1], [-INF, -INF, -INF], [INF, INF, -INF]], grad=False)
