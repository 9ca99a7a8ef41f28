// @depends: common, pad
// Padding for GPUs, with one work-item per element of the result: see pad.cl.

#define PAD                                                                       \
    const int i3 = get_global_id(0);                                              \
    int row = get_global_id(1);                                                   \
    if (i3 >= m3 || row >= m0 * m1 * m2) return;                                  \
    const int to = row * m3 + i3;                                                 \
    const int from3 = pad_source(i3 - before3, n3, mode3);                        \
    const int from2 = pad_source(row % m2 - before2, n2, mode2);                  \
    row /= m2;                                                                    \
    const int from1 = pad_source(row % m1 - before1, n1, mode1);                  \
    const int from0 = pad_source(row / m1 - before0, n0, mode0);                  \
    const int inside = from0 >= 0 && from1 >= 0 && from2 >= 0 && from3 >= 0;      \
    const int from = inside ? ((from0 * n1 + from1) * n2 + from2) * n3 + from3 : 0; \
    Y[Y_off + to] = inside ? X[X_off + from] : (ELEM)value;

kernel void k_pad(IN(X), OUT(Y), REAL value, AXIS_PARAMS) { PAD }

kernel void k_pad_int(IN(X), OUT(Y), long value, AXIS_PARAMS) { PAD }
