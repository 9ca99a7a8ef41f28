"""Times models in the format ONNX beside onnxruntime on CPUs, in turns: all its optimisations, two threads.

    onnx_models.py CLGRAD PAIRS MODEL.onnx...

PAIRS is a folder with MODEL.npz for each model, arrays `in:NAME`. Prints the ratio of the medians for each model and
device, and the geometric means: above 1, clgrad is faster. Needs onnxruntime; DEVICES names other devices than cpu,pocl.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import onnxruntime

SECONDS = 0.7


def peer(session, inputs):
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        begin = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def main(clgrad, pairs, *models):
    devices = os.environ.get("DEVICES", "cpu,pocl").split(",")
    ratios = {d: [] for d in devices}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 4
    for path in models:
        name = os.path.basename(path).removesuffix(".onnx")
        file = os.path.join(pairs, name + ".npz")
        arrays = np.load(file)
        inputs = {k[3:]: arrays[k] for k in arrays if k.startswith("in:")}
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        session.run(None, inputs)
        for device in devices:
            before = peer(session, inputs)
            out = subprocess.run([clgrad, "onnx", "bench", path, file, "--device", device, "--seconds", str(SECONDS), "--json"],
                                 capture_output=True, text=True)
            if out.returncode != 0:
                print(f"{name} {device}: {out.stderr.strip()}", flush=True)
                continue
            own = json.loads(out.stdout)
            theirs = (before + peer(session, inputs)) / 2
            ratios[device].append(theirs / own["median_ms"])
            print(f"{name[:32]:32s} {device:5s} {own['median_ms']:9.3f} ms, onnxruntime {theirs:9.3f}: {ratios[device][-1]:.2f}"
                  f" (load {own['load_ms']:.0f} ms, first {own['first_ms']:.0f})", flush=True)
    for device in devices:
        if ratios[device]:
            print(f"{device}: {statistics.geometric_mean(ratios[device]):.2f} of {len(ratios[device])} models")


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
