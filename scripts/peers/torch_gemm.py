"""Matrix products in PyTorch, for comparison with `clgrad bench --only gemm`: the same sizes, forms and way
of timing. Prints the JSON lines that `clgrad bench --json` prints.
Usage: torch_gemm.py [float32|tf32|float16]: with TF32, or of matrices that are in float16.
"""
import sys

import torch

from timing import SIZES, report

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PRECISION = sys.argv[1] if len(sys.argv) > 1 else "float32"
if PRECISION not in ("float32", "tf32", "float16"):
    sys.exit(__doc__)
TYPE = torch.float16 if PRECISION == "float16" else torch.float32
torch.backends.cuda.matmul.allow_tf32 = PRECISION == "tf32"
sync = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None

for m, n, k in SIZES:
    x, w, g = (torch.rand(*s, device=DEVICE, dtype=TYPE) for s in ((m, k), (k, n), (m, n)))
    y, dx, dw = (torch.empty(*s, device=DEVICE, dtype=TYPE) for s in ((m, n), (m, k), (k, n)))
    flops = 2.0 * m * n * k
    report("gemm nn %dx%dx%d" % (m, n, k), flops, lambda: torch.mm(x, w, out=y), sync)
    report("gemm nt %dx%dx%d" % (m, n, k), flops, lambda: torch.mm(g, w.T, out=dx), sync)
    report("gemm tn %dx%dx%d" % (m, n, k), flops, lambda: torch.mm(x.T, g, out=dw), sync)
