"""The program of examples/pinn in PyTorch."""

import math

import torch
from torch import nn

K = 0.1  # of the heat equation


def make_net():
    return nn.Sequential(
        nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)
    )


def solution(net, x, t):
    return (math.pi * x).sin() + x * (1 - x) * t * net(torch.cat([x, t], 1))


def residual(net, x, t):
    """Returns u_t − k·u_xx."""
    u = solution(net, x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), [x, t], create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), [x], create_graph=True)
    return u_t - K * u_xx


def points(n):
    i = torch.arange(1, n + 1, dtype=torch.get_default_dtype()).reshape(n, 1)
    x, t = (0.754877 * i).frac(), (0.569840 * i).frac()
    return x.requires_grad_(), t.requires_grad_()


def train(net, steps):
    """Returns the loss of each step."""
    x, t = points(256)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    losses = []
    for _ in range(steps):
        loss = residual(net, x, t).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def test(net):
    """Returns the largest error at other points: the solution is e^(−π²kt)·sin πx."""
    x, t = points(1000)
    with torch.no_grad():
        exact = (-(math.pi**2) * K * t).exp() * (math.pi * x).sin()
        return (solution(net, x, t) - exact).abs().max().item()


def main():
    torch.manual_seed(1)
    net = make_net()
    losses = train(net, 400)
    worst = test(net)
    print(f"squared residual {losses[0]:.6f}, then {losses[-1]:.6f}")
    print(f"largest error {worst:.5f}")


if __name__ == "__main__":
    main()
