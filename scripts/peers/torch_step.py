"""The training step of mlpimage in PyTorch, for comparison: the same network, loss, optimizer and sampling.

Prints the JSON lines that `clgrad bench --json` prints, for each batch size: eager and, on a GPU, replayed from
a captured CUDA graph. Usage: torch_step.py [BATCH...]; TORCH_THREADS sets the threads of a CPU.
"""
import os
import sys

import torch

from timing import report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIDE, FEATURES, HIDDEN, OCTAVES = 512, 64, 64, 16


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def make_step(batch):
    torch.manual_seed(1)
    image = torch.rand(SIDE * SIDE, 3, device=DEVICE)
    sizes = [FEATURES, HIDDEN, HIDDEN, HIDDEN, 3]
    layers = []
    for i in range(4):
        layers.append(torch.nn.Linear(sizes[i], sizes[i + 1], bias=i < 3))
        if i < 3:
            layers.append(torch.nn.LeakyReLU(0.1))
    net = torch.nn.Sequential(*layers).to(DEVICE)
    opt = torch.optim.AdamW(net.parameters(), lr=5.33e-4, betas=(0.92, 0.95), weight_decay=0.01,
                            capturable=DEVICE == "cuda", foreach=True)
    scale = (2.0 ** torch.arange(1, OCTAVES + 1, device=DEVICE)) * torch.pi

    def step():
        pixel = torch.randint(0, SIDE * SIDE, (batch,), device=DEVICE)
        at = torch.stack([(pixel % SIDE + 0.5) / SIDE, (pixel // SIDE + 0.5) / SIDE], 1)
        angle = at.unsqueeze(2) * scale
        x = torch.stack([angle.sin(), angle.cos()], 3).reshape(batch, FEATURES)
        loss = ((net(x) - image[pixel]) ** 2).sum()
        opt.zero_grad(set_to_none=False)
        loss.backward()
        opt.step()

    return step


def main():
    for batch in [int(a) for a in sys.argv[1:]] or [512, 8192, 65536, 262144]:
        step = make_step(batch)
        side = torch.cuda.Stream() if DEVICE == "cuda" else None
        if side:  # warm up on a side stream, as capture asks
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(5):
                    step()
            torch.cuda.current_stream().wait_stream(side)
        else:
            step()
        report("step %d eager" % batch, None, step, sync)
        if side:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step()
            report("step %d graph" % batch, None, graph.replay, sync)


if "TORCH_THREADS" in os.environ:
    torch.set_num_threads(int(os.environ["TORCH_THREADS"]))
main()
