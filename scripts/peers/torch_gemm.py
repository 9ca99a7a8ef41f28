"""Matrix products in PyTorch, for comparison with `clgrad bench --only gemm`: the same sizes, forms and way
of timing, single precision throughout. Prints the JSON lines that `clgrad bench --json` prints.
"""
import torch

from timing import SIZES, report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cuda.matmul.allow_tf32 = False
sync = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None

for m, n, k in SIZES:
    x, w, g = (torch.rand(*s, device=DEVICE) for s in ((m, k), (k, n), (m, n)))
    y, dx, dw = (torch.empty(*s, device=DEVICE) for s in ((m, n), (m, k), (k, n)))
    flops = 2.0 * m * n * k
    report("gemm nn %dx%dx%d" % (m, n, k), flops, lambda: torch.mm(x, w, out=y), sync)
    report("gemm nt %dx%dx%d" % (m, n, k), flops, lambda: torch.mm(g, w.T, out=dx), sync)
    report("gemm tn %dx%dx%d" % (m, n, k), flops, lambda: torch.mm(x.T, g, out=dw), sync)
