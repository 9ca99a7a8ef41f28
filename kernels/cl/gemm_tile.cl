// @depends: warp, mma, gemm_tail
// What products on the matrix units of GPUs share: which element of an operand is where, and what becomes of what a warp has of a
// tile of C.
//
//   FORM 0, nn  A: [i*lda + k]  B: [k*ldb + j]
//   FORM 1, nt  A: [i*lda + k]  B: [j*ldb + k]
//   FORM 2, tn  A: [k*lda + i]  B: [k*ldb + j]
//   FORM 3, tt  A: [k*lda + i]  B: [j*ldb + k]
//   C: [i*ldc + j], BIAS: [j], i in 0:m, j in 0:n, k in 0:K
//
// A warp has acc[DOWN][WN / 8][4]: DOWN blocks of 16 rows, APART rows from each other, from row ti of the tile on, and WN columns
// from tj on. A lane has four elements of each 16×8 of them, in one row and next to each other when they are stored.

#ifndef FORM
#define FORM 0
#endif
#if FORM == 2 || FORM == 3
#define A_ALONG_X 1
#else
#define A_ALONG_X 0
#endif
#if FORM == 1 || FORM == 3
#define B_ALONG_X 0
#else
#define B_ALONG_X 1
#endif
#if FORM == 0
#define ENTRY k_gemm_nn
#elif FORM == 1
#define ENTRY k_gemm_nt
#elif FORM == 2
#define ENTRY k_gemm_tn
#else
#define ENTRY k_gemm_tt
#endif
#ifndef BAND
#define BAND 0 // rows of tiles that are computed at a time, 0 for one after the other
#endif

#if BAND
// The tile of a work-group in bands of BAND rows, column by column: groups that run at the same time share more of what they read.
static int2 in_bands(int column, int row) {
    const int columns = get_num_groups(0), n = row * columns + column, first = n / (BAND * columns) * BAND;
    const int high = min(BAND, (int)get_num_groups(1) - first), in = n - first * columns;
    return (int2)(in / high, first + in % high);
}
#define TILE const int2 tile = in_bands(column, row); const int i0 = tile.y * TM, j0 = tile.x * TN;
#else
#define TILE const int i0 = row * TM, j0 = column * TN;
#endif

// Adds the products of steps [from, to) by fma.
#define MULTIPLY_STRANGE(from, to)                                                                                \
    _Pragma("unroll 1") for (int k = from; k < (to); k++) {                                                       \
        float u[DOWN][4], w[WN / 8][4];                                                                           \
        _Pragma("unroll") for (int i = 0; i < DOWN; i++)                                                          \
            _Pragma("unroll") for (int e = 0; e < 4; e++) {                                                       \
                const int x = i0 + ti + APART * i + ROW_OF(e);                                                    \
                u[i][e] = x < m ? a[A_ALONG_X ? k * lda + x : x * lda + k] : 0;                                   \
            }                                                                                                     \
        _Pragma("unroll") for (int j = 0; j < WN / 8; j++)                                                        \
            _Pragma("unroll") for (int e = 0; e < 4; e++) {                                                       \
                const int y = j0 + tj + 8 * j + COLUMN_OF(e);                                                     \
                w[j][e] = y < n ? b[B_ALONG_X ? k * ldb + y : y * ldb + k] : 0;                                   \
            }                                                                                                     \
        _Pragma("unroll") for (int i = 0; i < DOWN; i++)                                                          \
            _Pragma("unroll") for (int j = 0; j < WN / 8; j++)                                                    \
                _Pragma("unroll") for (int e = 0; e < 4; e++) acc[i][j][e] = fma(u[i][e], w[j][e], acc[i][j][e]); \
    }

// Adds the products of steps [from, to) of a staged tile by ordinary arithmetic.
#define MULTIPLY_STAGED(as, bs, from, to)                                                                        \
    for (int k = from; k < (to); k++)                                                                            \
        for (int i = 0; i < DOWN; i++) {                                                                         \
            const float v = STAGED(as, PLANE_A, ROW_A, ROWS_A, ti + APART * i + ROW_OF(0), k);                   \
            for (int j = 0; j < WN / 8; j++)                                                                     \
                for (int e = 0; e < 4; e++)                                                                      \
                    acc[i][j][e] = fma(v, STAGED(bs, PLANE_B, ROW_B, ROWS_B, tj + 8 * j + COLUMN_OF(e), k), acc[i][j][e]); \
        }

// The four neighbours of C that a lane stores. With NVIDIA_PTX an even lane takes the upper row of a pair of lanes, an odd one the
// lower.
static float4 neighbours(const float *c, int lane) {
#ifdef NVIDIA_PTX
    const int odd = lane & 1;
    const float p = other(odd ? c[0] : c[2], 1), q = other(odd ? c[1] : c[3], 1);
    return odd ? (float4)(p, q, c[2], c[3]) : (float4)(c[0], c[1], p, q);
#else
    return (float4)(c[0], c[1], c[2], c[3]);
#endif
}

// Stores what a warp has.
#define END_WARP                                                                      \
    const int even_c = (C_off | ldc) % 4 == 0;                                        \
    _Pragma("unroll") for (int j = 0; j < WN / 8; j++) {                              \
        const int y = j0 + tj + 8 * j + lane % 4 / 2 * 4;                             \
        const float4 add = biased ? load4(BIAS + BIAS_off + y, n - y, 0) : (float4)0; \
        _Pragma("unroll") for (int i = 0; i < DOWN; i++) {                            \
            const int x = i0 + ti + APART * i + ROW_OF(lane % 2 * 2);                \
            float4 v = neighbours(acc[i][j], lane);                                   \
            END_ROW_4(x, y, v, add)                                                   \
        }                                                                             \
    }
