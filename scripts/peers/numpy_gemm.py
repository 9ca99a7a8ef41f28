"""Matrix products in NumPy, for comparison with `clgrad bench --only gemm` on a CPU: the same sizes, forms and
way of timing. Prints the JSON lines that `clgrad bench --json` prints. Debian's NumPy multiplies slowly
unless OpenBLAS is installed too (libopenblas0-pthread).
"""
import numpy as np

from timing import SIZES, report

rng = np.random.default_rng(1)
for m, n, k in SIZES:
    if m * n * k > 1024**3 and n > 64:  # beyond what the comparison on CPUs asks for
        continue
    x, w, g = (rng.random(s, dtype=np.float32) for s in ((m, k), (k, n), (m, n)))
    y, dx, dw = (np.empty(s, dtype=np.float32) for s in ((m, n), (m, k), (k, n)))
    flops = 2.0 * m * n * k
    report("gemm nn %dx%dx%d" % (m, n, k), flops, lambda: np.matmul(x, w, out=y))
    report("gemm nt %dx%dx%d" % (m, n, k), flops, lambda: np.matmul(g, w.T, out=dx))
    report("gemm tn %dx%dx%d" % (m, n, k), flops, lambda: np.matmul(x.T, g, out=dw))
