"""Sums and extremes over axes."""
from cases import INF, NAN, case, ints, normal, torch

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

for p in (1, 2, 3.5, 0, INF, -INF):
    at = f"p{p}".replace("-", "minus ")
    case("Norm", at, lambda x: torch.linalg.vector_norm(x, p, dim=1), normal(3, 7, 2))
case("Norm", "all", lambda x: torch.linalg.vector_norm(x), normal(3, 1, 5))
case("Norm", "apart", lambda x: torch.linalg.vector_norm(x, 3, dim=(0, 2), keepdim=True), normal(3, 4, 2))
case("Norm", "special", lambda x: torch.linalg.vector_norm(x, 2, dim=1), [[0, 0, -0.0], [3, 0, -4]])
case("Norm", "infinite", lambda x: torch.linalg.vector_norm(x, 2, dim=1), [[INF, 1, 2], [NAN, 0, 1]], grad=False)

reduce = {
    "LogSumExp": torch.logsumexp,
    "Var": lambda x, dim, keepdim=False: torch.var(x, dim, unbiased=True, keepdim=keepdim),
    "Std": lambda x, dim, keepdim=False: torch.std(x, dim, unbiased=True, keepdim=keepdim),
}
for name, f in reduce.items():
    case(name, "all", lambda x: f(x, tuple(range(x.dim()))), normal(3, 1, 7))
    case(name, "last", lambda x: f(x, -1), normal(4, 33))
    case(name, "apart", lambda x: f(x, (0, 2)), normal(3, 5, 2, 2))
    case(name, "kept", lambda x: f(x, (1, -1), keepdim=True), normal(2, 3, 4, 5))
case("LogSumExp", "special", lambda x: torch.logsumexp(x, 1), [[-INF, 1, 2], [100, 100, -1000], [-80, -81, -INF]])
case("LogSumExp", "infinite", lambda x: torch.logsumexp(x, 1), [[INF, 1, 2], [-INF, -INF, -INF], [NAN, 1, INF]], grad=False)
case("LogSumExp", "empty", lambda x: torch.logsumexp(x, 1), normal(3, 0))
case("Var", "special", lambda x: torch.var(x, 1, unbiased=True), [[4096.0, 4097, 4098], [2, 2, 2]])
case("Var", "infinite", lambda x: torch.var(x, 1, unbiased=True), [[INF, 1, 2], [NAN, 1, 2]], grad=False)
case("Var", "population", lambda x: torch.var(x, 0, unbiased=False), normal(5, 3))
case("Var", "empty", lambda x: torch.var(x, 1, unbiased=True), normal(3, 0), grad=False)
case("Std", "special", lambda x: torch.std(x, 1, unbiased=True), [[2.0, 2, 2], [1, 2, 4]])
case("Std", "population", lambda x: torch.std(x, 0, unbiased=False), normal(5, 3))

ties = [[3, 1, 3, 0], [NAN, 5, NAN, -INF], [-0.0, 0.0, -0.0, -1], [INF, INF, -INF, -INF]]
for name, f, arg in (("Max", torch.max, torch.argmax), ("Min", torch.min, torch.argmin)):
    # PyTorch leaves open which of equal elements it names; clgrad names the first.
    case(f"{name}WithIndex", "rows", lambda x: f(x, -1), normal(3, 1, 7))
    case(f"{name}WithIndex", "columns", lambda x: f(x, 0, keepdim=True), normal(33, 3))
    case(f"{name}WithIndex", "special", lambda x: f(x, 1), ties)
    case(f"Arg{name}", "rows", lambda x: arg(x, -1), normal(3, 1, 7))
    case(f"Arg{name}", "all", lambda x: arg(x), normal(3, 5))
    case(f"Arg{name}", "columns", lambda x: arg(x, 0, keepdim=True), normal(33, 3))
    case(f"Arg{name}", "special", lambda x: arg(x, 1), ties)

sparse = ints(-1, 2, 3, 4, 5).astype(float)
for name, f in (
    ("CountNonzero", lambda x, dim: torch.count_nonzero(x, dim)),
    ("Any", lambda x, dim: torch.any(x != 0, dim)),
    ("All", lambda x, dim: torch.all(x != 0, dim)),
):
    case(name, "rows", lambda x: f(x, -1), sparse)
    case(name, "middle", lambda x: f(x, 1), sparse)
    case(name, "ints", lambda x: f(x, 0), ints(0, 2, 5, 3))
    case(name, "special", lambda x: f(x, 1), [[NAN, 0, 0], [-0.0, 0.0, 0.0], [INF, NAN, 1]])
    case(name, "empty", lambda x: f(x, 1), normal(3, 0))

case("Prod", "all", lambda x: torch.prod(x), normal(3, 1, 7))
case("Prod", "last", lambda x: torch.prod(x, -1), normal(4, 33))
case("Prod", "kept", lambda x: torch.prod(x, 1, keepdim=True), normal(2, 3, 4, 5))
case("Prod", "special", lambda x: torch.prod(x, 1), [[0.0, 2, 3], [0, 0, 4], [-0.0, 1, -1], [2, -3, 0.5]])
case("Prod", "infinite", lambda x: torch.prod(x, 1), [[INF, 2, 3], [NAN, 0, 4], [INF, 0, 1]], grad=False)
case("Prod", "empty", lambda x: torch.prod(x, 1), normal(3, 0))

run = {"CumSum": torch.cumsum, "CumProd": torch.cumprod, "LogCumSumExp": torch.logcumsumexp, "CumMax": torch.cummax, "CumMin": torch.cummin}
for name, f in run.items():
    case(name, "rows", lambda x: f(x, -1), normal(3, 1, 37))
    case(name, "columns", lambda x: f(x, 0), normal(33, 3))
    case(name, "middle", lambda x: f(x, 1), normal(2, 5, 17))
    case(name, "empty", lambda x: f(x, 1), normal(3, 0))
    case(name, "infinite", lambda x: f(x, 1), [[1, INF, 2, -INF], [2, NAN, 1, 5], [-INF, -INF, 0, 1]], grad=False)
case("CumSum", "special", lambda x: torch.cumsum(x, 1), [[1e30, 1, -1e30], [0, -0.0, 2]])
case("CumProd", "special", lambda x: torch.cumprod(x, 1), [[2.0, 0, 3, 4], [0, 5, 0, 1]])
case("LogCumSumExp", "special", lambda x: torch.logcumsumexp(x, 1), [[-100.0, 100, 100], [1, -1000, 2]])
case("CumMax", "special", lambda x: torch.cummax(x, 1), [[1.0, 1, 0, 1, 2, 2]])
case("CumMin", "special", lambda x: torch.cummin(x, 1), [[1.0, 1, 2, 1, 0, 0]])

ties = [[3.0, 1, 3, 0, 1], [NAN, 5, NAN, -INF, INF], [-0.0, 0.0, -0.0, -1, 0]]
for descending in (False, True):
    name = "descending" if descending else "ascending"
    case("Sort", name, lambda x: torch.sort(x, dim=-1, descending=descending, stable=True), normal(3, 1, 37))
    case("Sort", f"special {name}", lambda x: torch.sort(x, dim=1, descending=descending, stable=True), ties)
    case("ArgSort", name, lambda x: torch.sort(x, dim=1, descending=descending, stable=True)[1], normal(3, 5, 2))
    case("ArgSort", f"special {name}", lambda x: torch.sort(x, dim=1, descending=descending, stable=True)[1], ties)
case("Sort", "ints", lambda x: torch.sort(x, dim=0, stable=True), ints(-3, 3, 33, 2))
case("TopK", "largest", lambda x: torch.topk(x, 3, dim=-1), normal(3, 1, 37))
case("TopK", "smallest", lambda x: torch.topk(x, 2, dim=0, largest=False), normal(33, 3))
case("TopK", "special", lambda x: torch.topk(x, 3, dim=1), [[3.0, 1, 2, 0, -1], [-INF, 5, NAN, 0, INF]])
mask = lambda x, k, dim: torch.zeros_like(x).scatter(dim, torch.topk(x, k, dim=dim)[1], 1)
case("KeepTopK", "rows", lambda x: x * mask(x, 5, -1), normal(3, 1, 37))
case("KeepTopK", "columns", lambda x: x * mask(x, 2, 0), normal(33, 3))
case("KeepTopK", "special", lambda x: x.masked_fill(mask(x, 2, 1) == 0, 0), [[3.0, 1, 2, -INF], [-1, INF, -2, -3]])
case("Median", "rows", lambda x: torch.median(x, -1), normal(3, 1, 37))
case("Median", "even", lambda x: torch.median(x, 0, keepdim=True), normal(6, 3))
case("Median", "special", lambda x: torch.median(x, 1), [[3.0, NAN, 2, 0], [-INF, 5, INF, 0]])

few = [[2.0, 1, 2, 1, 3], [5, 5, 4, 4, 4], [NAN, 1, NAN, -INF, INF]]
case("Kthvalue", "rows", lambda x: torch.kthvalue(x, 5, dim=-1), normal(3, 1, 17))
case("Kthvalue", "columns", lambda x: torch.kthvalue(x, 2, dim=0), normal(7, 3))
case("Kthvalue", "scalar", lambda x: torch.kthvalue(x, 1, dim=0), normal())
case("Kthvalue", "special", lambda x: torch.kthvalue(x, 4, dim=1), [[3.0, NAN, 2, 0], [-INF, 5, INF, 0]], grad=False)
mode = lambda dim: lambda x: torch.mode(x, dim)[0]  # PyTorch's index is that of any of the elements
case("Mode", "rows", mode(-1), normal(3, 1, 17).round(), grad=False)
case("Mode", "columns", mode(0), normal(33, 3).round(), grad=False)
case("Mode", "scalar", mode(0), normal())
case("Mode", "special", mode(1), [[2.0, 1, 2, 1, 3], [5, 5, 4, 4, 4], [INF, 1, -INF, INF, NAN]], grad=False)
case("Mode", "ints", mode(1), ints(-2, 2, 5, 12).astype("int64"))
for how in ("linear", "lower", "higher", "nearest", "midpoint"):
    case("Quantile", how, lambda x: torch.quantile(x, 0.3, 1, interpolation=how), normal(2, 6, 3))
case("Quantile", "ends", lambda x: (torch.quantile(x, 0.0, -1), torch.quantile(x, 1.0, 0)), normal(3, 7))
case("Quantile", "special", lambda x: torch.quantile(x, 0.5, 1), [[3.0, NAN, 2, 0], [-INF, 5, 1, 0]], grad=False)
case("Quantile", "scalar", lambda x: torch.quantile(x, 0.5, 0), normal())
unique = lambda x: torch.unique(x, return_inverse=True, return_counts=True)
case("Unique", "odd", unique, normal(3, 1, 7).round(), grad=False)
case("Unique", "special", unique, [NAN, 1, INF, NAN, 1, -INF], grad=False)
case("Unique", "ints", unique, ints(-3, 3, 4, 5).astype("int64"))
case("Unique", "one", unique, normal(), grad=False)
case("Unique", "empty", unique, normal(2, 0), grad=False)
case("Bincount", "odd", torch.bincount, ints(0, 9, 33))
case("Bincount", "least", lambda x: torch.bincount(x, minlength=7), ints(0, 4, 5))
case("Bincount", "weights", lambda x, w: torch.bincount(x, w.detach(), minlength=2), ints(0, 6, 17), normal(17))
case("Bincount", "empty", lambda x: torch.bincount(x, minlength=2), ints(0, 4, 0))
case("Histc", "odd", lambda x: torch.histc(x.detach(), 5, -1, 2), normal(3, 7))
case("Histc", "ends", lambda x: torch.histc(x.detach(), 4), normal(17))
case("Histc", "equal", lambda x: torch.histc(x.detach(), 3), [2.0, 2, 2])
case("Histc", "special", lambda x: torch.histc(x.detach(), 4, 0, 4), [NAN, INF, -INF, 0, 4, 3.9, 1, 2, -1e-9])
case("Histc", "empty", lambda x: torch.histc(x.detach(), 2, 0, 1), normal(0))
