// @depends: common, vector, exp, pairwise
// Softmax along the middle axis of X [outer, len, inner], and its gradient, for CPUs: contiguous rows in vectors of
// sixteen, columns sixteen beside each other. A work-item computes a run of rows, or of blocks of columns. What it reads
// again is in the cache.

// How many blocks of columns lie beside each other; of rows 1.
#define BLOCKS (inner == 1 ? 1 : (inner + 15) / 16)

// F of the units [from, to): rows, or blocks of `width` columns. `at` is the first element of each.
#define UNITS(ROW, COLUMNS)                                                        \
    const int blocks = BLOCKS;                                                     \
    for (int u = from; u < to; u++) {                                              \
        const int i = u % blocks * 16, at = u / blocks * len * inner + i;          \
        const int width = min(16, inner - i);                                      \
        if (inner == 1) ROW;                                                       \
        else COLUMNS;                                                              \
    }

// A whole row of NaN, or of −∞, has −∞ for its maximum, and NaN for every difference.
static void softmax_row(global const REAL *x, global REAL *y, int len, int logarithm) {
    REAL16 m = -INFINITY, s = 0, levels[PAIR_LEVELS];
    for (int k = 0; k < len; k += 16) m = larger16(m, load16(x + k, len - k, -INFINITY));
    const REAL most = max16(m);
    for (int k = 0; k < len; k += 16) {
        const REAL16 d = load16(x + k, len - k, -INFINITY) - most, e = exp_REAL16(d);
        store16(logarithm ? d : e, y + k, len - k);
        s += e;
        PAIRWISE(s, levels, k / 16 + 1)
    }
    PAIRWISE_END(s, levels, (len + 15) / 16)
    const REAL by = logarithm ? log(sum16(s)) : 1 / sum16(s);
    for (int k = 0; k < len; k += 16) {
        const REAL16 v = load16(y + k, len - k, 0);
        store16(logarithm ? v - by : v * by, y + k, len - k);
    }
}

static void softmax_columns(global const REAL *x, global REAL *y, int len, int inner, int width, int logarithm) {
    REAL16 m = -INFINITY, s = 0, levels[PAIR_LEVELS];
    for (int k = 0; k < len; k++) m = larger16(m, load16(x + k * inner, width, 0));
    for (int k = 0; k < len; k++) {
        const REAL16 d = load16(x + k * inner, width, 0) - m, e = exp_REAL16(d);
        store16(logarithm ? d : e, y + k * inner, width);
        s += e;
        PAIRWISE(s, levels, k + 1)
    }
    PAIRWISE_END(s, levels, len)
    const REAL16 by = logarithm ? log(s) : 1 / s;
    for (int k = 0; k < len; k++) {
        const REAL16 v = load16(y + k * inner, width, 0);
        store16(logarithm ? v - by : v * by, y + k * inner, width);
    }
}

// Y = e / Σ e, with e = exp(X − max X), or its logarithm.
static void softmax(IN(X), OUT(Y), int outer, int len, int inner, int logarithm, int from, int to) {
    global const REAL *x = X + X_off;
    global REAL *y = Y + Y_off;
    UNITS(softmax_row(x + at, y + at, len, logarithm), softmax_columns(x + at, y + at, len, inner, width, logarithm))
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_softmax(IN(X), OUT(Y), int outer, int len, int inner, int logarithm) {
    RUN(outer * BLOCKS)
    softmax(X, X_off, Y, Y_off, outer, len, inner, logarithm, from, to);
}
#endif

static void softmax_row_grad(global const REAL *y, global const REAL *g, global REAL *d, int len, int logarithm) {
    REAL16 s = 0, levels[PAIR_LEVELS];
    for (int k = 0; k < len; k += 16) {
        const REAL16 v = load16(g + k, len - k, 0);
        s += logarithm ? v : v * load16(y + k, len - k, 0);
        PAIRWISE(s, levels, k / 16 + 1)
    }
    PAIRWISE_END(s, levels, (len + 15) / 16)
    const REAL sum = sum16(s);
    for (int k = 0; k < len; k += 16) {
        const REAL16 v = load16(y + k, len - k, 0), up = load16(g + k, len - k, 0);
        store16(logarithm ? up - exp_REAL16(v) * sum : v * (up - sum), d + k, len - k);
    }
}

static void softmax_columns_grad(global const REAL *y, global const REAL *g, global REAL *d, int len, int inner, int width, int logarithm) {
    REAL16 s = 0, levels[PAIR_LEVELS];
    for (int k = 0; k < len; k++) {
        const REAL16 v = load16(g + k * inner, width, 0);
        s += logarithm ? v : v * load16(y + k * inner, width, 0);
        PAIRWISE(s, levels, k + 1)
    }
    PAIRWISE_END(s, levels, len)
    for (int k = 0; k < len; k++) {
        const REAL16 v = load16(y + k * inner, width, 0), up = load16(g + k * inner, width, 0);
        store16(logarithm ? up - exp_REAL16(v) * s : v * (up - s), d + k * inner, width);
    }
}

// D = Y·(G − Σ G·Y), of a softmax Y, or D = G − exp(Y)·Σ G, of its logarithm.
static void softmax_grad(IN(Y), IN(G), OUT(D), int outer, int len, int inner, int logarithm, int from, int to) {
    global const REAL *y = Y + Y_off, *g = G + G_off;
    global REAL *d = D + D_off;
    UNITS(softmax_row_grad(y + at, g + at, d + at, len, logarithm),
          softmax_columns_grad(y + at, g + at, d + at, len, inner, width, logarithm))
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_softmax_grad(IN(Y), IN(G), OUT(D), int outer, int len, int inner, int logarithm) {
    RUN(outer * BLOCKS)
    softmax_grad(Y, Y_off, G, G_off, D, D_off, outer, len, inner, logarithm, from, to);
}
#endif
