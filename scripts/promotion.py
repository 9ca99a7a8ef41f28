"""Writes what PyTorch's result_type gives of every two types: python3 scripts/promotion.py > testdata/promotion.txt

A line is the type of a tensor with axes, that of another, what they give, and what they give where the second is a
scalar: a tensor of rank 0. A type is - where PyTorch refuses."""
import torch

names = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"]


def result(x, y):
    """Returns the name of the type that two tensors give, or - where PyTorch refuses them."""
    try:
        return str(torch.result_type(x, y)).removeprefix("torch.")
    except RuntimeError:
        return "-"



print(f"# Made by scripts/promotion.py with PyTorch {torch.__version__.split('+')[0]}: x, y, x with y, x with a scalar y.")
for a in names:
    for b in names:
        x, y, s = torch.zeros(2, dtype=getattr(torch, a)), torch.zeros(2, dtype=getattr(torch, b)), torch.zeros((), dtype=getattr(torch, b))
        print(a, b, result(x, y), result(x, s))
