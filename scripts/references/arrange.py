"""Views and copies that put elements in another place."""
from cases import INF, NAN, case, ints, normal, torch

SPECIAL = [[[NAN] * 3, [INF] * 3, [-INF] * 3, [-0.0] * 3, [1, 2, 3]]] * 2  # [2, 5, 3]
WEIRD = [[NAN, INF, -INF], [-0.0, 1, 2]]
pad = torch.nn.functional.pad

case("autograd.Concat", "odd", lambda *x: torch.cat(x, 1), normal(2, 3, 2), normal(2, 0, 2), normal(2, 5, 2))
case("autograd.Concat", "first", lambda x, y: torch.cat((x.T, y, y), 0), normal(3, 5), normal(2, 3))
case("autograd.Concat", "special", lambda *x: torch.cat(x, -1), WEIRD, [[1.0], [NAN]], grad=False)
case("autograd.Concat", "int32", lambda *x: torch.cat(x), ints(-9, 9, 3), ints(-9, 9, 2))
case("autograd.Stack", "odd", lambda *x: torch.stack(x, 1), normal(2, 3), normal(2, 3), normal(2, 3))
case("autograd.Stack", "last", lambda *x: torch.stack(x, -1), normal(2, 3), normal(2, 3))
case("autograd.Stack", "special", lambda *x: torch.stack(x), NAN, INF, grad=False)
PARTS = {
    "Split": lambda x: x.split(2, 1), "SplitWithSizes": lambda x: x.split_with_sizes((1, 0, 4), -2), "Chunk": lambda x: x.chunk(4, 1),
    "Unbind": lambda x: x.unbind(1),
}
for name, f in PARTS.items():
    case(name, "odd", f, normal(2, 5, 3))
    case(name, "special", f, SPECIAL, grad=False)

case("Squeeze", "all", torch.squeeze, normal(1, 3, 1, 2))
case("Squeeze", "one", lambda x: x.squeeze(-2), normal(1, 3, 1, 2))
case("Squeeze", "none", lambda x: x.squeeze(0), normal(2, 1))
case("Squeeze", "special", torch.squeeze, [[[NAN], [INF]]], grad=False)
case("Unsqueeze", "odd", lambda x: x.unsqueeze(1), normal(3, 5))
case("Unsqueeze", "last", lambda x: x.unsqueeze(-1), normal(0, 5))
case("Unsqueeze", "special", lambda x: x.unsqueeze(0), NAN, grad=False)
case("Flatten", "odd", lambda x: x.flatten(1), normal(2, 3, 1, 5))
case("Flatten", "all", torch.flatten, normal(2, 0, 5))
case("Flatten", "scalar", torch.flatten, normal())
case("Flatten", "special", lambda x: x.T.flatten(), WEIRD, grad=False)
case("Diagonal", "odd", lambda x: x.diagonal(1, 0, 2), normal(3, 2, 5))
case("Diagonal", "below", lambda x: x.diagonal(-2, -1, 0), normal(3, 2, 5))
case("Diagonal", "none", lambda x: x.diagonal(9), normal(3, 5))
case("Diag", "odd", lambda x: torch.diag(x, 2), normal(3))
case("Diag", "below", lambda x: torch.diag(x, -1), normal(3))
case("Diag", "matrix", lambda x: torch.diag(x, 1), normal(3, 5))
case("Diag", "none", lambda x: torch.diag(x, -2), normal(0))
case("Diag", "special", torch.diag, [NAN, INF, -0.0], grad=False)
case("Diagonal", "special", torch.diagonal, WEIRD, grad=False)
case("Unfold", "odd", lambda x: x.unfold(1, 3, 2), normal(2, 8, 3))
case("Unfold", "overlapping", lambda x: x.unfold(-1, 4, 1), normal(2, 7))
case("Unfold", "apart", lambda x: x.unfold(0, 2, 3), normal(9, 2))
case("Unfold", "special", lambda x: x.unfold(0, 2, 1), [NAN, INF, 1, -0.0], grad=False)
case("Tile", "odd", lambda x: x.tile(2, 1, 3), normal(2, 3, 5))
case("Tile", "few", lambda x: x.tile(3), normal(2, 5))
case("Tile", "more", lambda x: x.tile(2, 1, 2), normal(5))
case("Tile", "none", lambda x: x.tile(0, 2), normal(2, 5))
case("Tile", "special", lambda x: x.tile(2), [NAN, INF], grad=False)

MOVED = {
    "MoveDim": lambda x: x.movedim(0, -1), "RepeatInterleave": lambda x: x.repeat_interleave(3, 1), "Roll": lambda x: x.roll(-7, 1),
    "Flip": lambda x: x.flip(0, -1),
}
for name, f in MOVED.items():
    case(name, "odd", f, normal(2, 5, 3))
    case(name, "special", f, SPECIAL, grad=False)

case("Pad", "constant", lambda x: pad(x, (2, 3, 1, 0), value=0.5), normal(2, 3, 5))
case("Pad", "cut", lambda x: pad(x, (0, -1, 3, -2, -1, 2)), normal(2, 3, 5))
case("Pad", "reflect", lambda x: pad(x, (3, 4, 2, 1), mode="reflect"), normal(2, 3, 5))
case("Pad", "replicate", lambda x: pad(x, (5, 9, 2, 0), mode="replicate"), normal(2, 3, 5))
case("Pad", "circular", lambda x: pad(x[None], (0, 5, 3, 1), mode="circular")[0], normal(2, 3, 5))
case("Pad", "special", lambda x: pad(x, (1, 2), mode="reflect"), WEIRD, grad=False)

case("PixelShuffle", "odd", lambda x: torch.pixel_shuffle(x, 2), normal(2, 8, 3, 5))
case("PixelShuffle", "leading", lambda x: torch.pixel_shuffle(x, 3), normal(2, 1, 9, 2, 1))
case("PixelShuffle", "image", lambda x: torch.pixel_shuffle(x.mT, 1), normal(3, 2, 4))
case("PixelShuffle", "empty", lambda x: torch.pixel_shuffle(x, 2), normal(0, 4, 2, 3), grad=False)
case("PixelUnshuffle", "odd", lambda x: torch.pixel_unshuffle(x, 2), normal(2, 3, 4, 6))
case("PixelUnshuffle", "image", lambda x: torch.pixel_unshuffle(x.mT, 3), normal(2, 3, 6))
case("Diff", "odd", lambda x: torch.diff(x, dim=1), normal(2, 5, 3))
case("Diff", "third", lambda x: torch.diff(x, 3), normal(3, 5))
case("Diff", "none", lambda x: torch.diff(x, 4, 0), normal(3, 2))
case("Diff", "ints", lambda x: torch.diff(x, 2), ints(-9, 9, 7).astype("int64"))
case("Diff", "special", torch.diff, [NAN, INF, INF, 1, -INF], grad=False)
