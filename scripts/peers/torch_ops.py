"""Structured operations in PyTorch, for comparison with `clgrad bench --only ops`: the same sizes, forward, and forward and
backward by all operands, in float32 without TF32. On a GPU both are captured in a CUDA graph, whose replay is the
device's time. Prints the JSON lines that `clgrad bench --json` prints. Usage: torch_ops.py [PART OF A NAME...];
TORCH_THREADS sets the threads of a CPU.
"""
import os
import sys

import torch
import torch.nn.functional as F

from timing import report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def rand(*shape):
    return torch.rand(*shape, device=DEVICE).sub_(0.5).requires_grad_()


def attention(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    t = q.shape[-2]
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    mask = torch.ones(t, t, dtype=torch.bool, device=DEVICE).tril()
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v


index = torch.randint(0, 32768, (8192,), device=DEVICE)
labels = torch.randint(0, 1024, (8192,), device=DEVICE)
ROWS = {  # name: function, operands; the first result has the gradient
    "conv 5x5 1-32 28x28x128": (lambda x, w, b: F.conv2d(x, w, b, padding=2), lambda: (rand(128, 1, 28, 28), rand(32, 1, 5, 5), rand(32))),
    "conv 5x5 32-64 14x14x128": (lambda x, w, b: F.conv2d(x, w, b, padding=2), lambda: (rand(128, 32, 14, 14), rand(64, 32, 5, 5), rand(64))),
    "conv 3x3 64-64 56x56x8": (lambda x, w, b: F.conv2d(x, w, b, padding=1), lambda: (rand(8, 64, 56, 56), rand(64, 64, 3, 3), rand(64))),
    "max pool 2x2 28x28x32x128": (lambda x: F.max_pool2d(x, 2), lambda: (rand(128, 32, 28, 28),)),
    "average pool 2x2 28x28x32x128": (lambda x: F.avg_pool2d(x, 2), lambda: (rand(128, 32, 28, 28),)),
    "softmax 131072x128": (lambda x: F.softmax(x, -1), lambda: (rand(131072, 128),)),
    "softmax 4096x4096": (lambda x: F.softmax(x, -1), lambda: (rand(4096, 4096),)),
    "layer norm 131072x128": (lambda x, w, b: F.layer_norm(x, (128,), w, b), lambda: (rand(131072, 128), rand(128), rand(128))),
    "layer norm 4096x4096": (lambda x, w, b: F.layer_norm(x, (4096,), w, b), lambda: (rand(4096, 4096), rand(4096), rand(4096))),
    "attention 64 tokens": (attention, lambda: tuple(rand(32, 4, 64, 32) for _ in range(3))),
    "attention 1024 tokens": (attention, lambda: tuple(rand(4, 8, 1024, 64) for _ in range(3))),
    "embedding 8192 of 32768x256": (lambda w: F.embedding(index, w), lambda: (rand(32768, 256),)),
    "cross-entropy 8192x1024": (lambda x: F.cross_entropy(x, labels), lambda: (rand(8192, 1024),)),
    "products 64 of 64x64x64": (torch.matmul, lambda: (rand(64, 64, 64), rand(64, 64, 64))),
    "sort 1048576": (lambda x: torch.sort(x)[0], lambda: (rand(1 << 20),)),
    "top 64 of 1048576": (lambda x: torch.topk(x, 64)[0], lambda: (rand(1 << 20),)),
    "cumsum 4096x4096": (lambda x: torch.cumsum(x, -1), lambda: (rand(4096, 4096),)),
}


def captured(f):
    """f as the replay of a CUDA graph, or f itself on a CPU, and where it cannot be captured."""
    if DEVICE != "cuda":
        return f
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            f()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            f()
    except RuntimeError:
        torch.cuda.synchronize()
        return f
    return graph.replay


if "TORCH_THREADS" in os.environ:
    torch.set_num_threads(int(os.environ["TORCH_THREADS"]))
for name, (f, make) in ROWS.items():
    if sys.argv[1:] and not any(part in name for part in sys.argv[1:]):
        continue
    operands = make()

    def forward():
        with torch.no_grad():
            return f(*operands)

    weights = torch.rand_like(forward())

    def both():
        return torch.autograd.grad(f(*operands), operands, weights)

    report(name + " forward", None, captured(forward), sync)
    report(name + " both", None, captured(both), sync)
