"""The training steps of mlpimage in PyTorch, for comparison: the same networks, loss, optimizers and sampling, on octaves
and, as "hash", on a trained hash grid.

Prints the JSON lines that `clgrad bench --json` prints, for each batch size: eager and, on a GPU, replayed from a
captured CUDA graph, plain and compiled. AdamW is the fused one. Usage: torch_step.py [BATCH...], of both; TORCH_THREADS
sets the threads of a CPU, and TORCH_TF32=1 has products use TF32.
"""
import os
import sys

import torch

from torch_steps import DEVICE, adamw, report_all

SIDE, FEATURES, HIDDEN, OCTAVES = 512, 64, 64, 16
LEVELS, PER_ENTRY, TABLE = 8, 4, 1 << 14  # of the hash grid


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


def make_hash(batch, compiled):
    torch.manual_seed(1)
    image = torch.rand(SIDE * SIDE, 3, device=DEVICE)
    cells = [round(16 * (SIDE / 16) ** (level / (LEVELS - 1))) for level in range(LEVELS)]
    entries = [min(TABLE, (c + 2) ** 2) for c in cells]
    hashed = torch.tensor([e < (c + 2) ** 2 for c, e in zip(cells, entries)], device=DEVICE)
    first = torch.tensor([sum(entries[:level]) for level in range(LEVELS)], device=DEVICE).reshape(LEVELS, 1)
    across = torch.tensor(cells, device=DEVICE)
    table = torch.nn.Parameter((torch.rand(sum(entries), PER_ENTRY, device=DEVICE) * 2 - 1) * 1e-4)
    sizes = [LEVELS * PER_ENTRY, HIDDEN, HIDDEN, 3]
    layers = []
    for i in range(3):
        layers.append(torch.nn.Linear(sizes[i], sizes[i + 1], bias=i < 2))
        if i < 2:
            layers.append(torch.nn.LeakyReLU(0.1))
    net = torch.nn.Sequential(*layers).to(DEVICE)
    opts = [
        adamw(net.parameters(), lr=0.01, betas=(0.9, 0.99), eps=1e-8, weight_decay=0),
        adamw([table], lr=0.01, betas=(0.9, 0.99), eps=1e-15, weight_decay=0),
    ]
    corner = torch.arange(4, device=DEVICE)

    def loss_of(pixel):
        at = torch.stack([(pixel % SIDE + 0.5) / SIDE, (pixel // SIDE + 0.5) / SIDE], 1)
        place = at.unsqueeze(1) * across.unsqueeze(1) + 0.5  # [batch, levels, 2]
        cell = place.floor()
        right, below = (place - cell).unsqueeze(2).unbind(3)
        weight = torch.where(corner % 2 == 1, right, 1 - right) * torch.where(corner // 2 == 1, below, 1 - below)
        column, row = cell.long().unsqueeze(2).unbind(3)
        column, row = column + corner % 2, row + corner // 2
        shared = (column ^ (row * 2654435761)) & (TABLE - 1)
        entry = first + torch.where(hashed.unsqueeze(1), shared, row * (across.unsqueeze(1) + 2) + column)
        x = (torch.nn.functional.embedding(entry, table) * weight.unsqueeze(3)).sum(2).reshape(batch, sizes[0])
        return ((net(x) - image[pixel]) ** 2).sum()

    if compiled:
        loss_of = torch.compile(loss_of)

    def step():
        loss = loss_of(torch.randint(0, SIDE * SIDE, (batch,), device=DEVICE))
        for opt in opts:
            opt.zero_grad(set_to_none=False)
        loss.backward()
        for opt in opts:
            opt.step()

    return step


def main():
    for batch in [int(a) for a in sys.argv[1:]] or [512, 8192, 65536, 262144]:
        report_all("step %d" % batch, lambda compiled: make_step(batch, compiled))
    for batch in [int(a) for a in sys.argv[1:]] or [8192, 65536]:
        report_all("hash %d" % batch, lambda compiled: make_hash(batch, compiled))


if "TORCH_THREADS" in os.environ:
    torch.set_num_threads(int(os.environ["TORCH_THREADS"]))
main()
