// @depends: common, vector, pairwise, memory
// Sums for CPUs: one work-item per work-group, sixteen partial sums in a vector, no local memory. Long sums are pairwise. The
// order is fixed, so the same input gives the same bits.

static NOINLINE REAL sum_run(global const X_MEMORY *x, int n) {
    REAL16 s = 0, levels[PAIR_LEVELS];
    int i = 0;
    while (i + 32 <= n) {
        const int end = min(n - 31, (i / (32 * PAIR_TERMS) + 1) * (32 * PAIR_TERMS));
        REAL16 a = 0, b = 0;
        for (; i < end; i += 32) {
            a += X_FROM16(vload16(0, x + i));
            b += X_FROM16(vload16(0, x + i + 16));
        }
        s = a + b;
        PAIRWISE(s, levels, i / 32)
    }
    PAIRWISE_END(s, levels, i / 32)
    REAL sum = sum16(s);
    for (; i < n; i++) sum += X_FROM(x[i]);
    return sum;
}

// P[g] = scale·Σ X[i] over chunk g: i in [g*chunk, min(n, (g+1)*chunk)).
static void sum(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, P), int n, int chunk, REAL scale, int from, int to) {
    for (int g = from; g < to; g++) P[P_off + g] = Y_TO(scale * sum_run(X + X_off + g * chunk, min(n - g * chunk, chunk)));
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sum(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, P), int n, int chunk, REAL scale) {
    const int g = get_group_id(0);
    sum(X, X_off, P, P_off, n, chunk, scale, g, g + 1);
}
#endif

// sum_axis of each o in [from, to) where inner is 1.
static void sum_row(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate, int from, int to) {
    for (int o = from; o < to; o++) {
        const REAL s = scale * sum_run(X + X_off + o * len, len);
        global Y_MEMORY *y = Y + Y_off + o;
        *y = Y_TO(accumulate ? Y_FROM(*y) + s : s);
    }
}

// Sums n rows of V times 16 columns, which are `apart`.
#define SUM_COLUMNS(name, V)                                                                                                  \
    static NOINLINE void name(global const X_MEMORY *x, global Y_MEMORY *y, int n, int apart, REAL scale, int accumulate) {            \
        REAL16 s[V], levels[V][PAIR_LEVELS];                                                                                  \
        _Pragma("unroll") for (int v = 0; v < V; v++) s[v] = 0;                                                               \
        for (int k = 0; k < n;) {                                                                                             \
            for (const int end = min(n, (k / PAIR_TERMS + 1) * PAIR_TERMS); k < end; k++) {                                   \
                _Pragma("unroll") for (int v = 0; v < V; v++) s[v] += X_FROM16(vload16(v, x + k * apart));                    \
            }                                                                                                                 \
            _Pragma("unroll") for (int v = 0; v < V; v++) PAIRWISE(s[v], levels[v], k)                                        \
        }                                                                                                                     \
        _Pragma("unroll") for (int v = 0; v < V; v++) {                                                                       \
            PAIRWISE_END(s[v], levels[v], n)                                                                                  \
            s[v] *= scale;                                                                                                    \
            vstore16(Y_TO16(accumulate ? Y_FROM16(vload16(v, y)) + s[v] : s[v]), v, y);                                       \
        }                                                                                                                     \
    }

SUM_COLUMNS(sum_columns1, 1)
SUM_COLUMNS(sum_columns4, 4)

// Y[o*inner + i] = scale·Σ_k X[(o*len + k)*inner + i], added to Y if accumulate is not 0.
// A work-item sums a run of neighbouring columns i of one o, 64 or 16 at a time.
static void sum_axis(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate) {
    const int o = get_group_id(1);
    if (o >= outer) return;
    RANGE((inner + 15) / 16)
    for (int u = from; u < to; u++) {
        const int i = u * 16;
        global const X_MEMORY *x = X + X_off + o * len * inner + i;
        global Y_MEMORY *y = Y + Y_off + o * inner + i;
        if (inner == 1) {
            const REAL s = scale * sum_run(x, len);
            *y = Y_TO(accumulate ? Y_FROM(*y) + s : s);
        } else if (i + 64 <= inner && u + 4 <= to) {
            sum_columns4(x, y, len, inner, scale, accumulate);
            u += 3;
        } else if (i + 16 <= inner) {
            sum_columns1(x, y, len, inner, scale, accumulate);
        } else {
            for (int c = 0; c < inner - i; c++) {
                REAL s = 0, levels[PAIR_LEVELS];
                for (int k = 0; k < len;) {
                    s += X_FROM(x[k * inner + c]);
                    k++;
                    PAIRWISE(s, levels, k)
                }
                PAIRWISE_END(s, levels, len)
                y[c] = Y_TO(accumulate ? Y_FROM(y[c]) + scale * s : scale * s);
            }
        }
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sum_axis(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), int outer, int len, int inner, REAL scale, int accumulate) {
    sum_axis(X, X_off, Y, Y_off, outer, len, inner, scale, accumulate);
}
#endif
