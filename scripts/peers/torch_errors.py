"""Errors of PyTorch's matrix products against float64, for comparison with `clgrad bench --only errors`: the same factors,
the same elements. Prints the JSON lines that `clgrad bench --json` prints.
Usage: torch_errors.py [float32|tf32|float16]: with TF32, or of factors that are rounded to float16, with sums in float32.
"""
import json
import sys

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PRECISION = sys.argv[1] if len(sys.argv) > 1 else "float32"
if PRECISION not in ("float32", "tf32", "float16"):
    sys.exit(__doc__)
torch.backends.cuda.matmul.allow_tf32 = PRECISION == "tf32"
SIZES, SAMPLES = (512, 4096), 1000
A, B, EXPONENTS_A, EXPONENTS_B, ROWS, COLUMNS = range(6)


def drawn(stream, count):
    """The first words of a stream: those of internal/bench/errors.go."""
    x = torch.arange(count, device=DEVICE) + stream * 0x9E3779B9 & 0xFFFFFFFF
    x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


def symmetric(factor, count):
    return ((drawn(factor, count) >> 8) - (1 << 23)).float() * 2**-23


def positive(factor, count):
    return (drawn(factor, count) >> 8).float() * 2**-24


def scaled(factor, count):
    return torch.ldexp(symmetric(factor, count), drawn(factor + EXPONENTS_A, count) % 31 - 15)


def product(a, b):
    return torch.mm(a.half(), b.half(), out_dtype=torch.float32) if PRECISION == "float16" else torch.mm(a, b)


for n in SIZES:
    for name, factor in (("[-1,1)", symmetric), ("[0,1)", positive), ("exponents of 15", scaled)):
        a, b = (factor(f, n * n).reshape(n, n) for f in (A, B))
        c = product(a, b)
        i, j = drawn(ROWS, SAMPLES) % n, drawn(COLUMNS, SAMPLES) % n
        terms = a[i].double() * b.T[j].double()
        error = (c[i, j] - terms.sum(1)).abs() / terms.abs().sum(1)
        for what, value in (("largest", error.max().item()), ("mean", error.mean().item())):
            row = "error %d %s%s %s" % (n, name, "" if PRECISION == "float32" else " " + PRECISION, what)
            print(json.dumps({"name": row, "unit": "sum|ab|", "median": value, "low": value, "high": value, "runs": 1}), flush=True)
