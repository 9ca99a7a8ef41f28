"""The program of examples/resnet in PyTorch."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

TRAINED = 1347  # digits; those after them are for testing


class Block(nn.Module):
    """Two convolutions whose result is added to the input."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = conv(inputs, outputs, 3, stride)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = conv(outputs, outputs, 3, 1)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential()
        if stride != 1:
            self.downsample = nn.Sequential(
                conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = self.bn1(self.conv1(x)).relu()
        y = self.bn2(self.conv2(y))
        return (y + self.downsample(x)).relu()


def conv(inputs, outputs, kernel, stride):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


def resnet18(width, classes):
    layers = [conv(1, width, 3, 1), nn.BatchNorm2d(width), nn.ReLU()]
    for stage in range(4):
        outputs, stride = width << stage, min(2, stage + 1)
        layers.append(Block(outputs // stride, outputs, stride))
        layers.append(Block(outputs, outputs, 1))
    head = nn.Linear(8 * width, classes)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), head)


def pixels(images):
    return images.unsqueeze(1) / 16


def train(net, batches, epochs):
    """Returns the loss of each step."""
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * len(batches))
    losses = []
    for _ in range(epochs):
        for images, labels in batches:
            loss = F.cross_entropy(net(pixels(images)), labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
            schedule.step()
            losses.append(loss.item())
    return losses


def test(net, images, labels):
    """Returns the share of images that the net reads rightly."""
    net.eval()
    with torch.no_grad():
        right = net(pixels(images)).argmax(1) == labels
    return right.float().mean().item()


def read():
    file = np.load("testdata/digits.npz")
    images = torch.tensor(file["images"])
    return images, torch.tensor(file["labels"].astype(np.int64))


def main():
    torch.manual_seed(1)
    images, labels = read()
    net = resnet18(16, 10)
    dataset = torch.utils.data.TensorDataset(images[:TRAINED], labels[:TRAINED])
    batches = torch.utils.data.DataLoader(
        dataset, batch_size=64, shuffle=True, drop_last=True
    )
    losses = train(net, batches, 3)
    accuracy = test(net, images[TRAINED:], labels[TRAINED:])
    print(f"loss {losses[0]:.4f}, then {losses[-1]:.4f}")
    print(f"{100 * accuracy:.1f} % of other digits are right")


if __name__ == "__main__":
    main()
