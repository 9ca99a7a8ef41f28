"""PyTorch's side of scripts/benchops: reads requests as lines of JSON, and answers each with a line.

A request with operands draws them and evaluates its expression once; one with calls times a batch.
"""
import json
import os
import resource
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(int(os.environ.get("TORCH_THREADS", "1")))


def keep_top_k(a, k, axis):
    values, index = torch.topk(a, k, axis)
    return torch.zeros_like(a).scatter(axis, index, values)


def first(y):
    """The values of what returns values and indices."""
    return y[0] if isinstance(y, tuple) else y


def draw(o):
    shape = o["shape"]
    if o["kind"] == "index":
        return torch.randint(int(o["high"]), shape)
    if o["kind"] == "int32":
        return torch.randint(int(o["high"]), shape, dtype=torch.int32)
    if o["kind"] == "int8":
        return torch.randint(-128, 128, shape, dtype=torch.int8)
    if o["kind"] == "uint8":
        return torch.randint(256, shape, dtype=torch.uint8)
    if o["kind"] == "mask":
        return torch.rand(shape) > 0.5
    x = torch.rand(shape) * (o["high"] - o["low"]) + o["low"]
    return x.requires_grad_(o["grad"])


def processor_time():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


class Benchmark:
    def __init__(self, request):
        names = "abcd"[: len(request["operands"])]
        self.f = eval("lambda %s: first(%s)" % (", ".join(names), request["torch"]), globals())
        self.operands = [draw(o) for o in request["operands"]]
        self.params = [x for x in self.operands if x.requires_grad]
        with torch.no_grad():
            y = self.f(*self.operands)
            self.shape = list(y.shape)
            self.weights = torch.rand_like(y) if self.params else None

    def batch(self, calls, backward):
        start, cpu = time.perf_counter(), processor_time()
        if backward:
            for _ in range(calls):
                torch.autograd.grad(self.f(*self.operands), self.params, self.weights)
        else:
            with torch.no_grad():
                for _ in range(calls):
                    self.f(*self.operands)
        return {"wall": time.perf_counter() - start, "cpu": processor_time() - cpu}


print(json.dumps({"version": torch.__version__}), flush=True)
benchmark = None
for line in sys.stdin:
    request = json.loads(line)
    try:
        if "calls" in request:
            reply = benchmark.batch(request["calls"], request.get("backward", False))
        else:
            benchmark = None
            benchmark = Benchmark(request)
            reply = {"shape": benchmark.shape}
    except Exception as e:
        reply = {"error": str(e).split("\n")[0]}
    print(json.dumps(reply), flush=True)
