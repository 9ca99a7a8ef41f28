// @depends: common
// Matrix products for GPUs: C = op(A)·op(B), or C += op(A)·op(B) if accumulate is not 0.
//
//   nn  A: [i*lda + k]  B: [k*ldb + j]
//   nt  A: [i*lda + k]  B: [j*ldb + k]
//   tn  A: [k*lda + i]  B: [k*ldb + j]
//   C: [i*ldc + j], i in 0:m, j in 0:n, k in 0:K
//
// With slice < K, C is a share for each slice of the sum, [z*m*ldc + i*ldc + j] over k in [z*slice, (z+1)*slice):
// a product of two long thin matrices has too few tiles to fill a GPU. Adding the shares in their order gives
// the same bits on every run.
//
// A work-group of (TM/WM)·(TN/WN) work-items computes a TM×TN tile of C. It stages TK steps of both
// operands in local memory, zero-padded past the edges, and each work-item accumulates WM×WN elements
// in registers: register blocking over local-memory tiles as in Nugteren's SGEMM tutorial, step 6. The
// rows of A's tile are one element longer than TM so that its transposing stores hit different banks.
// `rows` serves the CPU variant only.

#ifndef TM
#define TM 64 // rows of the tile
#endif
#ifndef TN
#define TN 64 // columns of the tile
#endif
#ifndef TK
#define TK 16 // steps of k staged at once
#endif
#ifndef WM
#define WM 4 // rows per work-item
#endif
#ifndef WN
#define WN 4 // columns per work-item
#endif
#define ITEMS_M (TM / WM)
#define ITEMS_N (TN / WN)
#define ITEMS (ITEMS_M * ITEMS_N)

// Loads T[k][x] = S[(x0+x)*x_step + (k0+k)*k_step] for x < width and k < TK, zero outside limits.
// Neighbouring work-items take neighbouring addresses: along x if x_step is 1, else along k.
#define STAGE(T, S, width, x0, x_step, x_end, k_step)                                           \
    for (int e = lid; e < (width) * TK; e += ITEMS) {                                           \
        const int x = (x_step) == 1 ? e % (width) : e / TK;                                     \
        const int k = (x_step) == 1 ? e / (width) : e % TK;                                     \
        const int inside = (x0) + x < (x_end) && k0 + k < k_end;                                \
        (T)[k][x] = inside ? (S)[((x0) + x) * (x_step) + (k0 + k) * (k_step)] : 0;              \
    }

#define GEMM(form, a_row, a_step, b_row, b_step)                                                \
    kernel __attribute__((reqd_work_group_size(ITEMS_N, ITEMS_M, 1)))                           \
    void k_gemm_##form(IN(A), IN(B), OUT(C), int m, int n, int K, int lda, int ldb, int ldc,    \
                       int accumulate, int rows, int slice) {                                   \
        local REAL as[TK][TM + 1], bs[TK][TN + 1];                                              \
        const int tx = get_local_id(0), ty = get_local_id(1), lid = ty * ITEMS_N + tx;          \
        const int i0 = get_group_id(1) * TM, j0 = get_group_id(0) * TN;                         \
        const int z = get_group_id(2), k_end = min(K, (z + 1) * slice);                         \
        global const REAL *a = A + A_off, *b = B + B_off;                                       \
        REAL acc[WM][WN];                                                                       \
        _Pragma("unroll") for (int r = 0; r < WM; r++)                                          \
            _Pragma("unroll") for (int c = 0; c < WN; c++) acc[r][c] = 0;                       \
        for (int k0 = z * slice; k0 < k_end; k0 += TK) {                                        \
            STAGE(as, a, TM, i0, a_row, m, a_step)                                              \
            STAGE(bs, b, TN, j0, b_row, n, b_step)                                              \
            barrier(CLK_LOCAL_MEM_FENCE);                                                       \
            _Pragma("unroll") for (int k = 0; k < TK; k++) {                                    \
                REAL x[WM], y[WN];                                                              \
                _Pragma("unroll") for (int r = 0; r < WM; r++) x[r] = as[k][ty + r * ITEMS_M];  \
                _Pragma("unroll") for (int c = 0; c < WN; c++) y[c] = bs[k][tx + c * ITEMS_N];  \
                _Pragma("unroll") for (int r = 0; r < WM; r++)                                  \
                    _Pragma("unroll") for (int c = 0; c < WN; c++)                              \
                        acc[r][c] = fma(x[r], y[c], acc[r][c]);                                 \
            }                                                                                   \
            barrier(CLK_LOCAL_MEM_FENCE);                                                       \
        }                                                                                       \
        _Pragma("unroll") for (int r = 0; r < WM; r++) {                                        \
            _Pragma("unroll") for (int c = 0; c < WN; c++) {                                    \
                const int i = i0 + ty + r * ITEMS_M, j = j0 + tx + c * ITEMS_N;                 \
                if (i < m && j < n) {                                                           \
                    global REAL *out = C + C_off + (z * m + i) * ldc + j;                       \
                    *out = accumulate ? *out + acc[r][c] : acc[r][c];                           \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }

GEMM(nn, lda, 1, 1, ldb)
GEMM(nt, lda, 1, ldb, 1)
GEMM(tn, 1, lda, 1, ldb)
