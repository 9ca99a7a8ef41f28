"""Cases of operations: what clgrad's tests compare with PyTorch's numbers.

    case("Softmax", "rows", lambda x: torch.softmax(x, -1), normal(3, 5))

notes, under "Softmax.rows":
    in0, in1, …      the operands
    out0, out1, …    the results of the function
    up0, up1, …      the weights of the results in a sum
    grad0, grad1, …  the gradients of that sum by the operands of floats
Operands are arrays or tensors, of float64, int32, uint8 or bool; integers reach the function as
int64, which PyTorch takes for indices.

A case that the file of its family has keeps its numbers. To regenerate one, delete its lines. So a
new case needs PyTorch for itself alone. Without PyTorch it needs a formula:

    import numpy as np
    case("Softshrink", "odd", F.softshrink, normal(3, 7),
         formula=lambda x: np.where(abs(x) > 0.5, x - 0.5 * np.sign(x), 0))

A formula is of NumPy arrays. It is computed in float64, and its gradients are central differences of
the eighth order. They need 1/16 on each side of an operand: a case with infinities, NaN or kinks
nearer than that has grad=False, or is refused. Where PyTorch is there, the formula is compared with it.
"""
import zlib

import numpy as np

NAN, INF = float("nan"), float("inf")
NUMBERS = [INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1e-30, -1e-30, 1e30, -1e30]


class Missing:
    """Stands for PyTorch, and for what a family takes from it, where it is not installed."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __getitem__(self, key):
        return self


try:
    import torch

    torch.set_default_dtype(torch.float64)
    F = torch.nn.functional
    SOURCE = "torch " + torch.__version__.split("+")[0]
except ImportError:
    torch = F = Missing()
    SOURCE = None

_kept = {}
_cases = {}
_rng = None


def start(family, path):
    """Begins a family: numbers are drawn for each, so that they do not depend on other families."""
    global _rng, _kept
    _rng = np.random.default_rng(zlib.crc32(family.encode()))
    _cases.clear()
    _kept = _read(path) if path.exists() else {}


def _read(path):
    """Returns the lines of each case of a file, the first of which names it."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            lines = found[line[1 : line.index("]")]] = []
        if line and not line.startswith("#"):
            lines.append(line)
    return found


def finish(path):
    """Writes the file of a family, and returns how many cases it has and the names of those that are new."""
    text = ["# Numbers that internal/catalog compares operations with: make generate, scripts/references/cases.py.\n"]
    text += ["\n".join([""] + lines) + "\n" for lines in _cases.values()]
    path.write_text("".join(text))
    return len(_cases), [name for name in _cases if name not in _kept]


def normal(*shape):
    return _rng.standard_normal(shape)


def uniform(low, high, *shape):
    return _rng.uniform(low, high, shape)


def ints(low, high, *shape):
    """Integers from low to below high."""
    return _rng.integers(low, high, shape).astype(np.int32)


def line(name, a):
    """Returns the line of an array: its name, type and shape, and its elements."""
    a = np.asarray(a)
    shape = ",".join(map(str, a.shape))
    return " ".join([name, f"{a.dtype}[{shape}]"] + [repr(int(v) if isinstance(v, bool) else v) for v in a.ravel().tolist()])


def case(operation, name, f, *operands, grad=True, formula=None):
    """Notes a case. grad=False leaves the gradients out: where PyTorch has none, or another than clgrad documents."""
    at = f"{operation}.{name}"
    assert at not in _cases, at
    if at in _kept:
        _cases[at] = _kept[at]
        return
    arrays = [np.asarray(x) for x in operands]
    for a in arrays:
        assert a.dtype in (np.float64, np.int32, np.int64, np.uint8, np.bool_), (at, a.dtype)
    if formula is not None:
        made, source = by_formula(at, formula, arrays, grad), "float64 formula"
    if SOURCE is None:
        assert formula is not None, f"{at} is new: it needs PyTorch, or formula=…, as scripts/references/cases.py says"
    else:
        theirs = by_torch(at, f, arrays, grad)
        for k in theirs if formula is not None else ():
            np.testing.assert_allclose(made[k], theirs[k], rtol=1e-9, atol=1e-10, err_msg=f"{at}: {k} of the formula is not PyTorch's")
        made, source = theirs, SOURCE
    _cases[at] = [f"[{at}] {source}"] + [line(k, a) for k, a in made.items()]


def weights(at, i, shape):
    """Returns the weights of a result in the sum whose gradients a case has."""
    rng = np.random.default_rng(zlib.crc32(f"{at}.{i}".encode()))
    return np.round(rng.uniform(0.5, 2, shape), 3)


def by_torch(at, f, arrays, grad):
    """Returns the arrays of a case by PyTorch."""
    made, tensors = {}, []
    for i, a in enumerate(arrays):
        x = torch.as_tensor(a)
        made[f"in{i}"] = x.numpy()
        if x.dtype == torch.int32:
            x = x.long()
        tensors.append(x.clone().requires_grad_(grad and x.is_floating_point()))
    results = f(*tensors)
    if isinstance(results, torch.Tensor):
        results = (results,)
    total = None
    for i, y in enumerate(results):
        made[f"out{i}"] = y.detach().numpy()
        if y.requires_grad:
            made[f"up{i}"] = weights(at, i, tuple(y.shape))
            part = (y * torch.as_tensor(made[f"up{i}"])).sum()
            total = part if total is None else total + part
    if total is None:
        return made
    wanted = [i for i, x in enumerate(tensors) if x.requires_grad]
    for i, g in zip(wanted, torch.autograd.grad(total, [tensors[i] for i in wanted], allow_unused=True)):
        if g is not None:
            made[f"grad{i}"] = g.numpy()
    return made


# Central differences of the eighth order: the derivative is the sum of c·(f(x + k·h) − f(x − k·h))/h.
STENCIL = [(1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)]
WIDTH = 1 / 64


def by_formula(at, formula, arrays, grad):
    """Returns the arrays of a case by a formula of NumPy arrays and central differences."""

    def compute(operands):
        results = formula(*operands)
        return results if isinstance(results, tuple) else (results,)

    made = {f"in{i}": a for i, a in enumerate(arrays)}
    results = [np.asarray(y) for y in compute(arrays)]
    wanted = [i for i, a in enumerate(arrays) if grad and a.dtype == np.float64]
    ups = []
    for i, y in enumerate(results):
        made[f"out{i}"] = y
        if wanted and y.dtype == np.float64:
            made[f"up{i}"] = weights(at, i, y.shape)
            ups.append((i, made[f"up{i}"]))
    if not ups:
        return made

    def total(i, place, step):
        operands = list(arrays)
        operands[i] = operands[i].copy()
        operands[i][place] += step
        got = compute(operands)
        return sum((got[k] * up).sum() for k, up in ups)

    def slope(i, place, width):
        with np.errstate(invalid="ignore"):
            return sum(c * (total(i, place, k * width) - total(i, place, -k * width)) for k, c in STENCIL) / width

    for i in wanted:
        made[f"grad{i}"] = g = np.zeros(arrays[i].shape)
        for place in np.ndindex(*arrays[i].shape):
            found, half = slope(i, place, WIDTH), slope(i, place, WIDTH / 2)
            assert abs(found - half) < 1e-6 * max(1, abs(found)), f"{at}: operand {i} is near a kink, or not finite, at {list(place)}: grad=False, or other operands"
            g[place] = float(f"{found:.13g}")  # the rest is rounding
    return made
