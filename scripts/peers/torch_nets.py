"""Training steps of whole networks in PyTorch, for comparison: the rows of `clgrad bench --only nets,perceptrons`.

Prints the JSON lines that `clgrad bench --json` prints: eager and, on a GPU, replayed from a captured CUDA graph, also of what
torch.compile makes of the step, where it can. AdamW is PyTorch's fused one, where there is one. TF32 is off, but in cuDNN's
convolutions, where PyTorch has it on; with TORCH_TF32=1 products have it, too.
Usage: torch_nets.py [NAME...]; TORCH_THREADS sets the threads of a CPU.
"""
import os
import sys

import torch
from torch import nn

from torch_steps import DEVICE, adamw, report_all

F = nn.functional
WORDS, TOKENS, HEADS = 65, 64, 4


def attend(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool, device=q.device).triu(1)
    return ((q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5).masked_fill(hidden, float("-inf")).softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, w // HEADS).permute(2, 0, 3, 1, 4)
        x = x + self.out(attend(q, k, v).transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, blocks, width):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(TOKENS, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, WORDS, bias=False)

    def forward(self, text):
        return self.head(self.norm(self.blocks(self.words(text) + self.places.weight))).view(-1, WORDS)


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10))


def mlp784():
    return nn.Sequential(nn.Linear(784, 256), nn.Tanh(), nn.Linear(256, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10))


class Residual(nn.Module):
    """Layers whose input is added to their output."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(32, 64), nn.Linear(64, 4)
        self.hidden = nn.ModuleList([nn.Linear(64, 64) for _ in range(3)])

    def forward(self, x):
        h = F.relu(self.first(x))
        for layer in self.hidden:
            h = h + F.relu(layer(h))
        return self.last(h)


def tanh():
    return nn.Sequential(nn.Linear(64, 48), nn.Tanh(), nn.Linear(48, 96), nn.Tanh(), nn.Linear(96, 32), nn.Tanh(), nn.Linear(32, 3))


def gelu():
    return nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10))


def reals(*shape):
    return lambda: torch.rand(shape, device=DEVICE) * 2 - 1


def classes(n, count):
    return lambda: torch.randint(0, count, (n,), device=DEVICE)


def text(batch):
    return torch.randint(0, WORDS, (batch, TOKENS), device=DEVICE)


# Name, model, inputs, targets, loss.
ROWS = [
    ("lenet", lenet, lambda: torch.rand(128, 1, 28, 28, device=DEVICE), classes(128, 10), F.cross_entropy),
    ("mlp784", mlp784, lambda: torch.rand(512, 784, device=DEVICE), classes(512, 10), F.cross_entropy),
    ("gpt", lambda: GPT(4, 128), lambda: text(32), classes(32 * TOKENS, WORDS), F.cross_entropy),
    ("gptsmall", lambda: GPT(2, 64), lambda: text(8), classes(8 * TOKENS, WORDS), F.cross_entropy),
]
for batch in (512, 65536):
    ROWS += [
        ("tanh%d" % batch, tanh, reals(batch, 64), reals(batch, 3), F.mse_loss),
        ("gelu%d" % batch, gelu, reals(batch, 32), classes(batch, 10), F.cross_entropy),
        ("residual%d" % batch, Residual, reals(batch, 32), reals(batch, 4), F.mse_loss),
    ]


def make_step(model, inputs, targets, criterion, compiled):
    torch.manual_seed(1)
    net = model().to(DEVICE)
    x, y = inputs(), targets()
    opt = adamw(net.parameters())
    forward = torch.compile(net) if compiled else net

    def step():
        loss = criterion(forward(x), y)
        opt.zero_grad(set_to_none=DEVICE == "cpu")
        loss.backward()
        opt.step()

    return step


def main():
    for name, *parts in ROWS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        report_all("net " + name, lambda compiled: make_step(*parts, compiled=compiled))


if "TORCH_THREADS" in os.environ:
    torch.set_num_threads(int(os.environ["TORCH_THREADS"]))
main()
