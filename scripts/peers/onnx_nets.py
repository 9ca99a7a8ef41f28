"""Times three nets in the format ONNX on a GPU beside PyTorch, eager and compiled, at a batch of 64.

    onnx_nets.py CLGRAD [NAME...]

The nets are exported with random weights; `clgrad onnx check` compares their outputs first. Needs PyTorch with CUDA,
torchvision and transformers.
"""
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torchvision
import transformers

from timing import seconds

BATCH, TOKENS = 64, 128


class Bert(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = transformers.BertModel(transformers.BertConfig(
            num_hidden_layers=4, hidden_size=512, num_attention_heads=8, intermediate_size=2048, attn_implementation="eager"))

    def forward(self, ids, mask):
        return self.model(ids, attention_mask=mask).last_hidden_state


def picture():
    return {"x": torch.randn(BATCH, 3, 224, 224)}


def text():
    return {"ids": torch.randint(0, 30000, (BATCH, TOKENS)), "mask": torch.ones(BATCH, TOKENS, dtype=torch.int64)}


NETS = {
    "resnet50": (lambda: torchvision.models.resnet50(weights=None), picture),
    "mobilenet_v2": (lambda: torchvision.models.mobilenet_v2(weights=None), picture),
    "bert 4x512": (Bert, text),
}


def clock(f):
    return np.median(seconds(f, torch.cuda.synchronize)) * 1e3


def measure(clgrad, name, folder):
    make, inputs = NETS[name]
    torch.manual_seed(0)
    model, inputs = make().eval(), inputs()
    path, pairs = folder + "/model.onnx", folder + "/pairs.npz"
    torch.onnx.export(model, tuple(x[:2] for x in inputs.values()), path, input_names=list(inputs), output_names=["y"],
                      dynamic_axes={n: {0: "batch"} for n in [*inputs, "y"]}, dynamo=False, opset_version=17)
    model, there = model.cuda(), [x.cuda() for x in inputs.values()]
    for tf32 in False, True:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        if not tf32:
            y = model(*there).cpu().numpy()
            np.savez(pairs, **{"in:" + n: x.numpy() for n, x in inputs.items()}, **{"out:y": y})
        torch._dynamo.reset()
        compiled = torch.compile(model, mode="reduce-overhead")
        precision = "tf32" if tf32 else "float32"
        print(f"{name}, {precision}: PyTorch {clock(lambda: model(*there)):.2f} ms, "
              f"compiled {clock(lambda: compiled(*there)):.2f}", flush=True)
    del model, there, compiled
    torch.cuda.empty_cache()
    for command in ["check"], ["bench"], ["bench", "--precision", "tf32"]:
        subprocess.run([clgrad, "onnx", command[0], path, pairs, "--device", "opencl", *command[1:]])


def main(clgrad, *names):
    warnings.filterwarnings("ignore")
    for name in names or NETS:
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            measure(clgrad, name, folder)


if len(sys.argv) < 2:
    sys.exit(__doc__)
main(*sys.argv[1:])
