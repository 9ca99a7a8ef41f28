"""Cases of operations: what clgrad's tests compare with PyTorch's numbers.

case("Softmax", "rows", lambda x: torch.softmax(x, -1), normal(3, 5)) notes, under "Softmax.rows.", the operands in0, in1, …,
the results out0, out1, … of the function, the weights up0, … of the results in a sum, and the gradients grad0, … of that
sum by the operands of floats. Operands are arrays or tensors, of float64, int32, uint8 or bool; integers reach the function
as int64, which PyTorch takes for indices.
"""
import zlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)

NAN, INF = float("nan"), float("inf")
NUMBERS = [INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1e-30, -1e-30, 1e30, -1e30]

_out = {}
_rng = None


def start(family):
    """Begins a family: numbers are drawn anew for each, so that they do not depend on other families."""
    global _rng
    _out.clear()
    _rng = np.random.default_rng(zlib.crc32(family.encode()))


def finish(path):
    np.savez_compressed(path, **_out)
    return len(_out)


def normal(*shape):
    return _rng.standard_normal(shape)


def uniform(low, high, *shape):
    return _rng.uniform(low, high, shape)


def ints(low, high, *shape):
    """Integers from low to below high."""
    return _rng.integers(low, high, shape).astype(np.int32)


def _store(a):
    a = a.detach().numpy()
    if a.dtype == np.int64:
        assert a.size == 0 or abs(a).max() < 2**31
        a = a.astype(np.int32)
    if a.dtype == np.bool_:
        a = a.astype(np.uint8)
    return a


def case(operation, name, f, *operands, grad=True):
    """Notes a case. grad=False leaves the gradients out: where PyTorch has none, or another than clgrad documents."""
    at = f"{operation}.{name}."
    assert at + "out0" not in _out, at
    tensors = []
    for i, x in enumerate(operands):
        x = torch.as_tensor(np.asarray(x))
        assert x.dtype in (torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool), (at, x.dtype)
        _out[f"{at}in{i}"] = _store(x)
        if x.dtype == torch.int32:
            x = x.long()
        tensors.append(x.clone().requires_grad_(grad and x.is_floating_point()))
    results = f(*tensors)
    if isinstance(results, torch.Tensor):
        results = (results,)
    total = None
    rng = np.random.default_rng(zlib.crc32(at.encode()))
    for i, y in enumerate(results):
        _out[f"{at}out{i}"] = _store(y)
        if y.requires_grad:
            up = torch.as_tensor(np.round(rng.uniform(0.5, 2, tuple(y.shape)), 3))
            _out[f"{at}up{i}"] = up.numpy()
            part = (y * up).sum()
            total = part if total is None else total + part
    if total is None:
        return
    wanted = [i for i, x in enumerate(tensors) if x.requires_grad]
    for i, g in zip(wanted, torch.autograd.grad(total, [tensors[i] for i in wanted], allow_unused=True)):
        if g is not None:
            _out[f"{at}grad{i}"] = _store(g)
