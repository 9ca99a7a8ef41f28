"""Runs tinygrad's tests of operations against clgrad, and counts what passes, what is wrong, and what is missing.

    PYTHONPATH=TINYGRAD python scripts/peers/tinygrad_ops.py TINYGRAD/test/backend/test_ops.py [-device cpu] [-run TEXT]

Each helper_test_op of the file computes a function in PyTorch and in tinygrad, and compares values and gradients. Here
the calls of PyTorch are recorded, torch_calls.py writes them as calls of clgrad, and scripts/peers/calls runs these.
Values, types and shapes are held to PyTorch's with the tolerances of the test. tinygrad takes part where a test asks
it for a number of its own: it needs clang (CC= names it). A call is

    passed      equal in value, type and shape, and in gradients; or an error, where the test is of one
    wrong       one of these differs
    missing     clgrad refuses it, or has no operation for it
    left out    PyTorch refuses it; or an error is one of Python, or of what clgrad takes

What a test asks of tinygrad alone, without a helper, and tests that are skipped do not count.
"""
import argparse
import base64
import collections
import importlib.util
import json
import math
import subprocess
import unittest
from pathlib import Path

import numpy as np
import torch
from torch.overrides import TorchFunctionMode, resolve_name

from torch_calls import Missing, Value, name_of, translate


class Tape(TorchFunctionMode):
    """Which call of PyTorch made a tensor: calls[id(tensor)]. refused is the last call that failed."""

    def __init__(self):
        super().__init__()
        self.calls, self.refused = {}, None

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = (resolve_name(func) or "").removesuffix(".__get__").rsplit(".", 1)[-1]
        try:
            y = func(*args, **(kwargs or {}))
        except Exception:
            self.refused = (name, args, kwargs or {})
            raise
        if any(y is a for a in args):
            y = y.view_as(y)
        results = y if isinstance(y, (tuple, list)) else [y]
        if name not in ("tensor", "randint", "requires_grad_"):
            call = (name, args, kwargs or {}, results)
            for i, r in enumerate(results):
                if isinstance(r, torch.Tensor) and id(r) not in self.calls:
                    self.calls[id(r)] = (call, None if r is y else i)
        return y


class Program:
    """The calls of clgrad that make a tensor as PyTorch made it."""

    def __init__(self, tape, params):
        self.tape, self.params, self.steps, self.made = tape, {id(p) for p in params}, [], {}

    def add(self, step):
        self.steps.append(step)
        return Value(self, {"ref": len(self.steps) - 1})

    def call(self, name, *args, **options):
        options = {k: v for k, v in options.items() if v is not None}
        return self.add({"call": name, "args": plain(args) + ([plain(options)] if options else [])})

    def load(self, t, param=False):
        data = t.detach().contiguous().numpy().tobytes()
        v = self.add({"type": name_of(t.dtype), "shape": list(t.shape), "data": base64.b64encode(data).decode(),
                      "param": param})
        v.like = t
        return v

    def translated(self, name, args, kwargs):
        return translate(name, self, self.value(args), {k: self.value(v) for k, v in kwargs.items()})

    def value(self, x):
        """What an argument of PyTorch's is here: a tensor is the Value that the tape says."""
        if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
            return type(x)(self.value(e) for e in x)
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) in self.tape.calls:
            call, i = self.tape.calls[id(x)]
            if id(call) not in self.made:
                self.made[id(call)] = self.translated(*call[:3])
            made = self.made[id(call)]
            made = made if i is None else made[i]
            return Value(self, made.ref, x)
        if id(x) not in self.made:
            self.made[id(x)] = self.load(x, id(x) in self.params)
        return self.made[id(x)]


def plain(x):
    """x as JSON has it: infinities and NaN are strings."""
    if isinstance(x, Value):
        return x.ref
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(e) for e in x]
    return str(x) if isinstance(x, float) and not math.isfinite(x) else x


class Refused(Missing):
    """What clgrad returned an error for."""


class Clgrad:
    def __init__(self, device):
        tags = [] if device == "cpu" else ["-tags", "opencl"]
        command = ["go", "run", *tags, "./scripts/peers/calls", "-device", device]
        self.process = subprocess.Popen(command, cwd=Path(__file__).parents[2], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, program):
        self.process.stdin.write(json.dumps(program) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the process ended"}')
        if "error" in answer:
            raise Refused(answer["error"])
        return [np.frombuffer(base64.b64decode(a["data"] or ""), a["type"]).reshape(a["shape"]) for a in answer["arrays"]]


class Score:
    def __init__(self, module, clgrad, tape):
        self.module, self.clgrad, self.tape = module, clgrad, tape
        self.counts, self.lines = collections.Counter(), []

    def note(self, outcome, why=""):
        self.counts[outcome] += 1
        if why:
            self.lines.append((outcome, self.test, " ".join(str(why).split())[:400]))

    def helper(self, shps, torch_fxn, tinygrad_fxn=None, atol=1e-6, rtol=1e-3, grad_atol=1e-4, grad_rtol=1e-3,
               forward_only=False, vals=None, low=-2, high=2):
        try:
            xs, _ = self.module.prepare_test_op(low, high, shps, vals, forward_only)
            self.tape.calls = {k: v for k, v in self.tape.calls.items() if k not in map(id, xs)}
            y = torch_fxn(*xs)
            want = [y]
            if not forward_only and xs:
                with torch._C.DisableTorchFunction():
                    want += torch.autograd.grad(y.sum(), xs, retain_graph=True)
        except Exception as e:
            return self.note("left out", f"PyTorch: {e}")
        with torch._C.DisableTorchFunction():
            try:
                program = Program(self.tape, xs if len(want) > 1 else [])
                params = [program.value(x).ref["ref"] for x in xs] if len(want) > 1 else []
                result = program.value(y)
                got = self.clgrad.run({"steps": program.steps, "result": result.ref, "params": params})
            except Missing as e:
                return self.note("missing", e)
            for i, (g, w) in enumerate(zip(got, want)):
                if why := difference(g, w.detach().numpy(), *((atol, rtol) if i == 0 else (grad_atol, grad_rtol))):
                    return self.note("wrong", (f"gradient {i - 1}: " if i else "") + why)
        self.note("passed")

    def helper_of_errors(self, test, shps, torch_fxn, tinygrad_fxn=None, expected=None, forward_only=False, exact=False,
                         vals=None, low=-1.5, high=1.5):
        self.tape.refused = None
        try:
            torch_fxn(*self.module.prepare_test_op(low, high, shps, vals, forward_only)[0])
            return self.note("left out", "PyTorch refuses nothing")
        except Exception as e:
            if not self.tape.refused:
                return self.note("left out", f"no call of PyTorch failed: {e}")
        with torch._C.DisableTorchFunction():
            program = Program(self.tape, [])
            try:
                y = program.translated(*self.tape.refused)
                y = y[0] if isinstance(y, list) else y
                self.clgrad.run({"steps": program.steps, "result": y.ref})
            except Refused:
                return self.note("passed")
            except Exception as e:
                return self.note("left out", f"no call of clgrad says {self.tape.refused[0]} so: {e}")
        self.note("left out", f"clgrad takes a {self.tape.refused[0]} that PyTorch refuses")


def difference(got, want, atol, rtol):
    if got.shape != want.shape:
        return f"shape {got.shape}, PyTorch has {want.shape}"
    if got.dtype != want.dtype:
        return f"type {got.dtype}, PyTorch has {want.dtype}"
    try:
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, atol=atol, rtol=rtol)
        else:
            np.testing.assert_equal(got, want)
    except AssertionError as e:
        return str(e)


def tests_of(suite):
    for t in suite:
        yield from tests_of(t) if isinstance(t, unittest.TestSuite) else [t]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", help="tinygrad's test/backend/test_ops.py")
    parser.add_argument("-device", default="cpu", help="the device of clgrad")
    parser.add_argument("-run", default="", help="only tests whose name has this in it")
    args = parser.parse_args()
    spec = importlib.util.spec_from_file_location("test_ops", args.file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tape = Tape()
    score = Score(module, Clgrad(args.device), tape)
    module.helper_test_op = score.helper
    module.TestOps.helper_test_exception = lambda *args, **kwargs: score.helper_of_errors(*args, **kwargs)
    for test in tests_of(unittest.defaultTestLoader.loadTestsFromModule(module)):
        score.test = test.id().rsplit(".", 1)[-1]
        if args.run not in score.test:
            continue
        tape.calls = {}
        with tape:
            result = test.run()
        for _, why in result.skipped:
            score.lines.append(("skipped", score.test, why))
        for _, why in result.errors + result.failures:
            score.lines.append(("ended", score.test, why.strip().splitlines()[-1]))
    for line in score.lines:
        print("%-9s %s: %s" % line)
    print(", ".join(f"{score.counts[k]} {k}" for k in ("passed", "wrong", "missing", "left out")))


if __name__ == "__main__":
    main()
