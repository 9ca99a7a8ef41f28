// @depends: common
// Sums of products of rows whose elements are neighbours, for CPUs: a few rows are not worth packing what they meet.

// T[r*t_row + c*t_col] = Σ_k W[r*w_row + k]·X[c*x_row + k] for r < R, c < C and k < n. Rows past the last of `live` repeat it. Sums are of
// sixteen lanes, which are added up in one order.
#define DOTS(name, R, C, space)                                                                                                    \
    static NOINLINE void name(global const REAL *W, int w_row, int live, space const REAL *X, int x_row, int n, REAL *T, int t_row, int t_col) { \
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
                const REAL16 w = IN_MEMORY(global const, REAL16, W + at[r] + k);                                                   \
                _Pragma("unroll") for (int c = 0; c < C; c++) acc[r][c] = fma(w, x[c], acc[r][c]);                                 \
            }                                                                                                                      \
        }                                                                                                                          \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                                              \
            _Pragma("unroll") for (int c = 0; c < C; c++) {                                                                        \
                const REAL8 eight = acc[r][c].lo + acc[r][c].hi;                                                                   \
                const REAL4 four = eight.lo + eight.hi;                                                                            \
                const REAL2 two = four.lo + four.hi;                                                                               \
                REAL sum = two.x + two.y;                                                                                          \
                for (int j = k; j < n; j++) sum = fma(W[at[r] + j], X[c * x_row + j], sum);                                        \
                T[r * t_row + c * t_col] = sum;                                                                                    \
            }                                                                                                                      \
    }
