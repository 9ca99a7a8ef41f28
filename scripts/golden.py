"""Makes the reference numbers of golden tests with PyTorch in float64: golden.py DIR.

Of optim's: for AdamW and SGD each: 50 full-batch steps of a network 16-32-32-3 with LeakyReLU 0.1 and the sum of squared
errors. The inputs X, Y and the starting weights w0, w1, w2 [out, in] and biases b0, b1 are float32; grad_* are the
gradients at step 0, losses those before each step, final_* the weights after the last.

Of autograd's: a critic 4-8-8-1 with LeakyReLU 0.2 and tanh, trained with the gradient penalty of WGAN-GP (Gulrajani et
al., "Improved Training of Wasserstein GANs", NIPS 2017) by 10 steps of gradient descent. slope is the critic's gradient at
the points between real and fake, penalties and losses those before each step, grad_* the gradients at step 0.

Needs torch and numpy.
"""
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
NAMES = ["w0", "w1", "w2", "b0", "b1"]


def make(path, optimizer):
    rng = np.random.default_rng(20261120)
    sizes = [16, 32, 32, 3]
    out = {"X": rng.standard_normal((64, 16)), "Y": rng.random((64, 3))}
    for i in range(3):
        out[f"w{i}"] = rng.standard_normal((sizes[i + 1], sizes[i])) / np.sqrt(sizes[i])
    for i in range(2):
        out[f"b{i}"] = rng.standard_normal(sizes[i + 1]) / np.sqrt(sizes[i])
    out = {k: v.astype(np.float32) for k, v in out.items()}
    x, y = (torch.tensor(out[k].astype(np.float64)) for k in "XY")
    params = [torch.tensor(out[n].astype(np.float64), requires_grad=True) for n in NAMES]
    w0, w1, w2, b0, b1 = params
    opt = optimizer(params)
    losses = []
    for step in range(50):
        h = torch.nn.functional.leaky_relu(x @ w0.T + b0, 0.1)
        h = torch.nn.functional.leaky_relu(h @ w1.T + b1, 0.1)
        loss = ((h @ w2.T - y) ** 2).sum()
        opt.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            out.update({f"grad_{n}": p.grad.numpy().copy() for n, p in zip(NAMES, params)})
        opt.step()
    out["losses"] = np.array(losses)
    out.update({f"final_{n}": p.detach().numpy() for n, p in zip(NAMES, params)})
    np.savez(path, **out)
    print(path, "torch", torch.__version__, "loss", losses[0], "to", losses[-1])


def penalty(path):
    rng = np.random.default_rng(20261121)
    out = {"real": rng.standard_normal((6, 4)), "fake": rng.random((6, 4)), "mix": rng.random((6, 1)),
           "w0": rng.standard_normal((4, 8)) / 2, "b0": rng.standard_normal(8) / 2,
           "w1": rng.standard_normal((8, 8)) / 2, "b1": rng.standard_normal(8) / 2,
           "w2": rng.standard_normal((8, 1)), "b2": rng.standard_normal(1)}
    real, fake, mix = (torch.tensor(out[k]) for k in ("real", "fake", "mix"))
    names = ["w0", "b0", "w1", "b1", "w2", "b2"]
    params = [torch.tensor(out[n], requires_grad=True) for n in names]
    w0, b0, w1, b1, w2, b2 = params

    def critic(x):
        h = torch.nn.functional.leaky_relu(x @ w0 + b0, 0.2)
        return torch.tanh(h @ w1 + b1) @ w2 + b2

    losses, penalties = [], []
    for step in range(10):
        between = (mix * real + (1 - mix) * fake).requires_grad_()
        slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        gp = ((slope.norm(dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * gp
        grads = torch.autograd.grad(loss, params)
        losses.append(loss.item())
        penalties.append(gp.item())
        if step == 0:
            out["slope"] = slope.detach().numpy()
            out.update({f"grad_{n}": g.numpy() for n, g in zip(names, grads)})
        with torch.no_grad():
            for p, g in zip(params, grads):
                p -= 0.004 * g
    out["losses"], out["penalties"] = np.array(losses), np.array(penalties)
    out.update({f"final_{n}": p.detach().numpy() for n, p in zip(names, params)})
    np.savez(path, **out)
    print(path, "torch", torch.__version__, "loss", losses[0], "to", losses[-1])


make(sys.argv[1] + "/mlp_adamw.npz",
     lambda p: torch.optim.AdamW(p, lr=5e-3, betas=(0.92, 0.95), eps=1e-8, weight_decay=0.01))
make(sys.argv[1] + "/mlp_sgd.npz",
     lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9, weight_decay=0.01))
penalty(sys.argv[1] + "/wgan_gp.npz")
