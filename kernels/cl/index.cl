// @depends: combine
// Elements along an axis by index, and rows to where an index says. Also built with ELEM as int, uchar, or ushort for the
// bits of a float16.

// Y[o, p] = X[o, I[o, p], p mod inner] for p below m·inner, 0 for an index outside [0, n).
kernel void k_gather_axis(IN(X), IN_INTS(I), OUT(Y), int outer, int n, int m, int inner) {
    const int p = get_global_id(0), o = get_global_id(1);
    if (p >= m * inner || o >= outer) return;
    const int at = o * m * inner + p, r = I[I_off + at];
    Y[Y_off + at] = r >= 0 && r < n ? X[X_off + (o * n + r) * inner + p % inner] : (ELEM)0;
}

// Y[o, I[o, j, i], i] takes G[o, j, i] for j = 0, 1, … below m, unless the index is outside [0, n). A work-item owns a
// line of Y: it does so in the order of j.
kernel void k_scatter_axis(IN(G), IN_INTS(I), OUT(Y), int outer, int n, int m, int inner, int how) {
    const int i = get_global_id(0), o = get_global_id(1);
    if (i >= inner || o >= outer) return;
    for (int j = 0; j < m; j++) {
        const int from = (o * m + j) * inner + i, r = I[I_off + from];
        if (r < 0 || r >= n) continue;
        const int to = Y_off + (o * n + r) * inner + i;
        Y[to] = combined(Y[to], G[G_off + from], how);
    }
}

#define SCATTER_LOOP(VALUE)                       \
    for (int i = 0; i < n; i++) {                 \
        const int r = I[I_off + i];               \
        if (r < first || r >= end) continue;      \
        global ELEM *y = Y + Y_off + r * cols;    \
        global const ELEM *g = G + G_off + i * cols; \
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
