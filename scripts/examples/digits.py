"""The program of examples/digits in PyTorch, to compare results, times and lines."""
import argparse
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw
from torch import nn

TRAIN = 1347  # the digits after these are for testing


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25),
        nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def pixels(images):
    return images.unsqueeze(1) / 16


def make_optimizer(net, steps):
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    return opt, torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)


def train(net, images, labels, epochs):
    """Returns the seconds of a step, in the last epoch."""
    batches = (len(images) + 31) // 32
    opt, schedule = make_optimizer(net, epochs * batches)
    for _ in range(epochs):
        start = time.perf_counter()
        for rows in torch.randperm(len(images)).split(32):
            loss = F.cross_entropy(net(pixels(images[rows])), labels[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            schedule.step()
        loss.item()
        step = (time.perf_counter() - start) / batches
    return step


def test(net, images, labels):
    net.eval()
    with torch.no_grad():
        scores = net(pixels(images))
    return scores.argmax(1).tolist(), F.cross_entropy(scores, labels).item()


def confusion(answers, labels):
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, answers), 1)
    lines = ["      " + " ".join(f"{i:3d}" for i in range(10))]
    for label in range(10):
        lines.append(f"{label:3d}   " + " ".join(f"{n:3d}" for n in counts[label]))
    return "\n".join(lines)


def draw(path, images, answers, labels):
    """Draws the images that are taken for others, ten in a row."""
    wrong = [i for i in range(len(labels)) if answers[i] != labels[i]]
    img = Image.new("L", (10 * 72, (len(wrong) + 9) // 10 * 88))
    text = ImageDraw.Draw(img)
    for at, i in enumerate(wrong):
        x, y = at % 10 * 72 + 4, at // 10 * 88 + 4
        img.paste(Image.fromarray(images[i] * 15).resize((64, 64), Image.NEAREST), (x, y))
        text.text((x, y + 66), f"{labels[i]} as {answers[i]}", fill=255)
    img.save(path + ".tmp", "png")
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="testdata/digits.npz", help="the digits, an npz file")
    parser.add_argument("--device", default="cpu", help="what to compute on")
    parser.add_argument("--seed", type=int, default=1, help="of weights, dropout and the order of the digits")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the digits")
    parser.add_argument("--mistakes", default="digits.png", help="picture to draw")
    parser.add_argument("--model", help="file to save the net to")
    parser.add_argument("--json", action="store_true", help="print the results as JSON, too")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error("--epochs is 1 or more")
    try:
        file = np.load(args.data)
    except (OSError, ValueError) as e:
        sys.exit(f"digits: {e}")
    if file["images"].shape != (1797, 8, 8) or file["labels"].shape != (1797,):
        sys.exit(f"digits: {args.data} has no 1797 images of 8×8 with labels")
    if file["labels"].min() < 0 or file["labels"].max() > 9:
        sys.exit(f"digits: {args.data} has labels that are no digit")
    torch.manual_seed(args.seed)
    images = torch.tensor(file["images"], device=args.device)
    labels = torch.tensor(file["labels"].astype(np.int64), device=args.device)
    net = make_net().to(args.device)
    step = train(net, images[:TRAIN], labels[:TRAIN], args.epochs)
    if args.model:
        torch.save(net.state_dict(), args.model)
    answers, loss = test(net, images[TRAIN:], labels[TRAIN:])
    truth = labels[TRAIN:].tolist()
    accuracy = np.mean([a == t for a, t in zip(answers, truth)])
    print(confusion(answers, truth))
    print(f"{100 * accuracy:.2f} % are right, loss {loss:.4f}, {1e6 * step:.0f} µs a step")
    draw(args.mistakes, file["images"][TRAIN:], answers, truth)
    if args.json:
        print(json.dumps({"accuracy": accuracy, "loss": loss, "step_us": 1e6 * step, "device": args.device}))


if __name__ == "__main__":
    main()
