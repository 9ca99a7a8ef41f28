// @depends: common, vector, exp, pairwise
// Cross-entropy of lines of X [outer, len, inner] with labels T [outer, inner], for CPUs: contiguous rows in vectors of
// sixteen, columns sixteen beside each other. See crossentropy_gpu.cl for what is computed. A work-item computes a run of
// lines; what it reads again is in the cache.

#define COUNTS(t) ((t) != ignore && (t) >= 0 && (t) < len)

// R of a line: its loss, the weight of its label, the maximum, the logarithm of the sum, and the slope of the shares.
static void entropy_put(global REAL *r, int lines, int counts, REAL w, REAL nll, REAL most, REAL log_sum, REAL weights, REAL weighed, REAL smoothing, int len) {
    r[0] = counts ? (1 - smoothing) * w * nll : 0;
    if (smoothing != 0 && counts) r[0] += smoothing / len * (log_sum * weights - weighed);
    r[lines] = counts ? w : 0;
    r[2 * lines] = most;
    r[3 * lines] = log_sum;
    r[4 * lines] = counts ? (1 - smoothing) * w + (smoothing != 0 ? smoothing / len * weights : 0) : 0;
}

static void entropy_row(global const REAL *x, int t, global const REAL *W, global REAL *r, int lines, int len, int weighted, int logits, int ignore, REAL smoothing) {
    REAL16 s = 0, weights = 0, weighed = 0, levels[PAIR_LEVELS], more[PAIR_LEVELS];
    const int vectors = (len + 15) / 16;
    REAL most = 0, log_sum = 0;
    if (logits) {
        REAL16 m = -INFINITY;
        for (int k = 0; k < len; k += 16) m = larger16(m, load16(x + k, len - k, -INFINITY));
        most = max16(m);
        for (int k = 0; k < len; k += 16) {
            s += exp_REAL16(load16(x + k, len - k, -INFINITY) - most);
            PAIRWISE(s, levels, k / 16 + 1)
        }
        PAIRWISE_END(s, levels, vectors)
        log_sum = log(sum16(s));
    }
    for (int k = 0; k < len && smoothing != 0; k += 16) {
        const REAL16 w = load16(weighted ? W + k : x + k, len - k, 0), one = weighted ? w : (REAL16)1;
        const REAL16 d = load16(x + k, len - k, most) - most;
        if (len - k >= 16) {
            weights += one;
            weighed += one * d;
        } else {
            REAL ones[16], ds[16];
            vstore16(one, 0, ones);
            vstore16(d, 0, ds);
            for (int j = 0; j < len - k; j++) {
                weights.s0 += ones[j];
                weighed.s0 += ones[j] * ds[j];
            }
        }
        PAIRWISE(weights, levels, k / 16 + 1)
        PAIRWISE(weighed, more, k / 16 + 1)
    }
    if (smoothing != 0) {
        PAIRWISE_END(weights, levels, vectors)
        PAIRWISE_END(weighed, more, vectors)
    }
    const int counts = COUNTS(t);
    entropy_put(r, lines, counts, counts && weighted ? W[t] : 1, counts ? log_sum - (x[t] - most) : 0, most, log_sum, sum16(weights), sum16(weighed), smoothing, len);
}

static void entropy_column(global const REAL *x, int t, global const REAL *W, global REAL *r, int lines, int len, int inner, int weighted, int logits, int ignore,
                   REAL smoothing, REAL most, REAL s) {
    REAL weights = 0, weighed = 0, levels[PAIR_LEVELS], more[PAIR_LEVELS];
    for (int k = 0; k < len && smoothing != 0; k++) {
        const REAL w = weighted ? W[k] : 1;
        weights += w;
        weighed += w * (x[k * inner] - most);
        PAIRWISE(weights, levels, k + 1)
        PAIRWISE(weighed, more, k + 1)
    }
    if (smoothing != 0) {
        PAIRWISE_END(weights, levels, len)
        PAIRWISE_END(weighed, more, len)
    }
    const int counts = COUNTS(t);
    const REAL log_sum = logits ? log(s) : 0;
    entropy_put(r, lines, counts, counts && weighted ? W[t] : 1, counts ? log_sum - (x[t * inner] - most) : 0, most, log_sum, weights, weighed, smoothing, len);
}

static void cross_entropy(IN(X), IN_INTS(T), IN(W), OUT(R), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing,
                          int from, int to) {
    const int blocks = inner == 1 ? 1 : (inner + 15) / 16, lines = outer * inner;
    for (int u = from; u < to; u++) {
        const int o = u / blocks, i = u % blocks * 16, width = min(16, inner - i);
        global const REAL *x = X + X_off + o * len * inner + i, *w = W + W_off;
        global const int *t = T + T_off + o * inner + i;
        global REAL *r = R + R_off + o * inner + i;
        if (inner == 1) {
            entropy_row(x, t[0], w, r, lines, len, weighted, logits, ignore, smoothing);
            continue;
        }
        REAL16 m = -INFINITY, s = 0, levels[PAIR_LEVELS];
        for (int k = 0; k < len && logits; k++) m = larger16(m, load16(x + k * inner, width, 0));
        for (int k = 0; k < len && logits; k++) {
            s += exp_REAL16(load16(x + k * inner, width, 0) - m);
            PAIRWISE(s, levels, k + 1)
        }
        if (logits) PAIRWISE_END(s, levels, len)
        REAL most[16], sum[16];
        vstore16(logits ? m : (REAL16)0, 0, most);
        vstore16(s, 0, sum);
        for (int j = 0; j < width; j++) entropy_column(x + j, t[j], w, r + j, lines, len, inner, weighted, logits, ignore, smoothing, most[j], sum[j]);
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_cross_entropy(IN(X), IN_INTS(T), IN(W), OUT(R), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing) {
    RUN(outer * (inner == 1 ? 1 : (inner + 15) / 16))
    cross_entropy(X, X_off, T, T_off, W, W_off, R, R_off, outer, len, inner, weighted, logits, ignore, smoothing, from, to);
}
#endif

static void cross_entropy_grad(IN(X), IN_INTS(T), IN(W), IN(R), IN(G), OUT(D), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing,
                               int each, int from, int to) {
    const int blocks = inner == 1 ? 1 : (inner + 15) / 16, lines = outer * inner;
    const REAL part = smoothing / len;
    for (int u = from; u < to; u++) {
        const int o = u / blocks, i = u % blocks * 16, width = min(16, inner - i), at = o * len * inner + i;
        global const REAL *x = X + X_off + at, *w = W + W_off, *r = R + R_off + o * inner + i, *g = G + G_off + (each ? o * inner + i : 0);
        global const int *t = T + T_off + o * inner + i;
        global REAL *d = D + D_off + at;
        if (inner == 1) {
            const REAL most = r[2 * lines], log_sum = r[3 * lines], slope = r[4 * lines], up = COUNTS(t[0]) ? g[0] : 0;
            for (int k = 0; k < len; k += 16) {
                REAL16 v = 0;
                if (COUNTS(t[0])) {
                    if (logits) v = exp_REAL16(load16(x + k, len - k, 0) - most - log_sum) * slope;
                    if (smoothing != 0) v -= part * (weighted ? load16(w + k, len - k, 0) : (REAL16)1);
                }
                store16(v * up, d + k, len - k);
            }
            if (COUNTS(t[0])) d[t[0]] -= (1 - smoothing) * (weighted ? w[t[0]] : 1) * up;
            continue;
        }
        REAL counts[16];
        for (int j = 0; j < 16; j++) counts[j] = j < width && COUNTS(t[min(j, width - 1)]) ? 1 : 0;
        const REAL16 on = vload16(0, counts), most = load16(r + 2 * lines, width, 0), log_sum = load16(r + 3 * lines, width, 0),
                     slope = load16(r + 4 * lines, width, 0), up = on != 0 ? (each ? load16(g, width, 0) : (REAL16)g[0]) : (REAL16)0;
        for (int k = 0; k < len; k++) {
            REAL16 v = 0;
            if (logits) v = exp_REAL16(load16(x + k * inner, width, 0) - most - log_sum) * slope;
            if (smoothing != 0) v -= part * (weighted ? w[k] : 1);
            store16(on != 0 ? v * up : (REAL16)0, d + k * inner, width);
        }
        for (int j = 0; j < width; j++)
            if (COUNTS(t[j])) d[t[j] * inner + j] -= (1 - smoothing) * (weighted ? w[t[j]] : 1) * g[each ? j : 0];
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_cross_entropy_grad(IN(X), IN_INTS(T), IN(W), IN(R), IN(G), OUT(D), int outer, int len, int inner, int weighted, int logits, int ignore, REAL smoothing,
                          int each) {
    RUN(outer * (inner == 1 ? 1 : (inner + 15) / 16))
    cross_entropy_grad(X, X_off, T, T_off, W, W_off, R, R_off, G, G_off, D, D_off, outer, len, inner, weighted, logits, ignore, smoothing, each, from, to);
}
#endif
