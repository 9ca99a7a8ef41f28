"""Makes the losses that tests of the examples compare with: scripts/examples/reference.py DIR [NAME…], of all programs or
of those named.

losses.json has what these return in float64, from the weights that begin_by_formula sets:

- lstm, resnet, unet, pinn, mixed, weights: the loss of each step and the test. mixed_bfloat16 is in float32 with products in
  bfloat16. weights.pt is the network that weights loads.
- customop: the loss of each step, and the weights that it begins with.
- serve: its answers, with the net of digits.npz.

Of the other programs, each file has the weights that a net of PyTorch begins with, by their names in its state dict and
rounded to float16, and the losses of its first steps in float64, without dropout and with the data in order. That of the
autoencoder has its noise, too, and that of the transformer what it writes before the first step.

Needs numpy, torch and PIL; customop also a C++ compiler and ninja.
"""
import argparse
import json
import pathlib
import sys
import threading
import urllib.request

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import chars
import digits
import lstm
import mixed
import mnist
import pinn
import resnet
import serve
import unet
import vae
import weights

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
    settings = argparse.Namespace(write=40, context=window, temperature=0, device="cpu")
    out["written"] = np.array([ord(c) for c in chars.write(net, alphabet, text[0].item(), settings)], np.int32)
    opt = chars.make_optimizer(net, 3e-3)
    schedule = torch.optim.lr_scheduler.ConstantLR(opt, 1)

    def loss(net, i):
        x, y = chars.pieces(text, starts[i], window)
        return F.cross_entropy(net(x)[0], y)

    out["losses"] = steps(net, opt, schedule, [lambda net, i=i: loss(net, i) for i in range(len(starts))])
    save("chars", out)


def begin_by_formula(net):
    """Sets element i of parameter number k, in the order of their names, to b·(2·frac(0.6180339887498949·(i + 1000·k)²) − 1)
    with b = √(1/fan-in), and parameters of one axis that are biases to 0: exampletest.Begin does the same."""
    for k, (name, p) in enumerate(sorted(net.named_parameters())):
        with torch.no_grad():
            if p.dim() > 1:
                i = torch.arange(p.numel(), dtype=torch.float64) + 1000 * k
                p.copy_(((i * i * 0.6180339887498949).remainder(1) * 2 - 1).reshape(p.shape) * (p.shape[0] / p.numel()) ** 0.5)
            elif "bias" in name:
                p.zero_()
    return net


def lstm_run():
    net, series = begin_by_formula(lstm.Forecaster()), lstm.wave(lstm.LENGTH + lstm.AHEAD)
    return {"losses": lstm.train(net, series[:lstm.LENGTH], 15), "test": lstm.test(net, series)}


def in_order(images, labels, batch):
    return list(zip(images.split(batch), labels.split(batch)))


def resnet_run():
    images, labels = resnet.read()
    net = begin_by_formula(resnet.resnet18(4, 10))
    losses = resnet.train(net, in_order(images[:320], labels[:320], 32), 1)
    return {"losses": losses, "test": resnet.test(net, images[-100:], labels[-100:])}


def unet_run():
    net = begin_by_formula(unet.UNet(4, 8, 8))
    return {"losses": unet.train(net, 6), "test": unet.test(net)}


def pinn_run():
    net = begin_by_formula(pinn.make_net())
    return {"losses": pinn.train(net, 20), "test": pinn.test(net)}


def mixed_run(dtype=torch.float32):
    images, labels = mixed.read()
    t = mixed.Trainer(begin_by_formula(mixed.make_net()))
    losses = t.train(dtype, in_order(images[:512], labels[:512], 32), 2)
    return {"losses": losses, "test": t.test(images[-100:], labels[-100:])}


def mixed_bfloat16_run():
    torch.set_default_dtype(torch.float32)
    run = mixed_run(torch.bfloat16)
    torch.set_default_dtype(torch.float64)
    return run


def weights_run():
    """Trains the network first, which is rounded to float16."""
    torch.manual_seed(1)
    images, labels = weights.read()
    net = weights.Classifier(10)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for _ in range(15):
        for x, y in in_order(images[:weights.TRAINED], labels[:weights.TRAINED], 32):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
    state = {"module." + name: v.half() for name, v in net.state_dict().items()}
    torch.save({"epoch": 15, "model": state}, folder / "weights.pt")
    net.load_state_dict(weights.sub(state, "module."))
    right = weights.test(net, images[weights.TRAINED:], labels[weights.TRAINED:])

    net.head = nn.Linear(64, 2)
    begin_by_formula(net.head)
    net.features.requires_grad_(False)
    return {"losses": weights.train(net, in_order(images[:640], labels[:640], 64), 1), "test": right}


def customop_run():
    """The program compiles C++ when it is imported."""
    import customop

    torch.manual_seed(1)
    net = customop.Net(24)
    weights = {name: [round(v, 3) for v in p.flatten().tolist()] for name, p in net.named_parameters()}
    with torch.no_grad():
        for name, p in net.named_parameters():
            p.copy_(torch.tensor(weights[name]).reshape(p.shape))
    return {"losses": customop.train(net, 20), "weights": weights}


def serve_run():
    """The probabilities that the server answers with, of the net of digits.npz, and the digits."""
    net, weights, images = digits.make_net(), np.load(folder / "digits.npz"), np.load("testdata/digits.npz")["images"]
    net.load_state_dict({name: torch.tensor(weights[name].astype(np.float64)) for name in net.state_dict()})
    net.eval()
    server = serve.http.server.ThreadingHTTPServer(("localhost", 0), serve.Handler)
    server.predictor = serve.Predictor(net, 32, 0.002, 256)
    threading.Thread(target=server.serve_forever).start()
    answers = []
    for image in images[:8]:
        body = json.dumps({"pixels": image.flatten().tolist()}).encode()
        with urllib.request.urlopen(f"http://localhost:{server.server_port}/predict", body) as r:
            answers.append(json.load(r))
    server.shutdown()
    server.server_close()
    server.predictor.close()
    return {"answers": answers}


def save_run(name):
    path = folder / "losses.json"
    runs = json.loads(path.read_text()) if path.exists() else {}
    runs[name] = globals()[name + "_run"]()
    path.write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")
    print(name, {k: v[-1] if isinstance(v, list) else v for k, v in runs[name].items()})


for name in sys.argv[2:] or [n.rpartition("_")[0] for n in list(globals()) if n.endswith(("_losses", "_run"))]:
    if name + "_run" in globals():
        save_run(name)
    else:
        globals()[name + "_losses"]()
