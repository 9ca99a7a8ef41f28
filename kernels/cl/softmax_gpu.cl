// @depends: common, rows_gpu
// Softmax along the middle axis of X [outer, len, inner], and its gradient, for GPUs: a work-group for a row, or for
// several short ones. Lanes keep their elements in registers, so that a line of up to PER for each is read once.

// Y = e / Σ e, with e = exp(X − max X), or its logarithm. A whole line of NaN, or of −∞, has −∞ for its maximum, and NaN
// for every difference.
static INLINE void softmax(IN(X), OUT(Y), int outer, int len, int inner, int logarithm, int group, local REAL *t) {
    LINES(len, INNER > 1)
    const int line = group * beside + place, count = line < outer * INNER ? len : 0;
    const int at = INNER == 1 ? line * len : line / INNER * len * INNER + line % INNER;
    const int fours = INNER == 1 && FOURS(len, X_off | Y_off);
    global const REAL *x = X + X_off + at;
    global REAL *y = Y + Y_off + at;
    REAL v[PER], m = -INFINITY, s = 0;
    LOAD_KEPT(v, x, fours, INNER, -INFINITY)
    _Pragma("unroll") for (int j = 0; j < PER; j++) m = v[j] > m ? v[j] : m;
    for (int k = lane + PER * lanes; k < count; k += lanes) m = x[k * INNER] > m ? x[k * INNER] : m;
    m = tree_max(t, m, slot, lane, lanes, step);
    _Pragma("unroll") for (int j = 0; j < PER; j++) {
        const REAL d = v[j] - m, e = exp(d); // of an element past the line 0, or NaN if all are
        v[j] = logarithm ? d : e;
        s += e;
    }
    PAIRWISE_REST(s, REAL, s += exp(x[k * INNER] - m))
    s = tree_sum(t, s, slot, lane, lanes, step);
    const REAL by = logarithm ? log(s) : 1 / s;
    _Pragma("unroll") for (int j = 0; j < PER; j++) v[j] = logarithm ? v[j] - by : v[j] * by;
    STORE_KEPT(v, y, fours, INNER)
    for (int k = lane + PER * lanes; k < count; k += lanes) {
        const REAL d = x[k * INNER] - m;
        y[k * INNER] = logarithm ? d - by : exp(d) * by;
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_softmax(IN(X), OUT(Y), int outer, int len, int inner, int logarithm) {
    local REAL t[2 * GROUP];
    softmax(X, X_off, Y, Y_off, outer, len, inner, logarithm, get_group_id(0), t);
}
#endif

// D = Y·(G − Σ G·Y), of a softmax Y, or D = G − exp(Y)·Σ G, of its logarithm.
static INLINE void softmax_grad(IN(Y), IN(G), OUT(D), int outer, int len, int inner, int logarithm, int group, local REAL *t) {
    LINES(len, INNER > 1)
    const int line = group * beside + place, count = line < outer * INNER ? len : 0;
    const int at = INNER == 1 ? line * len : line / INNER * len * INNER + line % INNER;
    const int fours = INNER == 1 && FOURS(len, Y_off | G_off | D_off);
    global const REAL *y = Y + Y_off + at, *g = G + G_off + at;
    global REAL *d = D + D_off + at;
    REAL v[PER], up[PER], s = 0;
    LOAD_KEPT(v, y, fours, INNER, 0)
    LOAD_KEPT(up, g, fours, INNER, 0)
    _Pragma("unroll") for (int j = 0; j < PER; j++) s += logarithm ? up[j] : up[j] * v[j];
    PAIRWISE_REST(s, REAL, s += logarithm ? g[k * INNER] : g[k * INNER] * y[k * INNER])
    s = tree_sum(t, s, slot, lane, lanes, step);
    _Pragma("unroll") for (int j = 0; j < PER; j++) v[j] = logarithm ? up[j] - exp(v[j]) * s : v[j] * (up[j] - s);
    STORE_KEPT(v, d, fours, INNER)
    for (int k = lane + PER * lanes; k < count; k += lanes) {
        const REAL v = y[k * INNER], up = g[k * INNER];
        d[k * INNER] = logarithm ? up - exp(v) * s : v * (up - s);
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_softmax_grad(IN(Y), IN(G), OUT(D), int outer, int len, int inner, int logarithm) {
    local REAL t[2 * GROUP];
    softmax_grad(Y, Y_off, G, G_off, D, D_off, outer, len, inner, logarithm, get_group_id(0), t);
}
#endif
