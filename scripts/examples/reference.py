"""Makes the losses that tests of the examples compare with: scripts/examples/reference.py DIR.

Each file has the weights that a net of PyTorch begins with, by their names in its state dict and rounded to float16, and the
losses of its first steps in float64, without dropout and with the data in order. That of the autoencoder has its noise, too.
Needs numpy, torch and PIL.
"""
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

import chars
import digits
import mnist
import vae

torch.set_default_dtype(torch.float64)
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def begin(net):
    """Rounds the weights of a net and returns what a file begins with."""
    weights = {name: v.numpy().astype(np.float16) for name, v in net.state_dict().items()}
    net.load_state_dict({name: torch.tensor(v.astype(np.float64)) for name, v in weights.items()})
    net.eval()
    return weights


def steps(net, opt, schedule, losses):
    """Returns the values of losses, each before a step of the optimizer."""
    values = []
    for loss in losses:
        value = loss(net)
        opt.zero_grad()
        value.backward()
        opt.step()
        schedule.step()
        values.append(value.item())
    return values


def save(name, out):
    np.savez_compressed(folder / (name + ".npz"), **out)
    print(name, "from", out["losses"][0], "to", out["losses"][-1])


def digits_losses():
    file = np.load("testdata/digits.npz")
    images, labels = torch.tensor(file["images"]), torch.tensor(file["labels"].astype(np.int64))
    torch.manual_seed(1)
    net = digits.make_net()
    out = begin(net)
    opt, schedule = digits.make_optimizer(net, 40)
    out["losses"] = steps(net, opt, schedule, [
        lambda net, i=i: F.cross_entropy(net(digits.pixels(images[i:i + 32])), labels[i:i + 32]) for i in range(0, 40 * 32, 32)])
    save("digits", out)


def vae_losses():
    images = torch.tensor(np.load("testdata/digits.npz")["images"])
    torch.manual_seed(1)
    net = vae.VAE()
    out = begin(net)
    noise = torch.randn(20, 64, vae.CODE).half()
    out["noise"] = noise.numpy()
    opt, schedule = vae.make_optimizer(net, 20)
    out["losses"] = steps(net, opt, schedule, [
        lambda net, i=i: net.loss(vae.pixels(images[64 * i:64 * i + 64]), noise[i].double()) for i in range(20)])
    save("vae", out)


def mnist_losses():
    """Of the first digits enlarged to 28×28: each pixel is nine, and twice two rows and columns are around them."""
    file = np.load("testdata/digits.npz")
    large = np.pad(file["images"][:10 * 16].repeat(3, 1).repeat(3, 2) * 15, ((0, 0), (2, 2), (2, 2)))
    images, labels = torch.tensor(large), torch.tensor(file["labels"].astype(np.int64))
    torch.manual_seed(1)
    net = mnist.make_net()
    out = begin(net)
    opt, schedule = mnist.make_optimizer(net, 10)
    out["losses"] = steps(net, opt, schedule, [
        lambda net, i=i: F.cross_entropy(net(mnist.pixels(images[i:i + 16])), labels[i:i + 16]) for i in range(0, 10 * 16, 16)])
    save("mnist", out)


def chars_losses():
    window = 16
    alphabet, text, *_ = chars.read("examples/chars/testdata/opticks.txt", window)
    torch.manual_seed(1)
    net = chars.Model(len(alphabet), 2, 32, 4, window)
    out = begin(net)
    starts = torch.randint(len(text) - window, (30, 8))
    out["starts"] = starts.numpy().astype(np.int32)
    opt = chars.make_optimizer(net, 3e-3)
    schedule = torch.optim.lr_scheduler.ConstantLR(opt, 1)

    def loss(net, i):
        x, y = chars.pieces(text, starts[i], window)
        return F.cross_entropy(net(x), y)

    out["losses"] = steps(net, opt, schedule, [lambda net, i=i: loss(net, i) for i in range(len(starts))])
    save("chars", out)


digits_losses()
mnist_losses()
vae_losses()
chars_losses()
