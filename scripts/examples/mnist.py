"""The program of examples/mnist in PyTorch, to compare results, times and lines."""
import argparse
import gzip
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def make_net():
    """LeNet-5 with ReLU and maxima. Source: LeCun et al., "Gradient-based learning applied to document recognition", 1998."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def make_optimizer(net, steps):
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    return opt, torch.optim.lr_scheduler.OneCycleLR(opt, 2e-3, total_steps=steps, cycle_momentum=False)


def pixels(images):
    return images.unsqueeze(1) / 255


def load(folder, name, axes):
    """Reads an IDX file of bytes, compressed or not."""
    path = os.path.join(folder, name)
    if os.path.exists(path + ".gz"):
        path += ".gz"
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        raw = f.read()
    shape = np.frombuffer(raw, ">i4", axes, 4)
    return torch.tensor(np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape))


def load_pair(folder, part):
    images, labels = load(folder, part + "-images-idx3-ubyte", 3), load(folder, part + "-labels-idx1-ubyte", 1)
    if len(images) == 0 or images.shape[1:] != (28, 28) or len(images) != len(labels) or labels.max() > 9:
        sys.exit(f"mnist: the files {folder}/{part}* do not hold images of 28×28 and a label from 0 to 9 for each")
    return images, labels.long()


def train(net, images, labels, epochs):
    """Returns the seconds of a step, in the last epoch."""
    batches = (len(images) + 127) // 128
    opt, schedule = make_optimizer(net, epochs * batches)
    for epoch in range(epochs):
        start = time.perf_counter()
        for rows in torch.randperm(len(images)).split(128):
            loss = F.cross_entropy(net(pixels(images[rows])), labels[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            schedule.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f} of the last batch")
        step = (time.perf_counter() - start) / batches
    return step


def test(net, images, labels):
    """Returns the share of images that the net reads rightly, and its loss."""
    right, loss = 0, 0
    for x, t in zip(images.split(1000), labels.split(1000)):
        with torch.no_grad():
            scores = net(pixels(x))
        right += (scores.argmax(1) == t).sum().item()
        loss += F.cross_entropy(scores, t, reduction="sum").item()
    return right / len(labels), loss / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, help="folder of the four files of MNIST, or of a set like it")
    parser.add_argument("--device", default="cpu", help="what to compute on")
    parser.add_argument("--seed", type=int, default=1, help="of weights and the order of the images")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the images")
    parser.add_argument("--json", action="store_true", help="print the results as JSON, too")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error("--epochs is 1 or more")
    torch.manual_seed(args.seed)
    try:
        images, labels = load_pair(args.data, "train")
        tests, answers = load_pair(args.data, "t10k")
    except (OSError, ValueError) as e:
        sys.exit(f"mnist: {e}")
    net = make_net().to(args.device)
    step = train(net, images.to(args.device), labels.to(args.device), args.epochs)
    accuracy, loss = test(net, tests.to(args.device), answers.to(args.device))
    print(f"{100 * accuracy:.2f} % are right, loss {loss:.4f}, {1e6 * step:.0f} µs a step")
    if args.json:
        print(json.dumps({"accuracy": accuracy, "loss": loss, "step_us": 1e6 * step, "device": args.device}))


if __name__ == "__main__":
    main()
