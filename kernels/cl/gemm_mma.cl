// @depends: epilogue, gemm_swizzled
// Matrix products on the matrix units of GPUs: C = f(op(A)·op(B) + C·accumulate + bias), of float32.
//
// The forms are those of gemm_tile.cl, arguments, shares of the sum, batches and the epilogue those of gemm_gpu.cl. What the inner
// product does is in mma.cl. Steps of a tile in which an element of A or of B is not a sum of parts are computed by fma:
// infinities, NaN, denormals and overflow are those of float32.
//
// A work-group computes a TM×TN tile of C, a warp WM×WN of it. TK steps of both operands are staged in local memory as
// what the units take, zero-padded past the edges, in the order that they have in memory, while the next ones are on their
// way to registers.
//
// With PACKED a launch before has staged the operands in global memory, once for all tiles, and whole tiles are copied
// from there, STAGES−1 ahead.
//
// Without NVIDIA_PTX the same source computes with ordinary arithmetic, from the same staged factors.

#ifndef TM
#define TM 128 // rows of the tile, a multiple of WM
#endif
#ifndef TN
#define TN 64 // columns of the tile, a multiple of WN
#endif
#ifndef TK
#define TK 16 // steps of k staged at once, a multiple of 16
#endif
#ifndef WM
#define WM 32 // rows of a warp, a multiple of 16
#endif
#ifndef WN
#define WN 32 // columns of a warp, a multiple of 16
#endif
#ifndef STAGES
#define STAGES 1 // buffers for staged tiles, 1 or 2, with PACKED more than 1
#endif
#ifndef WAYS
#define WAYS 1 // warps that share the steps of a tile's part
#endif
#ifdef PACKED // the operands are those of gemm_pack.cl, too
#define ROWS_A 0
#define ROWS_B 0
#else
#undef PACKED_PARAMS
#define PACKED_PARAMS
#define ROWS_A A_ALONG_X // whether a row of a staged tile goes along x
#define ROWS_B B_ALONG_X
#endif

#define DOWN (WM / 16)
#define APART 16
#define WARPS_N (TN / WN)
#define WARPS (TM / WM * WARPS_N) // of a way
#define ITEMS (WARPS * WAYS * 32)
#define VECTORS_A (TM * TK / 4 / ITEMS) // that a work-item loads of each tile
#define VECTORS_B (TN * TK / 4 / ITEMS)
#define ROOM (TM * TN / 4 * (WAYS - 1)) // for the sums of the other ways, in local memory
#define ROW_A (ROWS_A ? TM : TK) // elements of a row of a staged tile
#define ROW_B (ROWS_B ? TN : TK)

// Stages four elements of a tile, the `second` of a chunk or the first.
static void stage(local uint4 *tile, int plane, int where, int second, float4 v, uint *left, float *size) {
#if INNER == TF32
    tile[where] = (uint4)(tf32(v.s0), tf32(v.s1), tf32(v.s2), tf32(v.s3));
#else
    uint2 words[PLANES];
    split(v, words, left, size);
#pragma unroll
    for (int p = 0; p < PLANES; p++) ((local uint2 *)(tile + p * plane + where))[second] = words[p];
#endif
}

// Vector e of a tile's part of an operand.
#define FETCH(V, S, width, x0, x_end, ld, along_x, k0, e, aligned)                    \
    if (along_x) {                                                                    \
        const int x = (x0) + (e) % ((width) / 4) * 4, k = (k0) + (e) / ((width) / 4); \
        V = load4((S) + x + k * (ld), k < k_end ? (x_end) - x : 0, aligned);          \
    } else {                                                                          \
        const int x = (x0) + (e) / (TK / 4), k = (k0) + (e) % (TK / 4) * 4;           \
        V = load4((S) + x * (ld) + k, x < (x_end) ? k_end - k : 0, aligned);          \
    }
#define FETCH_WHOLE(V, S, length, x0, ld, along_x, k0, e) \
    V = *(global const float4 *)((S) + ((along_x ? (k0) : (x0)) + (e) / ((length) / 4)) * (ld) + (along_x ? (x0) : (k0)) + (e) % ((length) / 4) * 4);

#define FETCH_TILES(k0)                                                             \
    if (whole && (k0) + TK <= k_end) {                                              \
        _Pragma("unroll") for (int v = 0; v < VECTORS_A; v++)                       \
            FETCH_WHOLE(fa[v], a, ROW_A, i0, lda, A_ALONG_X, k0, lid + v * ITEMS)   \
        _Pragma("unroll") for (int v = 0; v < VECTORS_B; v++)                       \
            FETCH_WHOLE(fb[v], b, ROW_B, j0, ldb, B_ALONG_X, k0, lid + v * ITEMS)   \
    } else {                                                                        \
        _Pragma("unroll") for (int v = 0; v < VECTORS_A; v++)                       \
            FETCH(fa[v], a, TM, i0, m, lda, A_ALONG_X, k0, lid + v * ITEMS, even_a) \
        _Pragma("unroll") for (int v = 0; v < VECTORS_B; v++)                       \
            FETCH(fb[v], b, TN, j0, n, ldb, B_ALONG_X, k0, lid + v * ITEMS, even_b) \
    }

#define STAGE(tile, plane, V, length, along_x, e) \
    stage(tile, plane, WHERE((e) / ((length) / 4), (e) % ((length) / 4) * 4 / CHUNK, length, along_x), (e) & 1, V, &left, &size);

#define STAGE_TILES(buffer)                                                  \
    uint left = 0;                                                           \
    float size = 0;                                                          \
    _Pragma("unroll") for (int v = 0; v < VECTORS_A; v++)                    \
        STAGE(as[buffer], PLANE_A, fa[v], ROW_A, A_ALONG_X, lid + v * ITEMS) \
    _Pragma("unroll") for (int v = 0; v < VECTORS_B; v++)                    \
        STAGE(bs[buffer], PLANE_B, fb[v], ROW_B, B_ALONG_X, lid + v * ITEMS) \
    ordinary = ORDINARY(left, size);

#define STEPS (TK / WAYS / STEP) // of a staged tile that a warp computes

#ifdef NVIDIA_PTX
// The parts of a warp's lane of 16 rows of A from x on, for the steps from k on of a staged tile.
static void part_a(uint *r, local const uint4 *tile, int x, int k, int lane) {
#if !ROWS_A
    const int row = x + lane % 16, chunk = k / CHUNK + lane / 16;
    load_rows(r, tile + WHERE(row, chunk, TK, 0));
#elif INNER != TF32
    const int row = k + lane % 8 + lane / 16 * 8, chunk = x / CHUNK + (lane / 8 & 1);
    load_columns(r, tile + WHERE(row, chunk, TM, 1));
#else
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const int row = k + lane % 4 + e / 2 * 4, at = x + lane / 4 + e % 2 * 8;
        r[e] = ((local const uint *)(tile + WHERE(row, at / 4, TM, 1)))[at % 4];
    }
#endif
}

// The same of 16 columns of B: two for each 8.
static void part_b(uint *r, local const uint4 *tile, int x, int k, int lane) {
#if !ROWS_B
    const int row = x + lane % 8 + lane / 16 * 8, chunk = k / CHUNK + (lane / 8 & 1);
    load_rows(r, tile + WHERE(row, chunk, TK, 0));
#elif INNER != TF32
    const int row = k + lane % 16, chunk = x / CHUNK + lane / 16;
    load_columns(r, tile + WHERE(row, chunk, TN, 1));
#else
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const int row = k + lane % 4 + e % 2 * 4, at = x + lane / 4 + e / 2 * 8;
        r[e] = ((local const uint *)(tile + WHERE(row, at / 4, TN, 1)))[at % 4];
    }
#endif
}

static void parts_a(uint a[PLANES][4], local const uint4 *as, int x, int k, int lane) {
#pragma unroll
    for (int p = 0; p < PLANES; p++) part_a(a[p], as + p * PLANE_A, x, k, lane);
}

static void parts_b(uint b[PLANES][WN / 8][2], local const uint4 *bs, int x, int k, int lane) {
#pragma unroll
    for (int p = 0; p < PLANES; p++)
#pragma unroll
        for (int j = 0; j < WN / 16; j++) part_b(&b[p][2 * j][0], bs + p * PLANE_B, x + 16 * j, k, lane);
}

// The next parts are on their way from local memory while a step's are multiplied.
static void inner(float acc[WM / 16][WN / 8][4], local const uint4 *as, local const uint4 *bs, int ti, int tj, int from, int lane) {
    uint a[2][PLANES][4], b[2][PLANES][WN / 8][2];
    parts_b(b[0], bs, tj, from, lane);
    parts_a(a[0], as, ti, from, lane);
#pragma unroll
    for (int t = 0; t < STEPS * (WM / 16); t++) {
        const int step = t / (WM / 16), i = t % (WM / 16), next = t + 1;
        if (next < STEPS * (WM / 16)) parts_a(a[next % 2], as, ti + 16 * (next % (WM / 16)), from + next / (WM / 16) * STEP, lane);
        if (i == 0 && step + 1 < STEPS) parts_b(b[(step + 1) % 2], bs, tj, from + (step + 1) * STEP, lane);
        MULTIPLY(acc[i], a[t % 2], b[step % 2], WN)
    }
}

#else // ordinary arithmetic

static void inner(float acc[WM / 16][WN / 8][4], local const uint4 *as, local const uint4 *bs, int ti, int tj, int from, int lane) {
    MULTIPLY_STAGED(as, bs, from, from + TK / WAYS)
}

#endif

#ifdef PACKED
// Copies the next tiles of both operands to a buffer if they are `there`. COPIED waits for those of buffer `now`.
#ifdef NVIDIA_PTX
#define COUNTERS                                                                                                        \
    local ulong counters[STAGES];                                                                                       \
    const uint counter = (uint)(ulong)counters;                                                                         \
    int phase = 0;                                                                                                      \
    if (lid == 0) {                                                                                                     \
        for (int s = 0; s < STAGES; s++) count_up_to(counter + 8 * s, 1);                                               \
        asm volatile("fence.proxy.async;" : : : "memory");                                                              \
    }                                                                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);
#define COPY_TILES(buffer, there)                                              \
    if ((there) && lid == 0) {                                                 \
        expect(counter + 8 * (buffer), BYTES_A + BYTES_B);                     \
        copy_bytes(as[buffer], pa, BYTES_A, counter + 8 * (buffer));           \
        copy_bytes(bs[buffer], pb, BYTES_B, counter + 8 * (buffer));           \
    }                                                                          \
    pa += PLANES * PLANE_A, pb += PLANES * PLANE_B;
#define COPIED                                     \
    while (!arrived(counter + 8 * now, phase)) {}  \
    if (now == STAGES - 1) phase ^= 1;
#else
#define COUNTERS
#define COPY_TILES(buffer, there)                                                                 \
    if (there) {                                                                                  \
        for (int c = lid; c < PLANES * PLANE_A; c += ITEMS) as[buffer][c] = pa[c];                \
        for (int c = lid; c < PLANES * PLANE_B; c += ITEMS) bs[buffer][c] = pb[c];                \
    }                                                                                             \
    pa += PLANES * PLANE_A, pb += PLANES * PLANE_B;
#define COPIED
#endif
#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void ENTRY(OWN_PARAMS BATCH_PARAMS EPILOGUE_PARAMS PACKED_PARAMS PUT_PARAMS) {
#if WAYS > 1
    local uint4 both[STAGES * PLANES * (PLANE_A + PLANE_B) > ROOM ? STAGES * PLANES * (PLANE_A + PLANE_B) : ROOM] __attribute__((aligned(16)));
    local uint4(*as)[PLANES * PLANE_A] = (local uint4(*)[PLANES * PLANE_A])both;
    local uint4(*bs)[PLANES * PLANE_B] = (local uint4(*)[PLANES * PLANE_B])(both + STAGES * PLANES * PLANE_A);
#else
    local uint4 as[STAGES][PLANES * PLANE_A] __attribute__((aligned(16))), bs[STAGES][PLANES * PLANE_B] __attribute__((aligned(16)));
#endif
#if INNER == PARTS && !defined(NVIDIA_PTX) && !defined(PACKED)
    local int any;
#endif
    const int lid = get_local_id(0), way = lid / (32 * WARPS), warp = lid / 32 % WARPS, lane = lid % 32;
    GROUP_PROLOGUE
    TILE
    const int ti = warp / WARPS_N * WM, tj = warp % WARPS_N * WN;
    const int k_start = part * slice, k_end = min(K, k_start + slice);
    const int even_a = (a_at | lda | k_start) % 4 == 0, even_b = (b_at | ldb | k_start) % 4 == 0;
    const int whole = even_a && even_b && i0 + TM <= m && j0 + TN <= n;
    global const float *a = A + a_at, *b = B + b_at;
    float acc[WM / 16][WN / 8][4];
#pragma unroll
    for (int i = 0; i < WM / 16; i++)
#pragma unroll
        for (int j = 0; j < WN / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) acc[i][j][e] = 0;
    int strange = 0, now = 0;
#ifdef PACKED
    BLOCKS
    COUNTERS
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) { COPY_TILES(s, first + s < last) }
    strange = STRANGE_AT(first);
    for (int t = first; t < last; t++) {
        const int k0 = t * TK, by_fma = strange;
        COPIED
        barrier(CLK_LOCAL_MEM_FENCE); // all are done with the buffer that comes next
        COPY_TILES(now == 0 ? STAGES - 1 : now - 1, t + STAGES - 1 < last)
        if (t + 1 < last) strange = STRANGE_AT(t + 1);
        if (by_fma) { MULTIPLY_STRANGE(k0 + way * (TK / WAYS), min(k0 + (way + 1) * (TK / WAYS), k_end)) }
        else inner(acc, as[now], bs[now], ti, tj, way * (TK / WAYS), lane);
        now = now == STAGES - 1 ? 0 : now + 1;
    }
#else
    float4 fa[VECTORS_A], fb[VECTORS_B];
    int ordinary;
    FETCH_TILES(k_start)
    { STAGE_TILES(0) }
    BARRIER
    for (int k0 = k_start; k0 < k_end; k0 += TK) {
        const int more = k0 + TK < k_end;
        if (more) { FETCH_TILES(k0 + TK) }
        if (strange) { MULTIPLY_STRANGE(k0 + way * (TK / WAYS), min(k0 + (way + 1) * (TK / WAYS), k_end)) }
        else inner(acc, as[now], bs[now], ti, tj, way * (TK / WAYS), lane);
#if STAGES > 1
        now ^= 1;
#else
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (more) { STAGE_TILES(now) }
        BARRIER
    }
#endif
#if WAYS > 1 // the sums of the other ways, added up in their order
    local float4 *sums = (local float4 *)as + warp * (WAYS - 1) * (WM * WN / 4) + lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0)
#pragma unroll
        for (int i = 0; i < WM / 16; i++)
#pragma unroll
            for (int j = 0; j < WN / 8; j++) {
                const float *c = acc[i][j];
                sums[((way - 1) * (WM * WN / 128) + i * (WN / 8) + j) * 32] = (float4)(c[0], c[1], c[2], c[3]);
            }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0) return;
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++)
#pragma unroll
        for (int i = 0; i < WM / 16; i++)
#pragma unroll
            for (int j = 0; j < WN / 8; j++) {
                const float4 v = sums[(w * (WM * WN / 128) + i * (WN / 8) + j) * 32];
                float *c = acc[i][j];
                c[0] += v.s0, c[1] += v.s1, c[2] += v.s2, c[3] += v.s3;
            }
#endif
    END_WARP
}
