"""Views, copies and conversions."""
from cases import INF, NAN, case, ints, normal, torch

VIEWS = {
    "Reshape": lambda x: x.reshape(2, -1, 3), "Transpose": lambda x: x.permute(2, 0, 1), "Slice": lambda x: x[:, 1:3],
    "Step": lambda x: x[:, ::2], "Select": lambda x: x[:, -1], "Copy": lambda x: x.clone(),
}
for name, f in VIEWS.items():
    case(name, "odd", f, normal(2, 5, 3))
    case(name, "special", f, [[[NAN] * 3, [INF] * 3, [-INF] * 3, [-0.0] * 3, [1, 2, 3]]] * 2, grad=False)
case("T", "odd", lambda x: x.T, normal(2, 5))
case("T", "empty", lambda x: x.T, normal(0, 5))
case("T", "special", lambda x: x.T, [[NAN, INF, 1]], grad=False)
case("Expand", "odd", lambda x: x.expand(4, 2, 3, 5), normal(2, 1, 5))
case("Expand", "none", lambda x: x.expand(0, 5), normal(1, 5))
case("Expand", "special", lambda x: x.expand(2, 3), [[NAN], [INF]], grad=False)
case("To", "int32", lambda x: x.to(torch.int32), [1.5, -1.5, 2.999, -0.0, 1e9])
case("To", "uint8", lambda x: x.to(torch.uint8), [0, 1.5, 254.75, 255])
case("To", "real", lambda x: x.to(torch.float64), ints(-9, 9, 3, 5))

case("GatherRows", "odd", lambda x, i: x[i], normal(5, 3), [4, 0, 0, 2])
case("GatherRows", "none", lambda x, i: x[i], normal(5, 3), ints(0, 5, 0))
case("GatherRows", "special", lambda x, i: x[i], [[NAN, INF], [-INF, 1]], [1, 1, 0], grad=False)

add_rows = lambda x, i, g: x.clone().index_add_(0, i, g)
case("ScatterAddRowsInPlace", "odd", add_rows, normal(5, 3), [4, 0, 0, 2], normal(4, 3), grad=False)
case("ScatterAddRowsInPlace", "special", add_rows, [[INF, NAN], [1, 2]], [0, 1], [[-INF, 1], [NAN, 1]], grad=False)

case("Step", "backwards", lambda x: x.flip(1)[:, ::2], normal(3, 6, 2))
case("Step", "last backwards", lambda x: x.flip(-1), normal(2, 5))
