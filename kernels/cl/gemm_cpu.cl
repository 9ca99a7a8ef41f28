// @depends: common
// Matrix products for CPUs: C = op(A)·op(B), or C += op(A)·op(B) if accumulate is not 0.
//
//   nn  A: [i*lda + k]  B: [k*ldb + j]
//   nt  A: [i*lda + k]  B: [j*ldb + k]
//   tn  A: [k*lda + i]  B: [k*ldb + j]
//   C: [i*ldc + j], i in 0:m, j in 0:n, k in 0:K
//
// With slice < K, C is a share for each slice of the sum, as in gemm_gpu.cl.
//
// One work-item per work-group and no local memory: a work-item owns a block of C of `rows` rows and
// PANEL columns. For each slice of KC steps of k it packs its panel of B, zero-padded, into private
// memory, and then runs a micro-kernel that keeps MR rows of C in vector registers while it streams
// through the slice (the scheme of Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008). Sums run over k in ascending order: the same input gives the same bits.
//
// WIDE is the number of 16-wide vectors in a panel. The defaults fill the 32 registers of AVX-512 with
// 6·4 accumulators; the narrow micro-kernel serves the last n%PANEL <= 16 columns.

#ifndef WIDE
#define WIDE 4
#endif
#ifndef MR
#define MR 6
#endif
#ifndef NARROW_MR
#define NARROW_MR 12
#endif
#ifndef KC
#define KC 256
#endif
#define PANEL (16 * WIDE)

// op(A)[i, k] for a fixed i, as a pointer and the distance of one k.
typedef struct {
    global const REAL *at;
    int row, step; // element (i, k) is at[i*row + k*step]
} operand;

// Packs columns [0, width) of kc steps of op(B) into P, `padded` columns wide.
static void pack(REAL *P, operand b, int kc, int width, int padded) {
    if (b.row == 1 && width == padded) { // rows of B are contiguous: whole vectors
        for (int k = 0; k < kc; k++) {
            for (int v = 0; v < padded; v += 16) vstore16(vload16(0, b.at + k * b.step + v), 0, P + k * padded + v);
        }
        return;
    }
    for (int k = 0; k < kc; k++) {
        for (int j = 0; j < width; j++) P[k * padded + j] = b.at[j * b.row + k * b.step];
        for (int j = width; j < padded; j++) P[k * padded + j] = 0;
    }
}

// One micro-kernel: C[0:live, 0:width] (+)= A[0:live, 0:kc]·P, in R rows by V vectors. Rows past the
// last repeat it; their results are dropped.
#define MICRO(name, R, V)                                                                            \
    static void name(operand a, int live, const REAL *P, int kc, global REAL *C, int ldc, int width, \
                     int add) {                                                                      \
        REAL16 acc[R][V];                                                                            \
        _Pragma("unroll") for (int r = 0; r < R; r++)                                                \
            _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = 0;                             \
        int row[R];                                                                                  \
        _Pragma("unroll") for (int r = 0; r < R; r++) row[r] = min(r, live - 1) * a.row;             \
        for (int k = 0; k < kc; k++) {                                                               \
            global const REAL *ak = a.at + k * a.step;                                               \
            REAL16 b[V];                                                                             \
            _Pragma("unroll") for (int v = 0; v < V; v++) b[v] = vload16(v, P + k * 16 * V);         \
            _Pragma("unroll") for (int r = 0; r < R; r++) {                                          \
                const REAL16 x = (REAL16)(ak[row[r]]);                                               \
                _Pragma("unroll") for (int v = 0; v < V; v++) acc[r][v] = fma(x, b[v], acc[r][v]);   \
            }                                                                                        \
        }                                                                                            \
        _Pragma("unroll") for (int r = 0; r < R; r++) {                                              \
            if (r >= live) continue;                                                                 \
            _Pragma("unroll") for (int v = 0; v < V; v++) {                                          \
                global REAL *c = C + r * ldc + 16 * v;                                               \
                if (16 * v + 16 <= width) {                                                          \
                    vstore16(add ? vload16(0, c) + acc[r][v] : acc[r][v], 0, c);                     \
                } else {                                                                             \
                    REAL tail[16];                                                                   \
                    vstore16(acc[r][v], 0, tail);                                                    \
                    for (int j = 0; j < width - 16 * v; j++) c[j] = add ? c[j] + tail[j] : tail[j];  \
                }                                                                                    \
            }                                                                                        \
        }                                                                                            \
    }

MICRO(micro_wide, MR, WIDE)
MICRO(micro_narrow, NARROW_MR, 1)

static void gemm(operand a, operand b, global REAL *C, int m, int n, int K, int ldc, int accumulate, int rows, int slice) {
    REAL panel[KC * PANEL];
    const int i0 = get_group_id(1) * rows, i1 = min(m, i0 + rows);
    const int j0 = get_group_id(0) * PANEL, width = min(n - j0, PANEL);
    const int narrow = width <= 16;
    const int z = get_group_id(2), start = z * slice, end = min(K, start + slice);
    C += z * m * ldc;
    for (int k0 = start; k0 < end; k0 += KC) {
        const int kc = min(end - k0, KC), add = accumulate || k0 > start;
        const operand bk = {b.at + j0 * b.row + k0 * b.step, b.row, b.step};
        pack(panel, bk, kc, width, narrow ? 16 : PANEL);
        for (int i = i0; i < i1; i += narrow ? NARROW_MR : MR) {
            const operand ak = {a.at + i * a.row + k0 * a.step, a.row, a.step};
            global REAL *c = C + i * ldc + j0;
            if (narrow) micro_narrow(ak, min(i1 - i, NARROW_MR), panel, kc, c, ldc, width, add);
            else micro_wide(ak, min(i1 - i, MR), panel, kc, c, ldc, width, add);
        }
    }
}

#define GEMM(form, a_row, a_step, b_row, b_step)                                                     \
    kernel __attribute__((reqd_work_group_size(1, 1, 1)))                                            \
    void k_gemm_##form(IN(A), IN(B), OUT(C), int m, int n, int K, int lda, int ldb, int ldc,         \
                       int accumulate, int rows, int slice) {                                        \
        const operand a = {A + A_off, a_row, a_step}, b = {B + B_off, b_row, b_step};                \
        gemm(a, b, C + C_off, m, n, K, ldc, accumulate, rows, slice);                                \
    }

GEMM(nn, lda, 1, 1, ldb)
GEMM(nt, lda, 1, ldb, 1)
GEMM(tn, 1, lda, 1, ldb)
