"""Training steps of whole networks in PyTorch, for comparison: the rows of `clgrad bench --only nets`.

Prints the JSON lines that `clgrad bench --json` prints: eager and, on a GPU, replayed from a captured CUDA graph, also of what
torch.compile makes of the step, where it can. AdamW is PyTorch's fused one, where there is one. TORCH_THREADS sets the threads of a CPU.
"""
import os
import sys

import torch
from torch import nn

from timing import report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
F = nn.functional
WORDS, TOKENS, HEADS = 65, 64, 4


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


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


def text(batch):
    return torch.randint(0, WORDS, (batch, TOKENS), device=DEVICE)


ROWS = [
    ("lenet", lenet, lambda: torch.rand(128, 1, 28, 28, device=DEVICE), 128, 10),
    ("mlp784", mlp784, lambda: torch.rand(512, 784, device=DEVICE), 512, 10),
    ("gpt", lambda: GPT(4, 128), lambda: text(32), 32 * TOKENS, WORDS),
    ("gptsmall", lambda: GPT(2, 64), lambda: text(8), 8 * TOKENS, WORDS),
]


def adamw(params):
    on_gpu = DEVICE == "cuda"
    try:
        return torch.optim.AdamW(params, lr=1e-3, fused=True, capturable=on_gpu)
    except (TypeError, RuntimeError, ValueError):  # an older PyTorch, or a CPU without the fused one
        return torch.optim.AdamW(params, lr=1e-3, foreach=True, capturable=on_gpu)


def make_step(model, data, labels, classes, compiled):
    torch.manual_seed(1)
    net = model().to(DEVICE)
    x, y = data(), torch.randint(0, classes, (labels,), device=DEVICE)
    opt = adamw(net.parameters())
    forward = torch.compile(net) if compiled else net

    def step():
        loss = F.cross_entropy(forward(x), y)
        opt.zero_grad(set_to_none=DEVICE == "cpu")
        loss.backward()
        opt.step()

    return step


def graph_of(step):
    """A captured graph of the step, after a warm-up on a side stream, as capture asks."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def main():
    for name, *sizes in ROWS:
        step = make_step(*sizes, compiled=False)
        report("net %s eager" % name, None, step, sync)
        if DEVICE == "cuda":
            report("net %s graph" % name, None, graph_of(step).replay, sync)
            try:
                report("net %s compiled graph" % name, None, graph_of(make_step(*sizes, compiled=True)).replay, sync)
            except Exception as e:  # there is no compiler
                print("torch_nets: torch.compile: %s" % e, file=sys.stderr)


if "TORCH_THREADS" in os.environ:
    torch.set_num_threads(int(os.environ["TORCH_THREADS"]))
main()
