"""Makes the reference numbers of the tests of package optim in float64: optimizers.py DIR.

optimizers.npz: of two parameters, a0 [3, 50] and b0 [7], and their gradients at 20 steps, a_grads and b_grads, what each
update rule makes of them at the last step, a_NAME and b_NAME. PyTorch's rules are its own; Lion and LAMB are the algorithms of their papers
in NumPy, ema is the average of the parameters under sgd. Names that begin with group_ have other settings for b.

schedules.npz: the learning rates of PyTorch's schedules at each step; of plateau also the losses that it was told.

Needs torch and numpy.
"""
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
STEPS, LR = 20, 0.05
rng = np.random.default_rng(20261122)
out = {"a0": rng.standard_normal((3, 50)), "b0": rng.standard_normal(7),
       "a_grads": rng.standard_normal((STEPS, 3, 50)), "b_grads": rng.standard_normal((STEPS, 7))}


def torch_rule(name, make):
    a, b = (torch.tensor(out[n], requires_grad=True) for n in ("a0", "b0"))
    opt = make(a, b)
    for step in range(STEPS):
        a.grad, b.grad = (torch.tensor(out[n][step]) for n in ("a_grads", "b_grads"))
        opt.step()
    out["a_" + name], out["b_" + name] = a.detach().numpy(), b.detach().numpy()


def numpy_rule(name, update):
    for n in "ab":
        p, state = out[n + "0"].copy(), {"m": np.zeros_like(out[n + "0"]), "v": np.zeros_like(out[n + "0"])}
        for step in range(STEPS):
            p = update(p, out[n + "_grads"][step], state, step + 1)
        out[f"{n}_{name}"] = p


def lion(p, g, s, t, b1=0.9, b2=0.99, wd=0.1):
    c = b1 * s["m"] + (1 - b1) * g
    s["m"] = b2 * s["m"] + (1 - b2) * g
    return p - LR * (np.sign(c) + wd * p)


def lamb(p, g, s, t, b1=0.9, b2=0.999, eps=1e-6, wd=0.1):
    s["m"] = b1 * s["m"] + (1 - b1) * g
    s["v"] = b2 * s["v"] + (1 - b2) * g * g
    r = s["m"] / (1 - b1**t) / (np.sqrt(s["v"] / (1 - b2**t)) + eps)
    u = r + wd * p
    return p - LR * np.linalg.norm(p) / np.linalg.norm(u) * u


O = torch.optim
torch_rule("adam", lambda *p: O.Adam(p, LR, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.1))
torch_rule("adam_defaults", lambda *p: O.Adam(p, LR))
torch_rule("rmsprop", lambda *p: O.RMSprop(p, LR, weight_decay=0.1))
torch_rule("rmsprop_centered", lambda *p: O.RMSprop(p, LR, alpha=0.9, eps=1e-3, centered=True))
torch_rule("rmsprop_momentum", lambda *p: O.RMSprop(p, LR, alpha=0.9, momentum=0.9))
torch_rule("rmsprop_all", lambda *p: O.RMSprop(p, LR, alpha=0.9, momentum=0.9, centered=True, weight_decay=0.1))
torch_rule("adagrad", lambda *p: O.Adagrad(p, LR, weight_decay=0.1, initial_accumulator_value=0.5))
torch_rule("adagrad_defaults", lambda *p: O.Adagrad(p, LR))
torch_rule("adagrad_decay", lambda *p: O.Adagrad(p, LR, lr_decay=0.1))
torch_rule("group_adamw", lambda a, b: O.AdamW([{"params": [a]}, {"params": [b], "lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0}], LR))
torch_rule("group_sgd", lambda a, b: O.SGD([{"params": [a]}, {"params": [b], "lr": 0.01, "momentum": 0.5}], LR, weight_decay=0.1))
torch_rule("group_rmsprop", lambda a, b: O.RMSprop([{"params": [a]}, {"params": [b], "lr": 0.01, "momentum": 0.5, "centered": True}], LR))
numpy_rule("lion", lion)
numpy_rule("lamb", lamb)
for n in "ab":
    p, average = out[n + "0"].copy(), out[n + "0"].copy()
    for step in range(STEPS):
        p = p - LR * out[n + "_grads"][step]
        average = 0.9 * average + (1 - 0.9) * p
    out[n + "_ema"] = average
np.savez_compressed(sys.argv[1] + "/optimizers.npz", **out)

rates = {}
L = torch.optim.lr_scheduler


def schedule(name, steps, make, lr=0.1, metrics=None):
    opt = O.SGD([torch.zeros(1, requires_grad=True)], lr, momentum=0.9)
    s = make(opt)
    rates[name] = []
    for step in range(steps):
        rates[name].append(opt.param_groups[0]["lr"])
        opt.step()
        if metrics is not None:
            s.step(metrics[step])
        elif step < steps - 1:
            s.step()
    rates[name] = np.array(rates[name])


schedule("onecycle", 40, lambda o: L.OneCycleLR(o, 0.1, total_steps=40))
schedule("onecycle_linear", 33, lambda o: L.OneCycleLR(o, 0.1, total_steps=33, pct_start=0.45, anneal_strategy="linear", div_factor=10, final_div_factor=100))
schedule("onecycle_three", 37, lambda o: L.OneCycleLR(o, 0.1, total_steps=37, pct_start=0.4, three_phase=True))
schedule("polynomial", 25, lambda o: L.PolynomialLR(o, total_iters=20, power=2))
schedule("restarts", 60, lambda o: L.CosineAnnealingWarmRestarts(o, T_0=7, T_mult=2, eta_min=0.001))
schedule("restarts_equal", 30, lambda o: L.CosineAnnealingWarmRestarts(o, T_0=8))
schedule("warmup_lambda", 12, lambda o: L.LambdaLR(o, lambda step: min(1, (step + 1) / 5)))
schedule("warmup_linear", 12, lambda o: L.SequentialLR(
    o, [L.LinearLR(o, start_factor=0.01, total_iters=5), L.ExponentialLR(o, 0.5)], milestones=[5]))
losses = np.round(np.abs(rng.standard_normal(80)) + 3 * np.exp(-np.arange(80) / 10), 3)
losses[30], losses[55] = np.nan, -1
rates["losses"] = losses
P = L.ReduceLROnPlateau
schedule("plateau", 80, lambda o: P(o), metrics=losses)
schedule("plateau_all", 80, lambda o: P(o, factor=0.5, patience=2, threshold=0.05, cooldown=3, min_lr=0.002), metrics=losses)
schedule("plateau_max", 80, lambda o: P(o, mode="max", patience=0, factor=0.7, threshold=0.3, threshold_mode="abs"), metrics=losses)
np.savez_compressed(sys.argv[1] + "/schedules.npz", **rates)
