// @depends: memory
// Y[o, l, i] = Σ X[o, k, i] over the k with I[o, k, i] = l, of X and I [outer, n, inner] and Y [outer, len, inner].
// Indices do not fall along a line. Those outside of [0, len) are passed over.

// Y[o, l, i] = Σ X[o, k, i] over the k with I[o, k, i] = l: a work-item adds a line, in the order of k
kernel void k_add_runs(IN_OF(X_MEMORY, X), IN_OF(INDEX, I), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, int n) {
    const int line = get_global_id(0);
    if (line >= outer * inner) return;
    const int o = line / inner, i = line % inner;
    global Y_MEMORY *y = Y + Y_off + o * len * inner + i;
    REAL sum = 0;
    int at = -1, next = 0; // the element that sum is of, and the first that is not written
    for (int k = 0; k < n; k++) {
        const int from = (o * n + k) * inner + i, to = I[I_off + from];
        if (to < max(at, 0) || to >= len) continue;
        if (to > at) {
            for (; next < to; next++) y[next * inner] = Y_TO(next == at ? sum : (REAL)0);
            at = to;
            sum = 0;
        }
        sum += X_FROM(X[X_off + from]);
    }
    for (; next < len; next++) y[next * inner] = Y_TO(next == at ? sum : (REAL)0);
}
