// @depends: common
// Arithmetic of integers, built with ELEM as int or uchar. It wraps around.

// Y[(o*runs + r)*inner + i] = Σ X[(o*len + k)*inner + i] over k = r, r + runs, …
kernel void k_int_sum_axis(IN(X), OUT_INTS(Y), int outer, int len, int inner, int runs) {
    const int i = get_global_id(0), row = get_global_id(1);
    if (i >= inner || row >= outer * runs) return;
    global const ELEM *x = X + X_off + row / runs * len * inner + i;
    uint s = 0;
    for (int k = row % runs; k < len; k += runs) s += (uint)(int)x[k * inner];
    Y[Y_off + row * inner + i] = (int)s;
}

// Y[o*inner + i] = f_k X[(o*len + k)*inner + i], for f the maximum or the minimum
#define INTEGER_EXTREME(f)                                                                 \
    kernel void k_int_##f##_axis(IN(X), OUT(Y), int outer, int len, int inner) {           \
        const int i = get_global_id(0), o = get_global_id(1);                              \
        if (i >= inner || o >= outer) return;                                              \
        global const ELEM *x = X + X_off + o * len * inner + i;                            \
        ELEM m = x[0];                                                                     \
        for (int k = 1; k < len; k++) m = f(m, x[k * inner]);                              \
        Y[Y_off + o * inner + i] = m;                                                      \
    }

INTEGER_EXTREME(max)
INTEGER_EXTREME(min)
