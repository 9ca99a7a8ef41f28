#!/usr/bin/env python3
"""Checks every NAME.onnx of a folder, and compares what onnxruntime computes with NAME.npz: arrays in:NAME, out:NAME.

    python3 -m venv .build/onnx && .build/onnx/bin/pip install onnx onnxruntime numpy
    CLGRAD_ONNXRUNTIME=$PWD/.build/onnx/bin/python go test ./internal/catalog ./onnx -run Export

The tests above write the folder. The last line is "N models, M differ".
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(4)


def difference(path):
    """Returns what is wrong with a model, or None."""
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    with np.load(path.parent / (path.stem + ".npz")) as arrays:
        tolerance = float(arrays["tolerance"]) if "tolerance" in arrays else 1e-5
        given = {name[3:]: arrays[name] for name in arrays if name.startswith("in:")}
        for name, got in zip(names, session.run(names, given)):
            want = arrays["out:" + name]
            if got.shape != want.shape or got.dtype != want.dtype:
                return f"{name} is {got.dtype} {got.shape}, want {want.dtype} {want.shape}"
            finite = np.abs(want[np.isfinite(want)].astype(np.float64))
            size = max(1.0, finite.max(initial=0))  # of the largest number: deep models subtract
            if not np.allclose(got, want, rtol=max(1e-4, tolerance), atol=tolerance * size, equal_nan=True):
                return f"{name} is {got.ravel()[:6]}, want {want.ravel()[:6]}"
    return None


files = sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
wrong = 0
for file in files:
    try:
        text = difference(file)
    except Exception as e:  # of the checker, or of onnxruntime
        text = f"{type(e).__name__}: {e}"
    if text:
        wrong += 1
        print(f"{file.stem}: {text[:400]}")
print(f"{len(files)} models, {wrong} differ")
sys.exit(1 if wrong or not files else 0)
