"""Makes the reference numbers of optim's golden tests with PyTorch in float64: golden.py DIR.

For AdamW and SGD each: 50 full-batch steps of a network 16-32-32-3 with LeakyReLU 0.1 and the sum of squared
errors. The inputs X, Y and the starting weights w0, w1, w2 [out, in] and biases b0, b1 are float32; grad_* are the
gradients at step 0, losses those before each step, final_* the weights after the last. Needs torch and numpy.
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


make(sys.argv[1] + "/mlp_adamw.npz",
     lambda p: torch.optim.AdamW(p, lr=5e-3, betas=(0.92, 0.95), eps=1e-8, weight_decay=0.01))
make(sys.argv[1] + "/mlp_sgd.npz",
     lambda p: torch.optim.SGD(p, lr=1e-4, momentum=0.9, weight_decay=0.01))
