// @depends: fold
// Folds for CPUs: one work-item per work-group, which folds a run of results, sixteen elements of a row or sixteen
// columns at a time, with no local memory. The order is fixed.

static RESULT fold_run(global const ELEM *x, int n, int root, REAL p) {
    FOLD_LEVELS(16, a, b)
    ACC16 a = START_A, b = START_B;
    int k = 0;
#ifdef FOLD_ANY_ORDER
    ACC16 c = START_A, e = START_A, f = START_A, none = START_B;
    for (; k + 64 <= n; k += 64) {
        STEP(16, a, b, vload16(0, x + k));
        STEP(16, c, none, vload16(1, x + k));
        STEP(16, e, none, vload16(2, x + k));
        STEP(16, f, none, vload16(3, x + k));
    }
    MERGE(16, a, b, c, none);
    MERGE(16, e, none, f, none);
    MERGE(16, a, b, e, none);
#endif
    while (k + 32 <= n) {
        const int end = min(n - 31, (k / (32 * PAIR_TERMS) + 1) * (32 * PAIR_TERMS));
        ACC16 c = START_A, d = START_B;
        for (; k < end; k += 32) {
            STEP(16, a, b, vload16(0, x + k));
            STEP(16, c, d, vload16(0, x + k + 16));
        }
        MERGE(16, a, b, c, d);
        FOLD_PAIRWISE(16, a, b, k / 32)
    }
    ACC A = START_A, B = START_B;
    if (k > 0) {
        FOLD_END(16, a, b, k / 32)
        ACC8 a8 = a.lo, b8 = b.lo;
        MERGE(8, a8, b8, a.hi, b.hi);
        ACC4 a4 = a8.lo, b4 = b8.lo;
        MERGE(4, a4, b4, a8.hi, b8.hi);
        ACC2 a2 = a4.lo, b2 = b4.lo;
        MERGE(2, a2, b2, a4.hi, b4.hi);
        A = a2.x;
        B = b2.x;
        MERGE(, A, B, a2.y, b2.y);
    }
    for (; k < n; k++) STEP(, A, B, x[k]);
    return (RESULT)FINISH(, A, B);
}

// Folds n rows of V times 16 columns, which are `apart`.
#define FOLD_COLUMNS(name, V)                                                                                          \
    static void name(global const ELEM *x, global RESULT *y, int n, int apart, int root, REAL p) {                     \
        ACC16 as[V], bs[V], levels_a[V][PAIR_LEVELS], levels_b[V][PAIR_LEVELS];                                        \
        _Pragma("unroll") for (int v = 0; v < V; v++) as[v] = START_A, bs[v] = START_B;                                \
        for (int k = 0; k < n;) {                                                                                      \
            for (const int end = min(n, (k / PAIR_TERMS + 1) * PAIR_TERMS); k < end; k++) {                            \
                _Pragma("unroll") for (int v = 0; v < V; v++) STEP(16, as[v], bs[v], vload16(v, x + k * apart));       \
            }                                                                                                          \
            _Pragma("unroll") for (int v = 0; v < V; v++) {                                                            \
                ACC16 a = as[v], b = bs[v], *a_levels = levels_a[v], *b_levels = levels_b[v];                          \
                FOLD_PAIRWISE(16, a, b, k)                                                                             \
                as[v] = a, bs[v] = b;                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("unroll") for (int v = 0; v < V; v++) {                                                                \
            ACC16 a = as[v], b = bs[v], *a_levels = levels_a[v], *b_levels = levels_b[v];                              \
            FOLD_END(16, a, b, n)                                                                                      \
            vstore16(TO_RESULT16(FINISH(16, a, b)), v, y);                                                             \
        }                                                                                                              \
    }

FOLD_COLUMNS(fold_columns1, 1)
FOLD_COLUMNS(fold_columns4, 4)

static void fold(global const ELEM *X, global RESULT *Y, int outer, int len, int inner, int chunk, int shares, int root, REAL p) {
    const int columns = (inner + 15) / 16, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)outer * shares * columns;
    const int end = units * (g + 1) / groups;
    for (int u = units * g / groups; u < end; u++) {
        const int row = u / columns, i = u % columns * 16, begin = row % shares * chunk, n = min(len - begin, chunk);
        global const ELEM *x = X + (row / shares * len + begin) * inner + i;
        global RESULT *y = Y + row * inner + i;
        if (inner == 1) {
            *y = fold_run(x, n, root, p);
        } else if (i + 64 <= inner && u + 4 <= end) {
            fold_columns4(x, y, n, inner, root, p);
            u += 3;
        } else if (i + 16 <= inner) {
            fold_columns1(x, y, n, inner, root, p);
        } else {
            for (int c = 0; c < inner - i; c++) {
                FOLD_LEVELS(, a, b)
                ACC a = START_A, b = START_B;
                for (int k = 0; k < n;) {
                    STEP(, a, b, x[k * inner + c]);
                    k++;
                    FOLD_PAIRWISE(, a, b, k)
                }
                FOLD_END(, a, b, n)
                y[c] = (RESULT)FINISH(, a, b);
            }
        }
    }
}

#if defined(OF_INTS) || FOLD == FOLD_COUNT
// As k_fold, to ints.
#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_fold_int(IN(X), OUT_INTS(Y), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int root, REAL p) {
    fold(X + X_off, Y + Y_off, outer, len, inner, chunk, shares, root, p);
}
#endif
#else
// k_fold of the lines o in [from, to), where inner and shares are 1.
static void fold_row(IN(X), OUT(Y), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int root, REAL p, int from, int to) {
    for (int o = from; o < to; o++) Y[Y_off + o] = fold_run(X + X_off + o * len, len, root, p);
}

// Y[(o*shares + s)*inner + i] is the fold of X[(o*len + k)*inner + i] over k of share s: [s*chunk, min(len, (s+1)*chunk)).
#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_fold(IN(X), OUT(Y), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int root, REAL p) {
    fold(X + X_off, Y + Y_off, outer, len, inner, chunk, shares, root, p);
}
#endif
#endif
