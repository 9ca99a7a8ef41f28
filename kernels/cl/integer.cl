// @depends: common
// Arithmetic of integers, built with ELEM as int or uchar. It wraps around.

#define WRAP(x, op, y) (int)((uint)(x)op(uint)(y))

// Y[i] = y, in terms of x = X[i] and the scalars a and b
#define INTEGER_UNARY(name, y)                                         \
    kernel void k_int_##name(IN(X), OUT(Y), int n, int a, int b) {     \
        const int i = get_global_id(0);                                \
        if (i >= n) return;                                            \
        const int x = X[X_off + i];                                    \
        Y[Y_off + i] = (ELEM)(y);                                      \
    }

INTEGER_UNARY(neg, WRAP(0, -, x))
INTEGER_UNARY(abs, x < 0 ? WRAP(0, -, x) : x)
INTEGER_UNARY(sign, (x > 0) - (x < 0))
INTEGER_UNARY(square, WRAP(x, *, x))
INTEGER_UNARY(relu, max(x, 0))
INTEGER_UNARY(clamp, min(max(x, a), b))
INTEGER_UNARY(add_scalar, WRAP(x, +, a))
INTEGER_UNARY(sub_scalar, WRAP(x, -, a))
INTEGER_UNARY(mul_scalar, WRAP(x, *, a))
INTEGER_UNARY(max_scalar, max(x, a))
INTEGER_UNARY(min_scalar, min(x, a))
INTEGER_UNARY(rsub_scalar, WRAP(a, -, x))

// Z[r*cols + c] = z, in terms of x = X[r*cols + c] and y = Y[c]
#define INTEGER_BINARY(name, z)                                                  \
    kernel void k_int_##name##_row(IN(X), IN(Y), OUT(Z), int rows, int cols) {   \
        const int c = get_global_id(0), r = get_global_id(1);                    \
        if (c >= cols || r >= rows) return;                                      \
        const int x = X[X_off + r * cols + c], y = Y[Y_off + c];                 \
        Z[Z_off + r * cols + c] = (ELEM)(z);                                     \
    }

INTEGER_BINARY(add, WRAP(x, +, y))
INTEGER_BINARY(sub, WRAP(x, -, y))
INTEGER_BINARY(mul, WRAP(x, *, y))
INTEGER_BINARY(min, min(x, y))
INTEGER_BINARY(max, max(x, y))

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
