// @depends: convolution, memory, epilogue, warp, mma
// What convolutions on the matrix units of GPUs share: they are matrix products of which one operand is gathered on the
// way, of float32 as sums of three bfloat16: see mma.cl. A launch before, conv_pack.cl, has made those of both operands,
// with channels next to each other, so that chunks of 8 channels of a position are copied to local memory as they are, and
// zeros where a tap has no element. There is one group of channels.
//
// A work-group computes a TM×TN tile, a warp WM×WN of it, with TK steps of the sum in each of STAGES buffers. It computes by fma
// where an element that it reads is no sum of parts: infinities, NaN, denormals and overflow are those of float32.
//
// A lane has four elements of each 16×8 tile of its warp's part. Without NVIDIA_PTX the same source computes them with
// ordinary arithmetic, from the same parts.

#ifndef TM
#define TM 64 // rows of the tile, a multiple of WM
#endif
#ifndef TN
#define TN 64 // columns of the tile, a multiple of WN
#endif
#ifndef TK
#define TK 16 // steps of the sum staged at once, a multiple of 16
#endif
#ifndef WM
#define WM 32 // rows of a warp, a multiple of 16
#endif
#ifndef WN
#define WN 32 // columns of a warp, a multiple of 16
#endif
#ifndef STAGES
#define STAGES 3 // buffers, 2 or more
#endif
#define WARPS_N (TN / WN)
#define ITEMS (TM / WM * WARPS_N * 32)
#define PLANE_A (TM * TK / CHUNK) // chunks of a part of a staged tile
#define PLANE_B (TN * TK / CHUNK)
#define PACK_GROUP 128 // chunks of a flag of conv_pack.cl

// Whether a chunk in [from, to) has an element that is no sum of parts, as one work-item of ITEMS sees it.
static int flawed(global const int *flaws, int from, int to, int lid) {
    int any = 0;
    if (from < to)
        for (int f = from / PACK_GROUP + lid; f <= (to - 1) / PACK_GROUP; f += ITEMS) any |= flaws[f];
    return any;
}

#ifdef NVIDIA_PTX
// Begins to copy a chunk, or zeros if it is not `there`. ALL_COPIED waits for those of the buffer that comes next.
static void copy_chunk(local uint4 *to, global const uint4 *from, int there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" : : "r"((uint)(ulong)to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
#define COPIES_END asm volatile("cp.async.commit_group;" : : : "memory");
#define ALL_COPIED asm volatile("cp.async.wait_group %0;" : : "n"(STAGES - 2) : "memory");

// The parts of a warp's lane of 16 rows of A from x on, for the steps from k on of a staged tile, whose rows go along x or k.
static void part_a(uint *r, local const uint4 *tile, int x, int k, int along_x, int lane) {
    if (along_x) load_columns(r, tile + WHERE(k + lane % 8 + lane / 16 * 8, x / CHUNK + (lane / 8 & 1), TM, 1));
    else load_rows(r, tile + WHERE(x + lane % 16, k / CHUNK + lane / 16, TK, 0));
}

// The same of 16 columns of B: two for each 8.
static void part_b(uint *r, local const uint4 *tile, int x, int k, int along_x, int lane) {
    if (along_x) load_columns(r, tile + WHERE(k + lane % 16, x / CHUNK + lane / 16, TN, 1));
    else load_rows(r, tile + WHERE(x + lane % 8 + lane / 16 * 8, k / CHUNK + (lane / 8 & 1), TK, 0));
}

static void inner(float acc[WM / 16][WN / 8][4], local const uint4 *as, local const uint4 *bs, int ti, int tj, int along_x, int lane) {
#pragma unroll
    for (int k = 0; k < TK; k += STEP) {
        uint b[PLANES][WN / 8][2];
#pragma unroll
        for (int p = 0; p < PLANES; p++)
#pragma unroll
            for (int j = 0; j < WN / 16; j++) part_b(&b[p][2 * j][0], bs + p * PLANE_B, tj + 16 * j, k, along_x, lane);
#pragma unroll
        for (int i = 0; i < WM / 16; i++) {
            uint a[PLANES][4];
#pragma unroll
            for (int p = 0; p < PLANES; p++) part_a(a[p], as + p * PLANE_A, ti + 16 * i, k, along_x, lane);
            MULTIPLY(acc[i], a, b, WN)
        }
    }
}

#else // ordinary arithmetic

static void copy_chunk(local uint4 *to, global const uint4 *from, int there) { *to = there ? *from : (uint4)0; }
#define COPIES_END
#define ALL_COPIED

static void inner(float acc[WM / 16][WN / 8][4], local const uint4 *as, local const uint4 *bs, int ti, int tj, int along_x, int lane) {
    for (int k = 0; k < TK; k++)
        for (int i = 0; i < WM / 16; i++) {
            const float v = STAGED(as, PLANE_A, along_x ? TM : TK, along_x, ti + 16 * i + ROW_OF(0), k);
            for (int j = 0; j < WN / 8; j++)
                for (int e = 0; e < 4; e++)
                    acc[i][j][e] = fma(v, STAGED(bs, PLANE_B, along_x ? TN : TK, along_x, tj + 8 * j + COLUMN_OF(e), k), acc[i][j][e]);
        }
}

#endif

// The buffers of staged tiles, and the sums.
#define TILES local uint4 as[STAGES][PLANES * PLANE_A] __attribute__((aligned(16))), bs[STAGES][PLANES * PLANE_B] __attribute__((aligned(16)));
#ifdef NVIDIA_PTX
#define ANY
#else
#define ANY local int any;
#endif
#define SUMS                                            \
    float acc[WM / 16][WN / 8][4];                      \
    _Pragma("unroll") for (int i = 0; i < WM / 16; i++) \
        _Pragma("unroll") for (int j = 0; j < WN / 8; j++) \
            _Pragma("unroll") for (int e = 0; e < 4; e++) acc[i][j][e] = 0;

// Adds up the products of `tiles` staged tiles: COPY copies the next one to a buffer, and what is behind the last is zeros. ALSO is
// done with each.
#define ACCUMULATE(tiles, along_x)                                                                    \
    _Pragma("unroll") for (int s = 0; s < STAGES - 1; s++) {                                          \
        if (s < (tiles)) { COPY(s) }                                                                  \
        COPIES_END                                                                                    \
    }                                                                                                 \
    for (int t = 0, now = 0; t < (tiles); t++) {                                                      \
        const int next = now == 0 ? STAGES - 1 : now - 1;                                             \
        ALL_COPIED                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE); /* all are done with the buffer that comes next */              \
        if (t + STAGES - 1 < (tiles)) { COPY(next) }                                                  \
        COPIES_END                                                                                    \
        inner(acc, as[now], bs[now], ti, tj, along_x, lane);                                          \
        ALSO(now)                                                                                     \
        now = now == STAGES - 1 ? 0 : now + 1;                                                        \
    }

// Adds the product of one step by fma: ROW(x) is the element of row x of the tile's part, COLUMN(y) of its column y.
#define ADD_BY_FMA(ROW, COLUMN)                                                                             \
    {                                                                                                       \
        float u[WM / 16][4], w[WN / 8][4];                                                                  \
        _Pragma("unroll") for (int i = 0; i < WM / 16; i++)                                                 \
            _Pragma("unroll") for (int e = 0; e < 4; e++) u[i][e] = ROW(ti + 16 * i + ROW_OF(e));           \
        _Pragma("unroll") for (int j = 0; j < WN / 8; j++)                                                  \
            _Pragma("unroll") for (int e = 0; e < 4; e++) w[j][e] = COLUMN(tj + 8 * j + COLUMN_OF(e));      \
        _Pragma("unroll") for (int i = 0; i < WM / 16; i++)                                                 \
            _Pragma("unroll") for (int j = 0; j < WN / 8; j++)                                              \
                _Pragma("unroll") for (int e = 0; e < 4; e++) acc[i][j][e] = fma(u[i][e], w[j][e], acc[i][j][e]); \
    }

// Element p of the input that a tap meets, of channel c: p counts the positions of all images, and is below 0 for none. `plane` and
// `across` are the positions of a plane and of a row, `size` those of the input.
static float input_at(global const X_MEMORY *X, int p, int positions, int plane, int across, axis z, axis y, axis x, int3 tap, int3 size, int channels, int c) {
    const int q = p % positions, qz = q / plane * z.stride + z.shift + tap.s0 * z.step;
    const int qy = q % plane / across * y.stride + y.shift + tap.s1 * y.step, qx = q % across * x.stride + x.shift + tap.s2 * x.step;
    if (p < 0 || (uint)qz >= (uint)size.s0 || (uint)qy >= (uint)size.s1 || (uint)qx >= (uint)size.s2) return 0;
    return X_FROM(X[(((p / positions * channels + c) * size.s0 + qz) * size.s1 + qy) * size.s2 + qx]);
}

// Four neighbours of a row of a 16×8 tile of the sums: an even lane takes the upper row of a pair of lanes, an odd one the
// lower. Lane `lane` has row ROW_4 and the columns from COLUMN_4 on.
#define ROW_4 (lane / 4 + lane % 2 * 8)
#define COLUMN_4 (lane % 4 / 2 * 4)
static float4 four_of(const float *c, int lane) {
#ifdef NVIDIA_PTX
    const int odd = lane & 1;
    const float p = other(odd ? c[0] : c[2], 1), q = other(odd ? c[1] : c[3], 1);
    return odd ? (float4)(p, q, c[2], c[3]) : (float4)(c[0], c[1], p, q);
#else
    return (float4)(c[0], c[1], c[2], c[3]);
#endif
}
