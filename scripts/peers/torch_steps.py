"""How PyTorch's training steps are made and timed: at its best."""
import os
import sys

import torch

from timing import report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def adamw(params, **options):
    """PyTorch's fused AdamW, where there is one."""
    on_gpu = DEVICE == "cuda"
    try:
        return torch.optim.AdamW(params, fused=True, capturable=on_gpu, **options)
    except (TypeError, RuntimeError, ValueError):  # an older PyTorch, or a CPU without the fused one
        return torch.optim.AdamW(params, foreach=True, capturable=on_gpu, **options)


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


def report_all(name, make):
    """Reports the step that make(compiled) returns: eager and, on a GPU, as a graph and compiled; on a CPU
    also compiled, where TORCH_COMPILE is set. Where TORCH_TF32 is set, products have TF32, and the rows say so."""
    if DEVICE != "cuda":
        report(name + " eager", None, make(False), sync)
        if os.environ.get("TORCH_COMPILE"):
            report(name + " compiled", None, make(True), sync)
        return
    tf32 = " tf32" if os.environ.get("TORCH_TF32") else ""
    torch.backends.cuda.matmul.allow_tf32 = tf32 != ""
    report(name + " eager" + tf32, None, make(False), sync)
    report(name + " graph" + tf32, None, graph_of(make(False)).replay, sync)
    try:
        report(name + " compiled graph" + tf32, None, graph_of(make(True)).replay, sync)
    except Exception as e:  # there is no compiler
        print("%s: torch.compile: %s" % (name, e), file=sys.stderr)
