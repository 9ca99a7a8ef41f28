// @depends: combine
// Elements along an axis by index, and rows to where an index says. Also built with ELEM as int, uchar, ushort or long.

// Y[o, j, i] = X[o, r, i] for j below m and i below inner, 0 for an r outside [0, n), which is I[o, j, i] if `each`, else
// I[j]. A work-item owns neighbouring columns of m by inner: on GPUs one, on CPUs many, in several of the lines o.
kernel void k_gather_axis(IN(X), IN_INTS(I), OUT(Y), int outer, int n, int m, int inner, int each) {
    const int columns = m * inner, wide = (columns + get_global_size(0) - 1) / get_global_size(0);
    const int from = get_global_id(0) * wide, to = min(columns, from + wide);
    for (int o = get_global_id(1); o < outer; o += get_global_size(1)) {
        global const ELEM *x = X + X_off + o * n * inner;
        global const int *at = I + I_off + (each ? o * columns : 0);
        global ELEM *y = Y + Y_off + o * columns;
        if (inner == 1) {
            for (int p = from; p < to; p++) y[p] = at[p] >= 0 && at[p] < n ? x[at[p]] : (ELEM)0;
            continue;
        }
        for (int p = from; p < to;) {
            const int j = p / inner, first = j * inner, end = min(to, first + inner);
            for (; p < end; p++) {
                const int r = at[each ? p : j];
                y[p] = r >= 0 && r < n ? x[r * inner + p - first] : (ELEM)0;
            }
        }
    }
}

#define SCATTER_LINES(VALUE)                                   \
    if (inner == 1) {                                          \
        for (int j = 0; j < m; j++) {                          \
            const int r = at[j];                               \
            if (r < 0 || r >= n) continue;                     \
            global ELEM *y = lines + r;                        \
            const ELEM g = from_g[j];                          \
            *y = VALUE;                                        \
        }                                                      \
        continue;                                              \
    }                                                          \
    for (int j = 0; j < m; j++) {                              \
        for (int i = from; i < to; i++) {                      \
            const int p = j * inner + i, r = at[each ? p : j]; \
            if (r < 0 || r >= n) continue;                     \
            global ELEM *y = lines + r * inner + i;            \
            const ELEM g = from_g[p];                          \
            *y = VALUE;                                        \
        }                                                      \
    }

// Y[o, r, i] takes G[o, j, i] for j = 0, 1, … below m, unless r is outside [0, n): it is I[o, j, i] if `each`, else I[j]. A
// work-item owns neighbouring lines of Y, on GPUs one, and does so in the order of j.
kernel void k_scatter_axis(IN(G), IN_INTS(I), OUT(Y), int outer, int n, int m, int inner, int how, int each) {
    const int wide = (inner + get_global_size(0) - 1) / get_global_size(0), from = get_global_id(0) * wide, to = min(inner, from + wide);
    for (int o = get_global_id(1); o < outer; o += get_global_size(1)) {
        global const ELEM *from_g = G + G_off + o * m * inner;
        global const int *at = I + I_off + (each ? o * m * inner : 0);
        global ELEM *lines = Y + Y_off + o * n * inner;
        switch (how) {
        case SCATTER_SET: SCATTER_LINES(g) break;
        case SCATTER_ADD: SCATTER_LINES(*y + g) break;
        default: SCATTER_LINES(combined(*y, g, how))
        }
    }
}

#define SCATTER_LOOP(VALUE)                           \
    for (int i = 0; to - from == 1 && i < n; i++) {   \
        const int r = I[I_off + i], c = from;         \
        if (r < first || r >= end) continue;          \
        global ELEM *y = Y + Y_off + r * cols;        \
        global const ELEM *g = G + G_off + i * cols;  \
        y[c] = VALUE;                                 \
    }                                                 \
    for (int i = 0; to - from > 1 && i < n; i++) {    \
        const int r = I[I_off + i];                   \
        if (r < first || r >= end) continue;          \
        global ELEM *y = Y + Y_off + r * cols;        \
        global const ELEM *g = G + G_off + i * cols;  \
        for (int c = from; c < to; c++) y[c] = VALUE; \
    }

// Row I[i] of Y takes row i of G, for i = 0, 1, … below n, unless the index is outside [0, rows). A work-item owns some
// columns of some rows, and does so in the order of i.
#define SCATTER_ROWS                                                                                                              \
    const int wide = (cols + get_global_size(0) - 1) / get_global_size(0), from = get_global_id(0) * wide, to = min(cols, from + wide); \
    const int parts = get_global_size(1), part = get_global_id(1), size = rows / parts, more = rows % parts;                      \
    const int first = part * size + min(part, more), end = first + size + (part < more);                                          \
    switch (how) {                                                                                                                \
    case SCATTER_SET: SCATTER_LOOP(g[c]) break;                                                                                   \
    case SCATTER_ADD: SCATTER_LOOP(y[c] + g[c]) break;                                                                            \
    default: SCATTER_LOOP(combined(y[c], g[c], how))                                                                              \
    }

kernel void k_scatter_rows(IN(G), IN_INTS(I), OUT(Y), int n, int cols, int rows, int how) { SCATTER_ROWS }

kernel void k_scatter_int_rows(IN(G), IN_INTS(I), OUT(Y), int n, int cols, int rows, int how) { SCATTER_ROWS }
