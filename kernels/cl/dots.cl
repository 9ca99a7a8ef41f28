// @depends: common
// Sums of products of rows whose elements are neighbours, for CPUs: a few rows are not worth packing what they meet.

// T[r*t_row + c*t_col] = Σ_k W[r*w_row + k]·X[c*x_row + k] for r < R, c < C and k < n. Rows past the last of `live` repeat it. Sums are of
// sixteen lanes, which are added up in one order. W is of OF_MEMORY, whose elements OF_FROM and OF_LOAD16 make floats: see memory.cl.
#define DOTS(name, R, C, OF, space)                                                                                                \
    static NOINLINE void name(global const OF##_MEMORY *W, int w_row, int live, space const REAL *X, int x_row, int n, REAL *T, int t_row, int t_col) { \
        REAL16 acc[R][C];                                                                                                          \
        int at[R];                                                                                                                 \
        _Pragma("unroll") for (int r = 0; r < R; r++) at[r] = min(r, live - 1) * w_row;                                            \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                                              \
            _Pragma("unroll") for (int c = 0; c < C; c++) acc[r][c] = 0;                                                           \
        int k = 0;                                                                                                                 \
        for (; k + 16 <= n; k += 16) {                                                                                             \
            REAL16 x[C];                                                                                                           \
            _Pragma("unroll") for (int c = 0; c < C; c++) x[c] = IN_MEMORY(space const, REAL16, X + c * x_row + k);                \
            _Pragma("unroll") for (int r = 0; r < R; r++) {                                                                        \
                const REAL16 w = OF##_LOAD16(W + at[r] + k);                                                                       \
                _Pragma("unroll") for (int c = 0; c < C; c++) acc[r][c] = fma(w, x[c], acc[r][c]);                                 \
            }                                                                                                                      \
        }                                                                                                                          \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                                              \
            _Pragma("unroll") for (int c = 0; c < C; c++) {                                                                        \
                const REAL8 eight = acc[r][c].lo + acc[r][c].hi;                                                                   \
                const REAL4 four = eight.lo + eight.hi;                                                                            \
                const REAL2 two = four.lo + four.hi;                                                                               \
                REAL sum = two.x + two.y;                                                                                          \
                for (int j = k; j < n; j++) sum = fma(OF##_FROM(W[at[r] + j]), X[c * x_row + j], sum);                             \
                T[r * t_row + c * t_col] = sum;                                                                                    \
            }                                                                                                                      \
    }
