// @depends: common
// Copies that compute, axis by axis, which element comes where: padding and mirroring. Also built with ELEM as int, uchar,
// or ushort for the bits of a float16.

// Y [m0, m1, m2, m3] takes X [n0, n1, n2, n3]: index i of an axis comes from i − before. The mode of the axis says what
// stands for an index that is none: 0 the value, 1 its mirror image in the first or last element, 2 the nearest, 3 that
// of the next period. In mode 4 the axis is mirrored: index i comes from n − 1 − i.
static int pad_source(int i, int n, int mode) {
    if (i >= 0 && i < n) return mode == 4 ? n - 1 - i : i;
    switch (mode) {
    case 1: return i < 0 ? -i : 2 * (n - 1) - i;
    case 2: return i < 0 ? 0 : n - 1;
    case 3: return i < 0 ? i + n : i - n;
    }
    return -1;
}

#define AXIS_PARAMS int m0, int n0, int before0, int mode0, int m1, int n1, int before1, int mode1, int m2, int n2, int before2, int mode2, int m3, int n3, int before3, int mode3

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

kernel void k_pad_int(IN(X), OUT(Y), int value, AXIS_PARAMS) { PAD }
