"""The program of examples/mixed in PyTorch."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

TRAINED = 1344  # digits; those after them are for testing
PARTS = 4  # of a batch, whose gradients add up


def make_net():
    return nn.Sequential(
        nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10)
    )


def pixels(images):
    return images.flatten(1) / 16


class Trainer:
    """A net with what a step of training changes."""

    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
        self.ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.95))
        self.ema.update_parameters(net)  # the first call copies

    def train(self, dtype, batches, epochs):
        """Computes products in dtype, and returns the loss of each part of a batch."""
        losses = []
        for _ in range(epochs):
            for images, labels in batches:
                with torch.autocast("cpu", dtype, enabled=dtype == torch.bfloat16):
                    loss = F.cross_entropy(self.net(pixels(images)), labels)
                (loss / PARTS).backward()
                losses.append(loss.item())
                if len(losses) % PARTS == 0:
                    nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                    self.opt.step()
                    self.opt.zero_grad()
                    self.ema.update_parameters(self.net)
        return losses

    def test(self, images, labels):
        """Returns the loss of the averaged weights."""
        with torch.no_grad():
            return F.cross_entropy(self.ema(pixels(images)), labels).item()


def read():
    file = np.load("testdata/digits.npz")
    images = torch.tensor(file["images"])
    return images, torch.tensor(file["labels"].astype(np.int64))


def main():
    torch.manual_seed(1)
    images, labels = read()
    t = Trainer(make_net())
    dataset = torch.utils.data.TensorDataset(images[:TRAINED], labels[:TRAINED])
    batches = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    losses = t.train(torch.bfloat16, batches, 10)
    loss = t.test(images[TRAINED:], labels[TRAINED:])
    print(f"loss {losses[0]:.4f}, then {losses[-1]:.4f}")
    print(f"{loss:.4f} on other digits, by averaged weights")


if __name__ == "__main__":
    main()
