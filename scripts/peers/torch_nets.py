"""Training steps of whole networks in PyTorch, for comparison: the rows of `clgrad bench --only nets,perceptrons`.

Prints the JSON lines that `clgrad bench --json` prints: eager and, on a GPU, replayed from a captured CUDA graph, also
of what torch.compile makes of the step, where it can; on a CPU, with TORCH_COMPILE=1, also compiled. AdamW is PyTorch's
fused one, where there is one. TF32 is off, but in cuDNN's convolutions, where PyTorch has it on; with TORCH_TF32=1
products have it, too.
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


def conv_norm(n_in, n_out, kernel=3, stride=1):
    conv = nn.Conv2d(n_in, n_out, kernel, stride, padding=kernel // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(n_out))


class BasicBlock(nn.Module):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        self.convs = nn.Sequential(conv_norm(n_in, n_out, 3, stride), nn.ReLU(inplace=True), conv_norm(n_out, n_out))
        self.shortcut = nn.Identity() if stride == 1 else conv_norm(n_in, n_out, 1, stride)

    def forward(self, x):
        return F.relu(self.convs(x) + self.shortcut(x), inplace=True)


def resnet18(width=16):
    layers = [conv_norm(3, width), nn.ReLU(inplace=True)]
    n_in = width
    for stage in range(4):
        n_out = width << stage
        layers += [BasicBlock(n_in, n_out, 2 if stage else 1), BasicBlock(n_out, n_out, 1)]
        n_in = n_out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n_in, 10))


class UNetLevel(nn.Module):
    """A level of a U-Net and, within it, those of half the size; the last has none."""

    def __init__(self, n_in, width, *widths):
        super().__init__()
        self.down = self.two(n_in, width)
        if widths:
            self.pool, self.within = nn.MaxPool2d(2), UNetLevel(width, *widths)
            self.grow, self.up = nn.ConvTranspose2d(widths[0], width, 2, stride=2), self.two(2 * width, width)

    @staticmethod
    def two(n_in, width):
        return nn.Sequential(
            conv_norm(n_in, width), nn.ReLU(inplace=True), conv_norm(width, width), nn.ReLU(inplace=True))

    def forward(self, x):
        x = self.down(x)
        if not hasattr(self, "within"):
            return x
        return self.up(torch.cat([x, self.grow(self.within(self.pool(x)))], 1))


def unet():
    return nn.Sequential(UNetLevel(3, 16, 32, 64), nn.Conv2d(16, 2, 1))


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


def pictures(*shape):
    return lambda: torch.rand(shape, device=DEVICE)


def classes(n, count, *size):
    return lambda: torch.randint(0, count, (n, *size), device=DEVICE)


def text(batch):
    return torch.randint(0, WORDS, (batch, TOKENS), device=DEVICE)


# Name, model, inputs, targets, loss.
ROWS = [
    ("lenet", lenet, pictures(128, 1, 28, 28), classes(128, 10), F.cross_entropy),
    ("mlp784", mlp784, lambda: torch.rand(512, 784, device=DEVICE), classes(512, 10), F.cross_entropy),
    ("gpt", lambda: GPT(4, 128), lambda: text(32), classes(32 * TOKENS, WORDS), F.cross_entropy),
    ("gptsmall", lambda: GPT(2, 64), lambda: text(8), classes(8 * TOKENS, WORDS), F.cross_entropy),
    ("resnet18", resnet18, pictures(8, 3, 32, 32), classes(8, 10), F.cross_entropy),
    ("unet", unet, pictures(4, 3, 64, 64), classes(4, 2, 64, 64), F.cross_entropy),
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
