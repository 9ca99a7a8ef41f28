"""The program of examples/weights in PyTorch."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

TRAINED = 1344  # digits; those after them are for testing


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(128, 64),
            nn.ReLU(),
        )
        self.head = nn.Linear(64, classes)

    def forward(self, images):
        """Returns the scores of images [n, 8, 8] of 0 to 16."""
        return self.head(self.features(images.unsqueeze(1) / 16))


def sub(weights, prefix):
    """Returns the weights whose names begin with prefix, by the rest of their names."""
    return {k[len(prefix) :]: v for k, v in weights.items() if k.startswith(prefix)}


def train(net, batches, epochs):
    """Trains the head alone, and returns the loss of each step."""
    opt = torch.optim.AdamW(net.head.parameters(), lr=1e-2)
    losses = []
    for _ in range(epochs):
        for images, labels in batches:
            loss = F.cross_entropy(net(images), labels % 2)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
    return losses


def test(net, images, labels):
    """Returns the share of images that the net reads rightly."""
    with torch.no_grad():
        right = net(images).argmax(1) == labels
    return right.float().mean().item()


def read():
    file = np.load("testdata/digits.npz")
    images = torch.tensor(file["images"])
    return images, torch.tensor(file["labels"].astype(np.int64))


def main():
    torch.manual_seed(1)
    images, labels = read()
    unseen, truth = images[TRAINED:], labels[TRAINED:]
    checkpoint = torch.load("testdata/examples/weights.pt")

    whole = Classifier(10)
    whole.load_state_dict(sub(checkpoint["model"], "module."))
    accuracy = test(whole, unseen, truth)
    print(f"{100 * accuracy:.2f} % of digits are right")

    net = Classifier(2)
    net.features.load_state_dict(sub(checkpoint["model"], "module.features."))
    net.features.requires_grad_(False)
    dataset = torch.utils.data.TensorDataset(images[:TRAINED], labels[:TRAINED])
    batches = torch.utils.data.DataLoader(dataset, batch_size=64, shuffle=True)
    losses = train(net, batches, 3)
    accuracy = test(net, unseen, truth % 2)
    print(f"loss {losses[0]:.4f}, then {losses[-1]:.4f}")
    print(f"{100 * accuracy:.2f} % are rightly even or odd")


if __name__ == "__main__":
    main()
