"""The training step of mlpimage in PyTorch, for comparison: the same network, loss, optimizer and sampling.

Prints the JSON lines that `clgrad bench --json` prints, for each batch size: eager and, on a GPU, replayed from a
captured CUDA graph, plain and compiled. AdamW is the fused one. Usage: torch_step.py [BATCH...]; TORCH_THREADS sets the threads
of a CPU, and TORCH_TF32=1 has products use TF32.
"""
import os
import sys

import torch

from torch_steps import DEVICE, adamw, report_all

SIDE, FEATURES, HIDDEN, OCTAVES = 512, 64, 64, 16


def make_step(batch, compiled):
    torch.manual_seed(1)
    image = torch.rand(SIDE * SIDE, 3, device=DEVICE)
    sizes = [FEATURES, HIDDEN, HIDDEN, HIDDEN, 3]
    layers = []
    for i in range(4):
        layers.append(torch.nn.Linear(sizes[i], sizes[i + 1], bias=i < 3))
        if i < 3:
            layers.append(torch.nn.LeakyReLU(0.1))
    net = torch.nn.Sequential(*layers).to(DEVICE)
    opt = adamw(net.parameters(), lr=5.33e-4, betas=(0.92, 0.95), weight_decay=0.01)
    scale = (2.0 ** torch.arange(1, OCTAVES + 1, device=DEVICE)) * torch.pi

    def loss_of(pixel):
        at = torch.stack([(pixel % SIDE + 0.5) / SIDE, (pixel // SIDE + 0.5) / SIDE], 1)
        angle = at.unsqueeze(2) * scale
        x = torch.stack([angle.sin(), angle.cos()], 3).reshape(batch, FEATURES)
        return ((net(x) - image[pixel]) ** 2).sum()

    if compiled:
        loss_of = torch.compile(loss_of)

    def step():
        loss = loss_of(torch.randint(0, SIDE * SIDE, (batch,), device=DEVICE))
        opt.zero_grad(set_to_none=False)
        loss.backward()
        opt.step()

    return step


def main():
    for batch in [int(a) for a in sys.argv[1:]] or [512, 8192, 65536, 262144]:
        report_all("step %d" % batch, lambda compiled: make_step(batch, compiled))


if "TORCH_THREADS" in os.environ:
    torch.set_num_threads(int(os.environ["TORCH_THREADS"]))
main()
