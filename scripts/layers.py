"""Exchanges the layers of package nn with PyTorch: scripts/layers.py DIR regenerates the files of testdata/layers, and
scripts/layers.py --check DIR compares PyTorch with the files that "go test ./nn -run TestLayers -layers DIR" writes.

A file is a layer in float64: its state dict (state.NAME), inputs (x0, x1, …), outputs (y0, …), the gradients of these (seed0, …) and
those that come of them, of inputs (dx0, …) and parameters (grad.NAME), and the buffers afterwards (after.NAME). Needs torch (1.13)
and numpy.
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class RMSNorm(nn.Module):
    """As PyTorch has it from 2.4 on."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() * self.weight


def plain(module, *x):
    return [module(*x)]


def ints(*values):
    return torch.tensor(values, dtype=torch.int32)


def attention(module, query, key=None, value=None, mask=None):
    """mask is of the elements that are attended to, or added."""
    if mask is not None and not mask.is_floating_point():
        mask = mask == 0
    key = query if key is None else key
    return [module(query, key, key if value is None else value, attn_mask=mask, need_weights=False)[0]]


def causal(module, x):
    mask = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    return [module(x, mask)] if isinstance(module, nn.TransformerEncoderLayer) else attention(module, x, mask=~mask)


def masked(module, x, mask):
    return attention(module, x, mask=mask)


def block(**options):
    return lambda: nn.TransformerEncoderLayer(8, 2, 12, dropout=0, batch_first=True, **options)


def recurrent(module, x, *first):
    """first: the state, and the cell; all states are outputs."""
    y, last = module(x, first if len(first) > 1 else first[0] if first else None)
    return [y, *(last if isinstance(last, tuple) else [last])]


# name: (the layer, its inputs by their shapes or values, how it is called)
LAYERS = {
    "linear": (lambda: nn.Linear(3, 5), [(2, 4, 3)], plain),
    "linear_nobias": (lambda: nn.Linear(3, 5, bias=False), [(7, 3)], plain),
    "conv1": (lambda: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), [(2, 4, 9)], plain),
    "conv2": (lambda: nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)), [(2, 2, 6, 7)], plain),
    "conv3": (lambda: nn.Conv3d(2, 2, 2, bias=False), [(1, 2, 3, 4, 3)], plain),
    "conv_transpose1": (lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), [(2, 4, 5)], plain),
    "conv_transpose2": (lambda: nn.ConvTranspose2d(3, 2, (3, 2), stride=2, dilation=(1, 2)), [(2, 3, 3, 4)], plain),
    "conv_transpose3": (lambda: nn.ConvTranspose3d(2, 2, 2, bias=False), [(1, 2, 2, 3, 2)], plain),
    "embedding": (lambda: nn.Embedding(6, 3), [ints([0, 5, 2], [2, 2, 4])], plain),
    "embedding_padded": (lambda: nn.Embedding(6, 3, padding_idx=2), [ints([0, 5, 2], [2, 2, 4])], plain),
    "layer_norm": (lambda: nn.LayerNorm((3, 4)), [(2, 5, 3, 4)], plain),
    "rms_norm": (lambda: RMSNorm(6, 2.0**-23), [(2, 5, 6)], plain),
    "group_norm": (lambda: nn.GroupNorm(2, 4), [(2, 4, 3, 3)], plain),
    "batch_norm": (lambda: nn.BatchNorm2d(3, momentum=0.2), [(4, 3, 2, 3)], plain),
    "batch_norm_eval": (lambda: nn.BatchNorm1d(3).eval(), [(4, 3)], plain),
    "sequential": (lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                         nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 2)), [(3, 1, 4, 4)], plain),
    "attention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(3, 5, 8)], attention),
    "attention_causal": (lambda: nn.MultiheadAttention(8, 4, bias=False, batch_first=True), [(2, 5, 8)], causal),
    "attention_cross": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(2, 3, 8), (2, 5, 8)], attention),
    "attention_three": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(2, 3, 8), (2, 5, 8), (2, 5, 8)], attention),
    "attention_masked": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(2, 3, 8), ints([1, 0, 1], [0, 1, 0], [1, 1, 1]).byte()], masked),
    "attention_added": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(2, 3, 8), (3, 3)], masked),
    "gru": (lambda: nn.GRU(3, 4, batch_first=True), [(2, 5, 3)], recurrent),
    "gru_deep": (lambda: nn.GRU(3, 4, 3, bidirectional=True), [(5, 2, 3), (6, 2, 4)], recurrent),
    "gru_nobias": (lambda: nn.GRU(3, 1, bias=False, batch_first=True), [(2, 3, 3), (1, 2, 1)], recurrent),
    "lstm": (lambda: nn.LSTM(3, 4, batch_first=True), [(2, 5, 3)], recurrent),
    "lstm_deep": (lambda: nn.LSTM(3, 4, 3, bidirectional=True), [(5, 2, 3), (6, 2, 4), (6, 2, 4)], recurrent),
    "lstm_nobias": (lambda: nn.LSTM(3, 1, bias=False, batch_first=True), [(2, 3, 3), (1, 2, 1), (1, 2, 1)], recurrent),
    "block": (block(), [(2, 5, 8)], plain),
    "block_first": (block(norm_first=True, activation="gelu", layer_norm_eps=1e-3), [(2, 5, 8)], plain),
    "block_causal": (block(norm_first=True), [(2, 5, 8)], causal),
}


def run(module, inputs, seeds, call):
    """Returns what a file holds of a run, but for the state before it."""
    inputs = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    outputs = call(module, *inputs)
    seeds = seeds or [torch.randn(y.shape) for y in outputs]
    torch.autograd.backward(outputs, seeds)
    found = {}
    for i, x in enumerate(inputs):
        found[f"x{i}"] = x
        if x.requires_grad:
            found[f"dx{i}"] = x.grad
    for i, (y, s) in enumerate(zip(outputs, seeds)):
        found |= {f"y{i}": y, f"seed{i}": s}
    found |= {f"grad.{name}": p.grad for name, p in module.named_parameters()}
    found |= {f"after.{name}": b for name, b in module.named_buffers()}
    return {name: v.detach().numpy() for name, v in found.items()}


def make(folder):
    for name, (layer, inputs, call) in LAYERS.items():
        torch.manual_seed(sum(name.encode()))
        module = layer()
        state = module.state_dict()
        for key, v in state.items():
            if key.endswith("running_var"):
                v.uniform_(0.5, 1.5)
            elif v.is_floating_point():
                v.normal_(0.2, 0.5)
        before = {f"state.{key}": v.numpy().copy() for key, v in state.items()}
        inputs = [x if torch.is_tensor(x) else torch.randn(x) for x in inputs]
        np.savez(folder / f"{name}.npz", **before, **run(module, inputs, None, call))
    print(folder, len(LAYERS), "layers, torch", torch.__version__)


def check(folder):
    files = {f.stem: f for f in folder.glob("*.npz")}
    if files.keys() != LAYERS.keys():
        sys.exit(f"{folder} has other layers than this script: {sorted(files.keys() ^ LAYERS.keys())}")
    for name, (layer, _, call) in LAYERS.items():
        file = {key: torch.from_numpy(v) for key, v in np.load(files[name]).items()}
        module = layer()
        module.load_state_dict({key[len("state."):]: v for key, v in file.items() if key.startswith("state.")}, strict=True)
        numbered = lambda what: [file[f"{what}{i}"] for i in range(len(file)) if f"{what}{i}" in file]
        found = run(module, numbered("x"), numbered("seed"), call)
        # Go leaves that as it is.
        found |= {key: v for key, v in file.items() if key.startswith("after.") and key.endswith("num_batches_tracked")}
        written = {key for key in file if not key.startswith("state.")}
        if written != found.keys():
            sys.exit(f"{name}: the file and PyTorch differ in {sorted(written ^ found.keys())}")
        for key in written:
            a, b = np.asarray(file[key]), np.asarray(found[key])
            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-9, atol=1e-10):
                sys.exit(f"{name}: {key} is\n{a}\nof PyTorch\n{b}")
    print(folder, len(LAYERS), "layers agree, torch", torch.__version__)


if sys.argv[1] == "--check":
    check(pathlib.Path(sys.argv[2]))
else:
    make(pathlib.Path(sys.argv[1]))
