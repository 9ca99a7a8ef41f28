"""The program of examples/unet in PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn

SIDE = 32  # pixels


class UNet(nn.Module):
    def __init__(self, *channels):
        super().__init__()
        self.down, self.up, self.grow = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for i, (last, n) in enumerate(zip((1, *channels), channels)):
            self.down.append(double(last, n))
            if i > 0:
                self.up.append(double(2 * last, last))
                self.grow.append(nn.ConvTranspose2d(n, last, 2, stride=2))
        self.head = nn.Conv2d(channels[0], 1, 1)

    def forward(self, x):
        skips = []
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i > 0 else x)
            skips.append(x)
        for i in reversed(range(len(self.up))):
            x = self.up[i](torch.cat([skips[i], self.grow[i](x)], 1))
        return self.head(x)


def double(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def discs(first, n):
    """Returns n pictures [n, 1, SIDE, SIDE] from number first on, and which pixels are in a disc."""
    i = torch.arange(first, first + n, dtype=torch.get_default_dtype()).reshape(n, 1, 1, 1)
    x = torch.arange(SIDE, dtype=i.dtype)
    y = x.unsqueeze(1)
    centre_x, centre_y = (0.618 * i).frac() * 20 + 6, (0.414 * i).frac() * 20 + 6
    radius = (0.732 * i).frac() * 4 + 3
    masks = (x - centre_x).square() + (y - centre_y).square() < radius.square()
    noise = (7.1 * x + 3.3 * y + 1.7 * i).sin() + (x * y + i).cos()
    return masks + 0.7 * noise, masks.to(i.dtype)


def train(net, steps):
    """Returns the loss of each step."""
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    losses = []
    for step in range(steps):
        pictures, masks = discs(16 * step, 16)
        loss = F.binary_cross_entropy_with_logits(net(pictures), masks)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


def test(net):
    """Returns the overlap of what the net finds with the discs: intersection over union."""
    net.eval()
    with torch.no_grad():
        pictures, masks = discs(10000, 32)
        found = (net(pictures) > 0).to(masks.dtype)
    return ((found * masks).sum() / found.maximum(masks).sum()).item()


def main():
    torch.manual_seed(1)
    net = UNet(8, 16, 32)
    losses = train(net, 60)
    iou = test(net)
    print(f"loss {losses[0]:.4f}, then {losses[-1]:.4f}")
    print(f"overlap with the discs of other pictures {iou:.3f}")


if __name__ == "__main__":
    main()
