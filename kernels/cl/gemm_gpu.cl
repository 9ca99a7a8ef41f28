// @depends: common, epilogue, gemm_tail
// Matrix products for GPUs: C = f(op(A)·op(B) + C·accumulate + bias).
//
//   nn  A: [i*lda + k]  B: [k*ldb + j]
//   nt  A: [i*lda + k]  B: [j*ldb + k]
//   tn  A: [k*lda + i]  B: [k*ldb + j]
//   tt  A: [k*lda + i]  B: [j*ldb + k]
//   C: [i*ldc + j], BIAS: [j], i in 0:m, j in 0:n, k in 0:K
//
// f is that of gemm_tail.cl. A text before this one that has it names the one FORM to build: 0 to 3, in that order.
//
// With slice < K, C is a share for each slice of the sum, [z*m*ldc + i*ldc + j] over k in [z*slice, (z+1)*slice):
// a product of two long thin matrices has too few tiles to fill a GPU. Adding the shares in their order gives
// the same bits on every run.
//
// A work-group computes a TM×TN tile of C. It stages TK steps of both operands in local memory, zero-padded
// past the edges, while its work-items accumulate WM×WN elements each in registers from the steps staged
// before: two buffers, one barrier per TK steps. Thirty-two neighbouring work-items make a block of 4·WM by
// 8·WN elements, so that the lanes of a warp read each vector of A and of B from local memory once, after
// Boehm, "How to Optimize a CUDA Matmul Kernel", kernel 10 (warp tiling). An element sums over k in
// ascending order whatever the tile: the choice of a tile changes no bit. `rows` serves the CPU variant only.

#ifndef TM
#define TM 64 // rows of the tile, a multiple of 4·WM
#endif
#ifndef TN
#define TN 64 // columns of the tile, a multiple of 8·WN
#endif
#ifndef TK
#define TK 16 // steps of k staged at once, a multiple of 4
#endif
#ifndef WM
#define WM 4 // rows per work-item, a multiple of 4
#endif
#ifndef WN
#define WN 4 // columns per work-item, a multiple of 4
#endif
#define WARPS_N (TN / (8 * WN))
#define ITEMS (TM / WM * (TN / WN))
#define VECTORS_A (TM * TK / 4 / ITEMS) // that a work-item loads of each tile
#define VECTORS_B (TN * TK / 4 / ITEMS)
#define ROW_A (TM + 4) // of a staged tile: aligned, and not on one bank
#define ROW_B (TN + 4)

// Vector e of a tile's part of an operand. Its element (x, k) is S[x + k*ld] if `along_x`, else S[x*ld + k].
#define FETCH(V, S, width, x0, x_end, ld, along_x, k0, e, aligned)                    \
    if (along_x) {                                                                    \
        const int x = (x0) + (e) % ((width) / 4) * 4, k = (k0) + (e) / ((width) / 4); \
        V = load4((S) + x + k * (ld), k < k_end ? (x_end) - x : 0, aligned);          \
    } else {                                                                          \
        const int x = (x0) + (e) / (TK / 4), k = (k0) + (e) % (TK / 4) * 4;           \
        V = load4((S) + x * (ld) + k, x < (x_end) ? k_end - k : 0, aligned);          \
    }

// Puts vector e where T[k][x] has its elements.
#define STORE(T, V, width, along_x, e)                                                      \
    if (along_x) {                                                                          \
        *(local REAL4 *)&(T)[(e) / ((width) / 4)][(e) % ((width) / 4) * 4] = V;             \
    } else {                                                                                \
        const int x = (e) / (TK / 4), k = (e) % (TK / 4) * 4;                               \
        (T)[k][x] = V.s0, (T)[k + 1][x] = V.s1, (T)[k + 2][x] = V.s2, (T)[k + 3][x] = V.s3; \
    }

#define FETCH_TILES(k0, a_along_x, b_along_x)                                   \
    _Pragma("unroll") for (int v = 0; v < VECTORS_A; v++)                       \
        FETCH(fa[v], a, TM, i0, m, lda, a_along_x, k0, lid + v * ITEMS, even_a) \
    _Pragma("unroll") for (int v = 0; v < VECTORS_B; v++)                       \
        FETCH(fb[v], b, TN, j0, n, ldb, b_along_x, k0, lid + v * ITEMS, even_b)

#define STORE_TILES(buffer, a_along_x, b_along_x)                \
    _Pragma("unroll") for (int v = 0; v < VECTORS_A; v++)        \
        STORE(as[buffer], fa[v], TM, a_along_x, lid + v * ITEMS) \
    _Pragma("unroll") for (int v = 0; v < VECTORS_B; v++)        \
        STORE(bs[buffer], fb[v], TN, b_along_x, lid + v * ITEMS)

#define GEMM(form, a_along_x, b_along_x)                                                                         \
    kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))                                                    \
    void k_gemm_##form(OWN_PARAMS BATCH_PARAMS EPILOGUE_PARAMS PUT_PARAMS) {                                     \
        local REAL as[2][TK][ROW_A] __attribute__((aligned(32))), bs[2][TK][ROW_B] __attribute__((aligned(32))); \
        const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32;                                       \
        GROUP_PROLOGUE                                                                                           \
        const int i0 = row * TM, j0 = column * TN;                                                               \
        const int ti = warp / WARPS_N * 4 * WM + lane / 8 * 4, tj = warp % WARPS_N * 8 * WN + lane % 8 * 4;      \
        const int k_start = part * slice, k_end = min(K, k_start + slice);                                       \
        const int even_a = (a_at | lda | k_start) % 4 == 0, even_b = (b_at | ldb | k_start) % 4 == 0;            \
        global const REAL *a = A + a_at, *b = B + b_at;                                                          \
        REAL4 fa[VECTORS_A], fb[VECTORS_B], acc[WM][WN / 4];                                                     \
        _Pragma("unroll") for (int r = 0; r < WM; r++)                                                           \
            _Pragma("unroll") for (int c = 0; c < WN / 4; c++) acc[r][c] = 0;                                    \
        FETCH_TILES(k_start, a_along_x, b_along_x)                                                               \
        STORE_TILES(0, a_along_x, b_along_x)                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                            \
        int now = 0;                                                                                             \
        for (int k0 = k_start; k0 < k_end; k0 += TK) {                                                           \
            const int more = k0 + TK < k_end;                                                                    \
            if (more) { FETCH_TILES(k0 + TK, a_along_x, b_along_x) }                                             \
            _Pragma("unroll") for (int k = 0; k < TK; k++) {                                                     \
                REAL4 y[WN / 4];                                                                                 \
                _Pragma("unroll") for (int c = 0; c < WN / 4; c++)                                               \
                    y[c] = *(local REAL4 *)&bs[now][k][tj + 32 * c];                                             \
                _Pragma("unroll") for (int r = 0; r < WM / 4; r++) {                                             \
                    const REAL4 x = *(local REAL4 *)&as[now][k][ti + 16 * r];                                    \
                    _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {                                         \
                        acc[4 * r][c] = fma((REAL4)(x.s0), y[c], acc[4 * r][c]);                                 \
                        acc[4 * r + 1][c] = fma((REAL4)(x.s1), y[c], acc[4 * r + 1][c]);                         \
                        acc[4 * r + 2][c] = fma((REAL4)(x.s2), y[c], acc[4 * r + 2][c]);                         \
                        acc[4 * r + 3][c] = fma((REAL4)(x.s3), y[c], acc[4 * r + 3][c]);                         \
                    }                                                                                            \
                }                                                                                                \
            }                                                                                                    \
            now ^= 1;                                                                                            \
            if (more) { STORE_TILES(now, a_along_x, b_along_x) }                                                 \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        }                                                                                                        \
        const int even_c = (C_off | ldc) % 4 == 0;                                                               \
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {                                                     \
            const int j = j0 + tj + 32 * c;                                                                      \
            const REAL4 add = biased ? load4(BIAS + BIAS_off + j, n - j, 0) : (REAL4)0;                          \
            _Pragma("unroll") for (int r = 0; r < WM; r++) {                                                     \
                const int i = i0 + ti + r / 4 * 16 + r % 4;                                                      \
                REAL4 v = acc[r][c];                                                                             \
                END_ROW_4(i, j, v, add)                                                                          \
            }                                                                                                    \
        }                                                                                                        \
    }

#if !defined(FORM) || FORM == 0
GEMM(nn, 0, 1)
#endif
#if !defined(FORM) || FORM == 1
GEMM(nt, 0, 0)
#endif
#if !defined(FORM) || FORM == 2
GEMM(tn, 1, 1)
#endif
#if !defined(FORM) || FORM == 3
GEMM(tt, 1, 0)
#endif
