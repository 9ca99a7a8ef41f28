// @depends: common, pad
// Padding for CPUs: see pad.cl. A work-item copies rows.

#define PAD                                                                                                         \
    const int rows = m0 * m1 * m2, g = get_group_id(0), groups = get_num_groups(0);                                 \
    const int lo = clamp(before3, 0, m3), hi = max(lo, min(m3, before3 + n3));                                      \
    for (int r = (long)rows * g / groups; r < (long)rows * (g + 1) / groups; r++) {                                 \
        const int from2 = pad_source(r % m2 - before2, n2, mode2);                                                  \
        const int from1 = pad_source(r / m2 % m1 - before1, n1, mode1), from0 = pad_source(r / m2 / m1 - before0, n0, mode0); \
        global ELEM *y = Y + Y_off + r * m3;                                                                        \
        if (from0 < 0 || from1 < 0 || from2 < 0) {                                                                  \
            for (int i = 0; i < m3; i++) y[i] = (ELEM)value;                                                        \
            continue;                                                                                               \
        }                                                                                                           \
        global const ELEM *x = X + X_off + ((from0 * n1 + from1) * n2 + from2) * n3;                                \
        for (int side = 0; side < 2; side++) {                                                                      \
            for (int i = side ? hi : 0; i < (side ? m3 : lo); i++) {                                                \
                const int from = pad_source(i - before3, n3, mode3);                                                \
                y[i] = from < 0 ? (ELEM)value : x[from];                                                            \
            }                                                                                                       \
        }                                                                                                           \
        if (mode3 == 4) {                                                                                           \
            for (int i = lo; i < hi; i++) y[i] = x[n3 - 1 - (i - before3)];                                         \
        } else {                                                                                                    \
            for (int i = lo; i < hi; i++) y[i] = x[i - before3];                                                    \
        }                                                                                                           \
    }

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_pad(IN(X), OUT(Y), REAL value, AXIS_PARAMS) { PAD }

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_pad_int(IN(X), OUT(Y), long value, AXIS_PARAMS) { PAD }
