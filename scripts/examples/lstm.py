"""The program of examples/lstm in PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn

LENGTH = 400  # values of the wave
WINDOW = 40  # values that the model reads in training
AHEAD = 30  # values that it continues with


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 32, batch_first=True)
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0])

    def extend(self, x, n):
        """Returns the n values [1, n, 1] that follow x [1, time, 1]."""
        state, values = None, []
        for _ in range(n):
            y, state = self.lstm(x, state)
            x = self.head(y[:, -1:])
            values.append(x)
        return torch.cat(values, 1)


def wave(n):
    t = torch.arange(n, dtype=torch.get_default_dtype())
    return ((0.3 * t).sin() + (0.11 * t).cos()) * 0.4


def train(net, series, steps):
    """Returns the loss of each step."""
    windows = series.unfold(0, WINDOW + 1, 4).unsqueeze(2)
    x, y = windows[:, :-1], windows[:, 1:]
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    losses = []
    for _ in range(steps):
        loss = F.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def test(net, series):
    """Returns the mean squared error of what the model continues a series with."""
    start, end = series[-AHEAD - WINDOW : -AHEAD], series[-AHEAD:]
    with torch.no_grad():
        return F.mse_loss(net.extend(start.reshape(1, -1, 1), AHEAD).flatten(), end).item()


def main():
    torch.manual_seed(1)
    net, series = Forecaster(), wave(LENGTH + AHEAD)
    losses = train(net, series[:LENGTH], 300)
    loss = test(net, series)
    print(f"loss {losses[0]:.6f}, then {losses[-1]:.6f}")
    print(f"error {loss:.6f} of {AHEAD} values ahead")


if __name__ == "__main__":
    main()
