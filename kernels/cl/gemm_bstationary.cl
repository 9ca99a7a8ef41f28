// @depends: epilogue, mma, gemm_tail, gemm_lanes
// Matrix products of many rows with a small matrix on the matrix units of GPUs: C = f(op(A)·op(B) + C·accumulate + bias),
// of float32, A by rows.
//
//   FORM 0, nn  A: [i*lda + k]  B: [k*ldb + j]
//   FORM 1, nt  A: [i*lda + k]  B: [j*ldb + k]
//   C: [i*ldc + j], BIAS: [j], i in 0:m, j in 0:n, k in 0:K
//
// Arguments, shares of the sum, batches and the epilogue are those of gemm_gpu.cl, what the inner product does that of
// mma.cl. The bound is the memory, so nothing of A or C passes through local memory and no barrier holds a warp up:
// TK steps of TN columns of B lie there, as what the units take, made once for all blocks of rows that a work-group
// computes. A warp computes WM rows of a block. It makes the parts of A in the registers to which it loaded A, and
// as soon as all of these are free its rows of the next block are on their way to them. Where K is longer than TK, B is
// made again for each TK steps of a block. With BY_GROUPS groups of four warps multiply: see gemm_bstationary_groups.cl.
//
// The units take any order of the steps and of the columns. In the order here the elements that a lane needs are neighbours,
// and it loads and stores four at a time. Of 16 steps, lane 4g + t has those from 4t to 4t + 3: of rows g and g + 8 of A, and of
// columns 4(g/2) + g%2 and 2 more of B, the one for the first 8 columns that the units take, the other for the second. Of 16
// columns of C it has those from 4t to 4t + 3, in the same rows.
//
// Steps in which an element of a warp's rows or of B is not a sum of parts are computed by fma, 16 at a time. Without
// NVIDIA_PTX ordinary arithmetic does all of it, from the same parts.

#ifndef FORM
#define FORM 0
#endif
#ifndef TM
#define TM 128 // rows of a block, a multiple of WM
#endif
#ifndef TN
#define TN 64 // columns, a multiple of PANEL and of 32
#endif
#ifndef TK
#define TK 64 // steps of B that are held, a multiple of 16
#endif
#ifndef WM
#define WM 16 // rows of a warp, a multiple of 16
#endif
#ifndef PANEL
#define PANEL 32 // columns whose parts of B are in registers, a multiple of 16
#endif
#if FORM == 0
#define ENTRY k_gemm_nn
#else
#define ENTRY k_gemm_nt
#endif

#define ITEMS (TM / WM * 32)
#define BLOCKS (TK / 16)
#define HELD (BLOCKS * TN / 16 * WORDS * 32) // vectors

// Four elements that are `next` apart, zeros past count.
#define FOUR(p, next, count) \
    (float4)((count) > 0 ? (p)[0] : 0, (count) > 1 ? (p)[next] : 0, (count) > 2 ? (p)[2 * (next)] : 0, (count) > 3 ? (p)[3 * (next)] : 0)

// Where the first two of four steps lie in what is held, in words: of plane p, from step 4q on of column x. The others lie HELD_NEXT further.
#ifndef HELD_AT
#define HELD_NEXT 1
#define HELD_AT(p, q, x) \
    (((((q) / 4 * (TN / 16) + (x) / 16) * WORDS + (p)) * 32 + ((x) % 16 / 4 * 2 + (x) % 2) * 4 + (q) % 4) * 4 + (x) / 2 % 2 * 2)
#endif

// Makes what is held of B, of TK steps from k0 on and TN columns from j0 on. Returns a bit for each 16 of the steps in which
// words of this work-item do not hold an element.
static uint hold(local uint4 *held, global const float *b, int ldb, int k0, int k_end, int j0, int n, int lid) {
    uint strange = 0;
#pragma unroll 4
    for (int e = lid; e < TK / 4 * TN; e += ITEMS) {
        const int x = FORM == 0 ? e % TN : e / (TK / 4), q = FORM == 0 ? e / TN : e % (TK / 4), j = j0 + x, k = k0 + 4 * q;
        float4 v = 0;
        if (j < n) {
            global const float *p = b + (FORM == 0 ? k * ldb + j : j * ldb + k);
            const int next = FORM == 0 ? ldb : 1;
            v = FOUR(p, next, k_end - k);
        }
        uint2 words[WORDS];
        uint left = 0;
        float size = 0;
        words_of(v, words, &left, &size);
        const int ordinary = ORDINARY(left, size);
        if (!ordinary) strange |= 1u << q / 4;
#pragma unroll
        for (int p = 0; p < WORDS; p++) {
            if (!ordinary) words[p] = 0; // times 0 it is 0
            local uint *to = (local uint *)held + HELD_AT(p, q, x);
            to[0] = words[p].s0, to[HELD_NEXT] = words[p].s1;
        }
    }
    return strange;
}

// What a lane has of a block of A, from row x0 and step k0 on: all loads at once, so that none waits for what another's are for.
#define EACH_NEXT                                           \
    _Pragma("unroll") for (int s = 0; s < BLOCKS; s++)      \
        _Pragma("unroll") for (int i = 0; i < WM / 16; i++) \
            _Pragma("unroll") for (int h = 0; h < 2; h++)
#define FETCH(x0, k0)                                                                                                   \
    {                                                                                                                   \
        const int x = (x0) + own_row, k = (k0) + lane % 4 * 4;                                                          \
        global const float *p = a + x * lda + k;                                                                        \
        if (even_a && (x0) + TM <= m && (k0) + TK <= k_end) {                                                           \
            EACH_NEXT next[i][h][s] = *(global const float4 *)(p + (16 * i + 8 * h) * lda + 16 * s);                    \
        } else {                                                                                                        \
            EACH_NEXT next[i][h][s] = FOUR(p + (16 * i + 8 * h) * lda + 16 * s, 1, x + 16 * i + 8 * h < m ? k_end - k - 16 * s : 0); \
        }                                                                                                               \
    }

// Adds a step by fma. With NVIDIA_PTX the lanes of a warp share what they load of B.
#ifdef NVIDIA_PTX
#define LOAD_B(step)                                                                      \
    float of_b[TN / 32];                                                                  \
    _Pragma("unroll") for (int c = 0; c < TN / 32; c++) {                                 \
        const int y = j0 + 32 * c + lane;                                                 \
        of_b[c] = y < n ? b[FORM == 0 ? (step) * ldb + y : y * ldb + (step)] : 0;         \
    }
#define LOADED_B(y, step) from_lane(of_b[(y) / 32], (y) % 32 + 4 * (lane % 4))
#else
#define LOAD_B(step)
#define LOADED_B(y, step)                                                                 \
    (j0 + (y) + 4 * (lane % 4) < n ? b[FORM == 0 ? (step) * ldb + j0 + (y) + 4 * (lane % 4) : (j0 + (y) + 4 * (lane % 4)) * ldb + (step)] : 0)
#endif
#define MULTIPLY_STRANGE(step)                                                            \
    {                                                                                     \
        LOAD_B(step)                                                                      \
        float of_a[WM / 16][2];                                                           \
        _Pragma("unroll") for (int i = 0; i < WM / 16; i++)                               \
            _Pragma("unroll") for (int h = 0; h < 2; h++) {                               \
                const int x = i0 + 16 * i + 8 * h;                                        \
                of_a[i][h] = x < m ? a[x * lda + (step)] : 0;                             \
            }                                                                             \
        _Pragma("unroll") for (int j = 0; j < TN / 8; j++)                                \
            _Pragma("unroll") for (int e = 0; e < 2; e++) {                               \
                const float w = LOADED_B(j / 2 * 16 + j % 2 * 2 + e, step);               \
                _Pragma("unroll") for (int i = 0; i < WM / 16; i++)                       \
                    _Pragma("unroll") for (int h = 0; h < 2; h++)                         \
                        acc[i][j][2 * h + e] = fma(of_a[i][h], w, acc[i][j][2 * h + e]);  \
            }                                                                             \
    }

#ifndef NVIDIA_PTX
// An element of B that is held: step k and column y of a tile.
static float held_at(local const uint4 *held, int k, int y) {
    local const uint *words = (local const uint *)held;
#if INNER == TF32
    return as_float(words[HELD_AT(k / 2 % 2, k / 4, y) + k % 2 * HELD_NEXT]);
#elif INNER == HALVES
    return vload_half(k % 2, (local const half *)(words + HELD_AT(0, k / 4, y) + k / 2 % 2 * HELD_NEXT));
#else
    float sum = 0;
    for (int p = PLANES - 1; p >= 0; p--) {
        local const ushort *two = (local const ushort *)(words + HELD_AT(p, k / 4, y) + k / 2 % 2 * HELD_NEXT);
        sum += as_float((uint)two[k % 2] << 16);
    }
    return sum;
#endif
}

#define MULTIPLY_HELD(k0, s)                                                                               \
    for (int step = 16 * (s); step < min(16 * (s) + 16, k_end - (k0)); step++)                             \
        for (int i = 0; i < WM / 16; i++)                                                                  \
            for (int h = 0; h < 2; h++) {                                                                  \
                const int x = i0 + 16 * i + 8 * h;                                                         \
                const float u = x < m ? factor(a[x * lda + (k0) + step]) : 0;                              \
                for (int j = 0; j < TN / 8; j++)                                                           \
                    for (int e = 0; e < 2; e++)                                                            \
                        acc[i][j][2 * h + e] = fma(u, held_at(held, step, j / 2 * 16 + 4 * (lane % 4) + j % 2 * 2 + e), acc[i][j][2 * h + e]); \
            }
#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void ENTRY(OWN_PARAMS BATCH_PARAMS EPILOGUE_PARAMS PUT_PARAMS) {
    local uint4 held[HELD] __attribute__((aligned(16)));
    local uint flaws;
    const int lid = get_local_id(0), lane = lid % 32;
    GROUP_PROLOGUE
    const int j0 = column * TN, k_start = part * slice, k_end = min(K, k_start + slice);
    const int even_a = (a_at | lda | k_start) % 4 == 0, even_c = (C_off | ldc) % 4 == 0;
    global const float *a = A + a_at, *b = B + b_at;
    const int own_row = lid / 32 * WM + lane / 4, stride = get_num_groups(1) * TM;
    float4 next[WM / 16][2][BLOCKS];
    FETCH(row * TM, k_start)
    uint strange_b = 0;
    int made = -1; // the step from which on B is held
    for (int block = row * TM; block < m; block += stride) {
        const int i0 = block + own_row;
        float acc[WM / 16][TN / 8][4];
#pragma unroll
        for (int i = 0; i < WM / 16; i++)
#pragma unroll
            for (int j = 0; j < TN / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) acc[i][j][e] = 0;
        for (int k0 = k_start; k0 < k_end; k0 += TK) {
            if (made != k0) {
                made = k0;
                barrier(CLK_LOCAL_MEM_FENCE); // all are done with what was held
                if (lid == 0) flaws = 0;
                barrier(CLK_LOCAL_MEM_FENCE);
                const uint own = hold(held, b, ldb, k0, k_end, j0, n, lid);
                if (own) atomic_or(&flaws, own);
#ifdef BY_GROUPS
                FOR_UNITS
#endif
                barrier(CLK_LOCAL_MEM_FENCE);
                strange_b = flaws;
            }
            const int last = k0 + TK >= k_end, then_block = last ? block + stride : block, then_k = last ? k_start : k0 + TK;
            uint by_fma = 0; // a bit for each 16 steps
#pragma unroll
            for (int s = 0; s < BLOCKS; s++) {
                uint parts[WM / 16][WORDS][4];
                uint left = 0;
                float size = 0;
#pragma unroll
                for (int i = 0; i < WM / 16; i++)
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        uint2 words[WORDS];
                        words_of(next[i][h][s], words, &left, &size);
#pragma unroll
                        for (int p = 0; p < WORDS; p++) parts[i][p][h] = words[p].s0, parts[i][p][h + 2] = words[p].s1;
                    }
                if (s == BLOCKS - 1) FETCH(then_block, then_k)
#if INNER == PARTS
                int strange = strange_b >> s & 1 || !ORDINARY(left, size);
#ifdef NVIDIA_PTX
                strange = any_of_warp(strange);
#endif
                if (strange) {
                    by_fma |= 1u << s;
#ifdef BY_GROUPS // all four warps multiply
#pragma unroll
                    for (int p = 0; p < WORDS; p++) parts[0][p][0] = parts[0][p][1] = parts[0][p][2] = parts[0][p][3] = 0;
#else
                    continue;
#endif
                }
#endif
#ifdef BY_GROUPS
                BY_GROUPS(&acc[0][0][0], parts[0], s)
#elif defined(NVIDIA_PTX)
#pragma unroll
                for (int c = 0; c < TN / PANEL; c++) {
                    uint of_b[WORDS][PANEL / 8][2];
#pragma unroll
                    for (int q = 0; q < PANEL / 16; q++)
#pragma unroll
                        for (int p = 0; p < WORDS; p++) {
                            const uint4 v = held[((s * (TN / 16) + c * (PANEL / 16) + q) * WORDS + p) * 32 + lane];
                            of_b[p][2 * q][0] = v.s0, of_b[p][2 * q][1] = v.s1, of_b[p][2 * q + 1][0] = v.s2, of_b[p][2 * q + 1][1] = v.s3;
                        }
#pragma unroll
                    for (int i = 0; i < WM / 16; i++) {
                        float(*sums)[4] = acc[i] + c * (PANEL / 8);
                        MULTIPLY_16(sums, parts[i], of_b, PANEL)
                    }
                }
#else
                MULTIPLY_HELD(k0, s)
#endif
            }
            if (by_fma)
#pragma unroll 1
                for (int k = 0; k < min(TK, k_end - k0); k++)
                    if (by_fma >> k / 16 & 1) MULTIPLY_STRANGE(k0 + k)
        }
#pragma unroll
        for (int q = 0; q < TN / 16; q++) {
            const int y = j0 + 16 * q + 4 * (lane % 4);
            const float4 add = biased ? load4(BIAS + BIAS_off + y, n - y, 0) : (float4)0;
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int x = i0 + 16 * i + 8 * h;
                    const float *c = acc[i][2 * q] + 2 * h, *d = acc[i][2 * q + 1] + 2 * h;
                    float4 v = (float4)(c[0], c[1], d[0], d[1]);
                    END_ROW_4(x, y, v, add)
                }
        }
    }
}
