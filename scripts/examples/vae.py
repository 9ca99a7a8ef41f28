"""The program of examples/vae in PyTorch, to compare results, times and lines."""
import argparse
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn

TRAIN = 1347  # the digits after these are for testing
CODE = 8  # numbers that an image is described by


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 2 * CODE))
        self.decoder = nn.Sequential(nn.Linear(CODE, 256), nn.ReLU(), nn.Linear(256, 64))

    def loss(self, x, noise):
        """Returns the negative evidence lower bound of images [n, 64], a mean over them."""
        mean, log_var = self.encoder(x).chunk(2, 1)
        z = mean + (0.5 * log_var).exp() * noise
        reconstruction = F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="sum")
        divergence = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum()
        return (reconstruction + divergence) / len(x)


def pixels(images):
    return images.flatten(1) / 16


def make_optimizer(net, steps):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    return opt, torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)


def train(net, images, epochs):
    """Returns the seconds of a step, in the last epoch."""
    batches = (len(images) + 63) // 64
    opt, schedule = make_optimizer(net, epochs * batches)
    for _ in range(epochs):
        start = time.perf_counter()
        for rows in torch.randperm(len(images)).split(64):
            loss = net.loss(pixels(images[rows]), torch.randn(len(rows), CODE, device=images.device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            schedule.step()
        loss.item()
        step = (time.perf_counter() - start) / batches
    return step


def draw(path, net, device):
    """Draws what a hundred random codes stand for, ten in a row."""
    with torch.no_grad():
        images = net.decoder(torch.randn(100, CODE, device=device)).sigmoid()
    grid = F.pad(images.reshape(10, 10, 8, 8), (1, 1, 1, 1)).permute(0, 2, 1, 3).reshape(100, 100) * 255
    grid = grid.repeat_interleave(4, 0).repeat_interleave(4, 1)
    Image.fromarray(grid.to(torch.uint8).cpu().numpy()).save(path + ".tmp", "png")
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="testdata/digits.npz", help="the digits, an npz file")
    parser.add_argument("--device", default="cpu", help="what to compute on")
    parser.add_argument("--seed", type=int, default=1, help="of weights, noise and the order of the digits")
    parser.add_argument("--epochs", type=int, default=100, help="passes over the digits")
    parser.add_argument("--samples", default="samples.png", help="picture to draw")
    parser.add_argument("--json", action="store_true", help="print the results as JSON, too")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error("--epochs is 1 or more")
    try:
        file = np.load(args.data)
    except (OSError, ValueError) as e:
        sys.exit(f"vae: {e}")
    if file["images"].shape != (1797, 8, 8):
        sys.exit(f"vae: {args.data} has no 1797 images of 8×8")
    torch.manual_seed(args.seed)
    images = torch.tensor(file["images"], device=args.device)
    net = VAE().to(args.device)
    step = train(net, images[:TRAIN], args.epochs)
    tests = pixels(images[TRAIN:])
    with torch.no_grad():
        loss = net.loss(tests, torch.randn(len(tests), CODE, device=args.device)).item()
    print(f"loss {loss:.3f} of images that it was not trained on, {1e6 * step:.0f} µs a step")
    if args.json:
        print(json.dumps({"loss": loss, "step_us": 1e6 * step, "device": args.device}))
    draw(args.samples, net, args.device)


if __name__ == "__main__":
    main()
