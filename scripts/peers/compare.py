"""Runs `clgrad bench` and the programs of the other side that can run here, one after the other, and prints the
ratios of their medians: above 1, clgrad is faster. Usage: compare.py CLGRAD [DEVICE]

On a GPU the other side is PyTorch on CUDA, its training step and its operations replayed from captured graphs. On a CPU it is
NumPy for matrix products and PyTorch, with one thread or all, whichever is faster, for training steps and operations. Where PyTorch has
CUDA, call an OpenCL CPU "pocl": other names of DEVICE are taken for the GPU.
"""
import importlib.util
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def lines(command, **env):
    """The JSON lines that a command prints, by name."""
    out = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})
    if out.returncode != 0:
        sys.exit("compare: %s: %s" % (" ".join(command), out.stderr.strip()))
    return {r["name"]: r for r in map(json.loads, out.stdout.splitlines())}


def peer(program, *args, **env):
    return lines([sys.executable, os.path.join(HERE, program), *args], **env)


def installed(module):
    return importlib.util.find_spec(module) is not None


def best_of(runs):
    """For each name, the faster of several runs' times."""
    return {name: min((r[name] for r in runs), key=lambda r: r["median"]) for name in runs[0]}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    device = sys.argv[2] if len(sys.argv) == 3 else "auto"
    ours = lines([sys.argv[1], "bench", "--json", "--device", device, "--only", "gemm,ops,nets,perceptrons,step"])
    cuda = False
    if installed("torch"):
        import torch

        cuda = torch.cuda.is_available() and device not in ("cpu", "pocl")
    theirs = {}
    if cuda:
        theirs = {("torch", n): r for n, r in {**peer("torch_gemm.py"), **peer("torch_step.py"), **peer("torch_ops.py"), **peer("torch_nets.py")}.items()}
        for precision in ("tf32", "float16"):
            ours.update(lines([sys.argv[1], "bench", "--json", "--device", device, "--only", "gemm", "--precision", precision]))
            theirs.update({("torch", n + " " + precision): r for n, r in peer("torch_gemm.py", precision).items()})
    else:
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        if installed("numpy"):
            theirs.update({("numpy", n): r for n, r in peer("numpy_gemm.py").items()})
        if installed("torch"):
            for program in ("torch_step.py", "torch_ops.py", "torch_nets.py"):
                rows = best_of([peer(program, TORCH_THREADS=str(t), **hidden) for t in (1, len(os.sched_getaffinity(0)))])
                theirs.update({("torch", n): r for n, r in rows.items()})
    if not theirs:
        sys.exit("compare: neither PyTorch nor NumPy is installed")
    print("%-26s %12s %-8s %-24s %12s %7s" % ("clgrad", "median", "", "other side", "median", "ratio"))
    for (who, name), r in theirs.items():
        mine = [n for n in ours if n == name or n.split()[0] in ("step", "hash", "net") and n.split()[:2] == name.split()[:2]]
        for n in mine:
            a, b = ours[n]["median"], r["median"]
            ratio = a / b if r["unit"] == "GFLOP/s" else b / a
            print("%-26s %12.4g %-8s %-24s %12.4g %6.2fx" % (n, a, r["unit"], who + " " + name.split(" ", 1)[1], b, ratio))


main()
