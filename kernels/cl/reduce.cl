// @depends: common
// Reductions that need no variant per kind of device.

// Whether an element attains the maximum, or minimum, m of its line: NaNs do where it is NaN.
static int attains(REAL x, REAL m) { return (x == m) | ((x != x) & (m != m)); }

// G of a maximum or minimum, in equal parts to every element that attains it: for GPUs.
kernel void k_max_axis_grad(IN(X), IN(Y), IN(G), OUT(D), int outer, int len, int inner) {
    const int i = get_global_id(0), o = get_global_id(1);
    if (i >= inner || o >= outer) return;
    global const REAL *x = X + X_off + o * len * inner + i;
    global REAL *d = D + D_off + o * len * inner + i;
    const REAL m = Y[Y_off + o * inner + i], g = G[G_off + o * inner + i];
    int ties = 0;
    for (int k = 0; k < len; k++) ties += attains(x[k * inner], m);
    const REAL share = g / ties;
    for (int k = 0; k < len; k++) d[k * inner] = attains(x[k * inner], m) ? share : 0;
}
