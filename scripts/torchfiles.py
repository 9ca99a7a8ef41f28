"""Makes the files of testdata/pytorch with PyTorch: scripts/torchfiles.py DIR. Beside each there is what it holds, as npz."""
import collections
import pathlib
import sys

import numpy as np
import torch

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(1)


def flat(value, name=""):
    """The tensors of a value by the names that clgrad gives them."""
    if isinstance(value, torch.Tensor):
        yield name or "tensor", value.detach()
    elif isinstance(value, dict):
        for key, v in value.items():
            yield from flat(v, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            yield from flat(v, f"{name}.{i}" if name else str(i))


def numbers(t):
    """The elements as an array of NumPy. A byte of two floats of four bits is two elements, the first in its low bits."""
    if t.dtype == torch.float4_e2m1fn_x2:
        low = t.view(torch.uint8).contiguous().numpy()
        sizes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        return sizes[np.stack([low & 15, low >> 4], -1)].reshape(*low.shape[:-1], -1)
    return (t.float() if t.is_floating_point() and t.dtype not in (torch.float32, torch.float64) else t).contiguous().numpy()


def save(name, value, **options):
    torch.save(value, folder / f"{name}.pt", **options)
    np.savez(folder / f"{name}.npz", **{key: numbers(t).astype("f8") for key, t in flat(value)})


net = torch.nn.Sequential(collections.OrderedDict(conv=torch.nn.Conv2d(1, 2, 3), norm=torch.nn.BatchNorm2d(2), head=torch.nn.Linear(4, 3)))
save("state", net.state_dict())
opt = torch.optim.AdamW(net.parameters())
net(torch.randn(2, 1, 3, 6)).sum().backward()
opt.step()
save("checkpoint", {"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": 3, "name": "run", "rate": 0.5,
                    "best": None, "done": True})
base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
save("views", {"whole": base, "turned": base.T, "part": base[1:3, ::2], "one": base[2, 3], "repeated": base[:1, :1].expand(1, 1),
               "none": base[:0], "parameter": torch.nn.Parameter(base[0].clone())})
save("types", {str(t).removeprefix("torch."): torch.tensor([0, 1, 2, 100]).to(t) for t in
               (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64,
                torch.float16, torch.bfloat16, torch.float32, torch.float64)})
every = torch.arange(256, dtype=torch.uint8).reshape(16, 16)
low = {str(t).removeprefix("torch."): every.view(t) for t in
       (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu, torch.float4_e2m1fn_x2)}
save("lowbit", {**low, "turned": every.view(torch.float8_e4m3fn).T, "part": every.view(torch.float8_e5m2)[1:3, ::2]})
save("protocol4", [torch.tensor([1.5, -2.0]), {"a": torch.tensor(7)}], pickle_protocol=4)
save("alone", torch.tensor([[1.0, 2.0]]))
torch.save(net.state_dict(), folder / "old.pt", _use_new_zipfile_serialization=False)
torch.save(net, folder / "model.pt")
torch.save({"x": torch.zeros(2, dtype=torch.complex64)}, folder / "complex.pt")
torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), folder / "jit.pt")
