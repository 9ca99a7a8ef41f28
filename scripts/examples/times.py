"""Measures a step of the programs of examples/ on the Go device, and of those of PyTorch in this folder, in turns:
scripts/examples/times.py [NAME…]

Each has one thread, and processor time counts, so that other programs disturb it little. The medians of the turns are
printed. Needs go, numpy and torch.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch

import lstm
import mixed
import pinn
import resnet
import unet
import weights


TURNS = 5
torch.set_num_threads(1)


def split(program, batch, drop=False):
    images, labels = program.read()
    n = program.TRAINED // batch * batch if drop else program.TRAINED
    return list(zip(images[:n].split(batch), labels[:n].split(batch)))


def frozen():
    net = weights.Classifier(2)
    net.features.requires_grad_(False)
    return net


# Of each program: steps or epochs of a turn, and the run of as many.
PROGRAMS = {
    "lstm": (20, lambda n: lstm.train(lstm.Forecaster(), lstm.wave(lstm.LENGTH), n)),
    "resnet": (1, lambda n: resnet.train(resnet.resnet18(16, 10), split(resnet, 64, True), n)),
    "unet": (20, lambda n: unet.train(unet.UNet(8, 16, 32), n)),
    "pinn": (100, lambda n: pinn.train(pinn.make_net(), n)),
    "mixed": (5, lambda n: mixed.Trainer(mixed.make_net()).train(torch.bfloat16, split(mixed, 32), n)),
    "weights": (5, lambda n: weights.train(frozen(), split(weights, 64), n)),
}


def theirs(run, n):
    """Returns seconds of processor time for a step, and the steps of a run."""
    start = time.process_time()
    steps = len(run(n))
    return (time.process_time() - start) / steps, steps


def ours(binary, folder, n):
    """Returns seconds of processor time for a run."""
    command = [binary, "-test.run=^$", "-test.bench=Train", f"-test.benchtime={n}x"]
    env = {**os.environ, "CLGRAD_DEVICE": "cpu", "GOMAXPROCS": "1"}
    before = os.times()
    subprocess.run(command, cwd=folder, env=env, capture_output=True, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def turn(binary, folder, run, n):
    """Returns seconds of processor time for a step: ours, of two runs whose difference has no start, and theirs."""
    first, (step, steps) = ours(binary, folder, n), theirs(run, n)
    return (ours(binary, folder, 3 * n) - first) / (2 * steps), step


def main():
    print("| program | clgrad, `cpu` | PyTorch | ratio |\n|---|---|---|---|")
    for name in sys.argv[1:] or PROGRAMS:
        n, run = PROGRAMS[name]
        folder = pathlib.Path("examples", name).resolve()
        with tempfile.TemporaryDirectory() as temporary:
            binary = os.path.join(temporary, "bench")
            subprocess.run(["go", "test", "-c", "-o", binary, "."], cwd=folder, check=True)
            run(1)
            turns = [turn(binary, folder, run, n) for _ in range(TURNS)]
        a, b = (statistics.median(t) for t in zip(*turns))
        print(f"| {name} | {1e3 * a:.2f} ms | {1e3 * b:.2f} ms | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    main()
