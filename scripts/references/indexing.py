"""What reads and writes elements by index, and what indices and masks are made with."""
import numpy as np

from cases import INF, NAN, case, ints, normal, torch

case("Gather", "odd", lambda x, i: x.gather(1, i), normal(3, 5, 2), ints(0, 5, 3, 7, 2))
case("Gather", "smaller", lambda x, i: x.gather(-1, i), normal(3, 4, 5), ints(0, 5, 2, 3, 9))
case("Gather", "none", lambda x, i: x.gather(0, i), normal(3, 4), ints(0, 3, 0, 4))
case("Gather", "special", lambda x, i: x.gather(0, i), [NAN, INF, -0.0], [1, 1, 0, 2], grad=False)

order = [[[4, 0], [1, 1], [0, 3]], [[2, 2], [3, 0], [1, 4]]]  # no index twice in a line
case("Scatter", "odd", lambda x, i, s: x.scatter(1, i, s), normal(2, 5, 2), order, normal(2, 3, 2))
case("Scatter", "smaller", lambda x, i, s: x.scatter(0, i, s[:2, :2]), normal(4, 3), [[3, 0], [1, 2]], normal(3, 3))
case("Scatter", "special", lambda x, i, s: x.scatter(0, i, s), [1.0, 2, NAN], [2, 0], [INF, NAN], grad=False)
case("ScatterAdd", "odd", lambda x, i, s: x.scatter_add(1, i, s), normal(3, 5, 2), ints(0, 5, 3, 7, 2), normal(3, 7, 2))
case("ScatterAdd", "smaller", lambda x, i, s: x.scatter_add(0, i, s[:6, :2]), normal(4, 3), ints(0, 4, 6, 2), normal(7, 3))
case("ScatterAdd", "long", lambda x, i, s: x.scatter_add(0, i, s), normal(17), ints(0, 17, 300), normal(300))
case("ScatterAdd", "special", lambda x, i, s: x.scatter_add(0, i, s), [1.0, 2, NAN], [1, 0, 1], [INF, NAN, -INF], grad=False)

for how in ("sum", "prod", "mean", "min", "max"):
    torchs = {"min": "amin", "max": "amax"}.get(how, how)
    # Index 3 of an axis of 4 is none of them.
    case("ScatterReduce", how, lambda x, i, s: x.scatter_reduce(1, i, s, torchs), normal(3, 4, 2), ints(0, 3, 3, 6, 2), normal(3, 6, 2))
    # PyTorch 1.13 divides by zero in the gradients of a mean and of a product that leave something out.
    case("ScatterReduce", f"new {how}", lambda x, i, s: x.scatter_reduce(1, i, s, torchs, include_self=False), normal(3, 4, 2),
         ints(0, 3, 3, 6, 2), normal(3, 6, 2), grad=how in ("sum", "min", "max"))
case("ScatterReduce", "ties", lambda x, i, s: x.scatter_reduce(1, i, s, "amax"), [[1.0, 2, 3]], [[0, 0, 1, 1, 2]], [[1.0, 1, 3, 3, 0]])
case("ScatterReduce", "zeros", lambda x, i, s: x.scatter_reduce(1, i, s, "prod"), [[1.0, 0, 3, 0]], [[0, 0, 1, 1, 2, 3]], [[0.0, 2, 3, 5, 1, 0]])
case("ScatterReduce", "special", lambda x, i, s: x.scatter_reduce(1, i, s, "amin"), [[1, NAN, INF]], [[0, 0, 1, 2]], [[NAN, 1, 3, -INF]], grad=False)

case("IndexSelect", "odd", lambda x, i: x.index_select(1, i), normal(3, 5, 2), [4, 0, 0, 2, 1, 1])
case("IndexSelect", "last", lambda x, i: x.index_select(-1, i), normal(3, 5), [4, 0, 0])
case("IndexSelect", "none", lambda x, i: x.index_select(0, i), normal(3, 5), ints(0, 3, 0))
case("IndexSelect", "special", lambda x, i: x.index_select(0, i), [NAN, INF], [1, 0, 1], grad=False)
PARTS = {"IndexAdd": torch.index_add, "IndexCopy": torch.index_copy}
for name, f in PARTS.items():
    case(name, "odd", lambda x, i, s: f(x, 1, i, s), normal(3, 5, 2), [4, 0, 2], normal(3, 3, 2))
    case(name, "last", lambda x, i, s: f(x, -1, i, s), normal(3, 5), [4, 0], normal(3, 2))
    case(name, "none", lambda x, i, s: f(x, 0, i, s), normal(3, 5), ints(0, 3, 0), normal(0, 5))
    case(name, "special", lambda x, i, s: f(x, 0, i, s), [NAN, 1, 2], [1, 0], [INF, -INF], grad=False)
case("IndexFill", "odd", lambda x, i: x.index_fill(1, i, 2.5), normal(3, 5, 2), [4, 0, 4])
case("IndexFill", "special", lambda x, i: x.index_fill(0, i, -1), [NAN, INF, 1], [0], grad=False)

case("Index", "one", lambda x, i: x[i], normal(4, 3), [[3, -1], [-4, 0]])
case("Index", "two", lambda x, i, j: x[i, j], normal(4, 3, 2), [[3], [-2]], [0, -1, 1])
case("Index", "inner", lambda x, i, j: x[:, i, j], normal(2, 4, 3, 2), [3, 0, 3], [0, -1, 0])
case("Index", "apart", lambda x, i, j: x[i, :, j], normal(4, 3, 2), [3, 0, 3], [0, -1, 0])
case("Index", "special", lambda x, i, j: x[i, j], [[NAN, INF], [-INF, -0.0]], [0, 1, 1], [0, 1, 0], grad=False)
case("IndexPut", "odd", lambda x, i, j, v: x.index_put((i, j), v), normal(4, 3, 2), [[3], [-3]], [0, -1], normal(2, 2))
case("IndexPut", "apart", lambda x, i, j, v: x.index_put((i, torch.arange(3)[:, None], j), v.T), normal(4, 3, 2), [3, 0], [0, -1], normal(2, 3))
case("IndexPut", "sum", lambda x, i, v: x.index_put((torch.arange(2)[:, None], i), v, accumulate=True), normal(2, 4, 3), [3, -1, 0, 3], normal(4, 3))
case("IndexPut", "special", lambda x, i, v: x.index_put((i,), v), [NAN, 1, 2], [0, -1], INF, grad=False)

embedding = torch.nn.functional.embedding
case("Embedding", "odd", lambda x, i: embedding(i, x), normal(5, 3), ints(0, 5, 2, 7))
case("Embedding", "none", lambda x, i: embedding(i, x), normal(5, 3), ints(0, 5, 2, 0))
case("Embedding", "padded", lambda x, i: embedding(i, x, padding_idx=-2), normal(5, 3), ints(0, 5, 2, 7))
case("Embedding", "special", lambda x, i: embedding(i, x), [[NAN, INF], [-0.0, 1]], [1, 0, 1], grad=False)

for name, f in {"Tril": torch.tril, "Triu": torch.triu}.items():
    case(name, "odd", lambda x: f(x, 1), normal(2, 3, 5))
    case(name, "below", lambda x: f(x, -2), normal(5, 3))
    case(name, "special", f, [[NAN, INF, 1], [INF, -INF, NAN]], grad=False)
case("OneHot", "odd", lambda x: torch.nn.functional.one_hot(x, 5), ints(0, 5, 2, 3))
case("OneHot", "scalar", lambda x: torch.nn.functional.one_hot(x, 5), ints(0, 5))
case("OneHot", "none", lambda x: torch.nn.functional.one_hot(x, 5), ints(0, 5, 0, 2))

case("tensor.Arange", "odd", lambda x: torch.arange(-1.5, 4, 0.75), 0.0)
case("tensor.Arange", "special", lambda x: torch.arange(3.0, -2, -1), 0.0)
case("tensor.ArangeOf", "odd", lambda x: torch.arange(-7, 30, 4, dtype=torch.int32), 0.0)
case("tensor.ArangeOf", "special", lambda x: torch.arange(255, -1, -51, dtype=torch.uint8), 0.0)
case("tensor.Linspace", "odd", lambda x: torch.linspace(-1, 3, 7), 0.0)
case("tensor.Linspace", "special", lambda x: torch.linspace(5, 5, 1), 0.0)
case("tensor.Eye", "odd", lambda x: torch.eye(3, 5), 0.0)
case("tensor.Eye", "special", lambda x: torch.eye(2, 0), 0.0)
case("autograd.Meshgrid", "odd", lambda *x: torch.meshgrid(*x, indexing="ij"), normal(3), normal(1), normal(4))
case("autograd.Meshgrid", "scalar", lambda *x: torch.meshgrid(*x, indexing="ij"), normal(3), normal())
case("autograd.Meshgrid", "special", lambda *x: torch.meshgrid(*x, indexing="ij"), [NAN, INF], normal(0), grad=False)

case("NonZero", "odd", torch.nonzero, normal(3, 4, 2).round(), grad=False)
case("NonZero", "special", torch.nonzero, [[NAN, 0, INF], [-0.0, 0, -1]], grad=False)
case("NonZero", "ints", torch.nonzero, ints(-1, 2, 17))
case("NonZero", "scalar", torch.nonzero, normal(), grad=False)
case("NonZero", "empty", torch.nonzero, normal(2, 0), grad=False)
order = [-2.0, -0.5, -0.5, 0, 1, INF]
for right in (False, True):
    name = "right" if right else "left"
    case("SearchSorted", f"list {name}", lambda s, v: torch.searchsorted(s, v, right=right), order, [[-3.0, -0.5, 0.2], [INF, -INF, 9]], grad=False)
    case("SearchSorted", f"rows {name}", lambda s, v: torch.searchsorted(s, v, right=right), np.sort(normal(2, 3, 9)),
         normal(2, 3, 5), grad=False)
    case("SearchSorted", f"ints {name}", lambda s, v: torch.searchsorted(s, v, right=right), np.sort(ints(-5, 5, 12)), ints(-6, 6, 4, 5))
case("SearchSorted", "empty", torch.searchsorted, normal(0), normal(3), grad=False)
case("SearchSorted", "scalar", lambda s, v: torch.bucketize(v, s), order, 0.3, grad=False)
case("tensor.LinspaceOf", "ints", lambda x: torch.linspace(-7, 12, 9, dtype=torch.int64), 0.0)
case("tensor.LinspaceOf", "one", lambda x: torch.linspace(3, 12, 1, dtype=torch.int64), 0.0)
case("tensor.LinspaceOf", "floats", lambda x: torch.linspace(-7, 12, 9), 0.0)
case("Multinomial", "replace", lambda x: torch.multinomial(x.detach(), 4, True), [[0.0, 0, 3], [0.5, 0, 0]])
case("Multinomial", "list", lambda x: torch.multinomial(x.detach(), 1), [0.0, 0, 2, 0])
case("Bernoulli", "certain", lambda x: torch.bernoulli(x.detach()), [[0.0, 1, 1], [1, 0, 0]])
bag = torch.nn.functional.embedding_bag
for mode in ("mean", "sum", "max"):
    case("autograd.EmbeddingBag", f"{mode} bags", lambda x, i: bag(i, x, mode=mode), normal(7, 3), ints(0, 7, 4, 5))
    case("autograd.EmbeddingBag", f"{mode} offsets", lambda x, i, o: bag(i, x, o, mode=mode), normal(7, 3), ints(0, 7, 9), [0, 2, 2, 5])
case("autograd.EmbeddingBag", "weights", lambda x, i, o, w: bag(i, x, o, mode="sum", per_sample_weights=w), normal(7, 3), ints(0, 7, 6), [0, 4], normal(6))
