// @depends: common, vector
// The peak of a device's arithmetic, for benchmarks: Y[i] = the sum of 128 chains x = a·x + b of `steps` fused
// multiply-adds, chain j starting from j. The chains are independent and stay in registers.

kernel void k_fma_chains(OUT(Y), int n, int steps, REAL a, REAL b) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const REAL16 lane = (REAL16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), va = (REAL16)(a), vb = (REAL16)(b);
    REAL16 c0 = lane, c1 = lane + 16, c2 = lane + 32, c3 = lane + 48, c4 = lane + 64, c5 = lane + 80, c6 = lane + 96, c7 = lane + 112;
    for (int s = 0; s < steps; s++) {
        c0 = fma(c0, va, vb), c1 = fma(c1, va, vb), c2 = fma(c2, va, vb), c3 = fma(c3, va, vb);
        c4 = fma(c4, va, vb), c5 = fma(c5, va, vb), c6 = fma(c6, va, vb), c7 = fma(c7, va, vb);
    }
    Y[Y_off + i] = sum16(((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7)));
}
