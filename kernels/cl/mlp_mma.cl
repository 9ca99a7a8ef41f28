// @depends: warp, mlp, mma
// The pass of mlp.cl on the matrix units of GPUs. mma.cl says what the factors of its products are.
//
// A warp takes 16 samples through all layers and back. What a layer makes lies in the lanes' registers as the next one's
// product takes it: of a 16×8 tile a lane has two neighbours in rows lane/4 and lane/4 + 8. The weights come as mlp_pack.cl
// leaves them, in the order of the lanes. With PARTS they are more than a GPU's first cache holds beside what is in local memory, and
// come by way of the latter: those of the next layer are on their way while a layer is computed.
//
// The gradients of weights are sums over samples: a layer's input and its gradient, of AT_ONCE samples at once, meet in local
// memory, and each warp adds to a part of the layer's weights, which stays in its registers until all samples are through. The
// output layer, which is narrow, the biases and the slopes are ordinary arithmetic.
//
// With PARTS, a layer of BLOCK samples is computed by fma if one of its factors is no sum of parts, or too large: see
// ORDINARY. Without NVIDIA_PTX all are computed so, of factors that were rounded as INNER says.
//
// Source: Müller, "tiny-cuda-nn" (2021), whose fully fused networks keep the activations of a block of samples on the chip.

#ifndef WARPS
#define WARPS 8
#endif
#undef BLOCK
#define BLOCK (16 * WARPS) // samples
#define ITEMS (32 * WARPS)
#ifndef AT_ONCE
#define AT_ONCE (INNER == HALVES ? BLOCK : 64) // samples
#endif
#define ROUNDS (BLOCK / AT_ONCE) // 1 or 2: all rows of a warp's tiles are staged at once, or first the upper and then the lower ones
#define WIDEST (INPUTS > WIDTH ? INPUTS : WIDTH)
#define TILES(n) ((n) / 8) // of so many units
#ifdef NVIDIA_PTX
#define UNROLL _Pragma("unroll")
#else
#define UNROLL // what stays loops is built in a tenth of the time
#endif
// Sums over samples stay loops, of one or two steps: all else is code that runs once for a block, from end to end, and the less there
// is of that the sooner it is there.
#if INNER == PARTS
#define STEPS_UNROLLED _Pragma("unroll 1")
#else
#define STEPS_UNROLLED _Pragma("unroll 2")
#endif
#ifndef COLUMNS
#define COLUMNS 32 // of a product that a warp multiplies at once
#endif

#define PITCH (INNER == TF32 ? AT_ONCE + 4 : AT_ONCE) // of rows of staged units: eight of them start on different banks
#define STAGED_BYTES (PITCH * (INPUTS + WIDTH > 2 * WIDTH ? INPUTS + WIDTH : 2 * WIDTH) * (INNER == TF32 ? 4 : 2 * PLANES))
#define FMA_BYTES ((BLOCK > 2 * AT_ONCE ? BLOCK : 2 * AT_ONCE) * WIDEST * 4)
#define WEIGHT_CHUNKS (WIDEST * WIDTH * 2 / STEP * PLANES) // of a layer, packed, at most
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#if defined(NVIDIA_PTX) && INNER != PARTS
#define LOCAL_BYTES MOST(STAGED_BYTES, SUM_BYTES)
#elif defined(NVIDIA_PTX)
#define LOCAL_BYTES MOST(MOST(STAGED_BYTES, FMA_BYTES), 2 * 16 * WEIGHT_CHUNKS)
#else
#define LOCAL_BYTES FMA_BYTES
#endif
#define SUMS (LAYERS * WIDTH + WIDTH * OUTPUTS) // of biases and of the output layer's weights
#define SUM_BYTES (WARPS * 4 * SUMS)

// Warps share the weights of a layer in blocks of 16 rows by so many columns.
#define ROW_PARTS(fan_in) ((fan_in) / 16)
#define COLUMN_PARTS(fan_in) (WARPS / ROW_PARTS(fan_in) < WIDTH / 16 ? WARPS / ROW_PARTS(fan_in) : WIDTH / 16)
#define PART_COLUMNS(fan_in) (WIDTH / COLUMN_PARTS(fan_in))
#define PART_TILES TILES(PART_COLUMNS(INPUTS) > PART_COLUMNS(WIDTH) ? PART_COLUMNS(INPUTS) : PART_COLUMNS(WIDTH)) // of the largest

#define ROW(e) (lane / 4 + (e) / 2 * 8)      // of element e of a lane in a tile
#define UNIT(j, e) (8 * (j) + lane % 4 * 2 + (e) % 2) // in tile j

// Chunks of the packed weights of a layer, forwards or backwards, and where they start.
#define PACKED_CHUNKS(l) (FAN_IN(l) * WIDTH * 2 / STEP * PLANES)
#define PACKED_AT(l, back) ((l) == 0 ? (back) * PACKED_CHUNKS(0) : 2 * PACKED_CHUNKS(0) + (2 * (l) - 2 + (back)) * PACKED_CHUNKS(1))

#ifdef INPUT_GRAD
#define INPUT_GRADS 1
#else
#define INPUT_GRADS 0
#endif

#define TILE_OF(lane) ((lane) / 4 * TILES(WIDTH) / 8)

// Does something for each layer but the first. The values of a layer in a loop would not be in registers.
#ifndef NVIDIA_PTX
#define UP_THE_LAYERS(DO) for (int l = 1; l < LAYERS; l++) { DO(l) }
#define DOWN_THE_LAYERS(DO) for (int l = LAYERS - 1; l > 0; l--) { DO(l) }
#elif LAYERS == 1
#define UP_THE_LAYERS(DO)
#define DOWN_THE_LAYERS(DO)
#elif LAYERS == 2
#define UP_THE_LAYERS(DO) DO(1)
#define DOWN_THE_LAYERS(DO) DO(1)
#elif LAYERS == 3
#define UP_THE_LAYERS(DO) DO(1) DO(2)
#define DOWN_THE_LAYERS(DO) DO(2) DO(1)
#else // 4
#define UP_THE_LAYERS(DO) DO(1) DO(2) DO(3)
#define DOWN_THE_LAYERS(DO) DO(3) DO(2) DO(1)
#endif

// What an fma takes for a factor.
static float rounded(float x) {
#if INNER == TF32
    return as_float(tf32(x));
#elif INNER == HALVES
    uint two = two_halves(x, 0);
    return vload_half(0, (const half *)&two);
#else
    return x;
#endif
}

#ifdef NVIDIA_PTX
#if INNER != TF32
// The words of two neighbours in each plane.
static INLINE void split_two(float x, float y, uint *words) {
#if INNER == HALVES
    words[0] = two_halves(x, y);
#else
UNROLL
    for (int p = 0; p < PLANES; p++) {
        words[p] = two_bfloats(x, y);
        x -= as_float(words[p] << 16), y -= as_float(words[p] & 0xffff0000);
    }
#endif
}
#endif

// The parts of 16 samples by STEP units from tile `at` on, as factors from the left.
static INLINE void factors(uint a[PLANES][4], float (*v)[4], int at) {
#if INNER == TF32 // the units of a tile in another order, which the packed weights have, too
    a[0][0] = tf32(v[at][0]), a[0][1] = tf32(v[at][2]), a[0][2] = tf32(v[at][1]), a[0][3] = tf32(v[at][3]);
#else
UNROLL
    for (int i = 0; i < 4; i++) {
        uint words[PLANES];
        split_two(v[at + i / 2][i % 2 * 2], v[at + i / 2][i % 2 * 2 + 1], words);
UNROLL
        for (int p = 0; p < PLANES; p++) a[p][i] = words[p];
    }
#endif
}

#if INNER == PARTS
#define NEAR local
// Begins to copy packed weights to local memory. They are there after WAIT_FOR_WEIGHTS, which is for a work-item's own, and a barrier.
static INLINE void fetch(local uint4 *to, global const uint4 *packed, const int chunks, int lid) {
UNROLL
    for (int i = 0; i < chunks; i += ITEMS)
        if (i + ITEMS <= chunks || i + lid < chunks)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"((uint)(ulong)(to + i + lid)), "l"(packed + i + lid) : "memory");
}
#define WAIT_FOR_WEIGHTS asm volatile("cp.async.wait_all;" : : : "memory");
#else
#define NEAR global
#endif

// Loads the weights of block `block` of COLUMNS columns of a STEP, of N/COLUMNS.
static INLINE void load_weights(uint b[PLANES][COLUMNS / 8][2], NEAR const uint4 *w, const int N, const int block) {
    const int k = block / (N / COLUMNS), c = block % (N / COLUMNS);
UNROLL
    for (int p = 0; p < PLANES; p++)
UNROLL
        for (int j = 0; j < COLUMNS / 16; j++) {
            const uint4 v = w[((k * PLANES + p) * (N / 16) + c * (COLUMNS / 16) + j) * 32];
            b[p][2 * j][0] = v.s0, b[p][2 * j][1] = v.s1, b[p][2 * j + 1][0] = v.s2, b[p][2 * j + 1][1] = v.s3;
        }
}

// out[s][n] += Σ_k in[s][k]·w[k][n], with packed w. The next weights are on their way while others are multiplied.
static INLINE void multiply(float (*out)[4], float (*in)[4], const int K, const int N, NEAR const uint4 *w) {
    uint a[PLANES][4], b[2][PLANES][COLUMNS / 8][2];
    load_weights(b[0], w, N, 0);
UNROLL
    for (int block = 0; block < K / STEP * (N / COLUMNS); block++) {
        const int k = block / (N / COLUMNS), c = block % (N / COLUMNS);
        if (block + 1 < K / STEP * (N / COLUMNS)) load_weights(b[(block + 1) % 2], w, N, block + 1);
        if (c == 0) factors(a, in, k * STEP / 8);
        MULTIPLY((out + c * (COLUMNS / 8)), a, b[block % 2], COLUMNS)
    }
}

// Stages a round's samples of a warp, with `length` units each: a row for each sample, or with TF32, whose elements no instruction
// transposes, for each unit.
static INLINE void stage(local uint4 *tile, float (*v)[4], const int length, const int round, int warp, int lane) {
UNROLL
    for (int j = 0; j < TILES(length); j++) {
UNROLL
        for (int e = 0; e < 4; e += 2) {
            if (ROUNDS > 1 && e / 2 != round) continue;
            const int row = warp * (16 / ROUNDS) + (ROUNDS > 1 ? 0 : e / 2 * 8) + lane / 4;
#if INNER == TF32
            local uint *to = (local uint *)tile + UNIT(j, 0) * PITCH + row;
            to[0] = tf32(v[j][e]), to[PITCH] = tf32(v[j][e + 1]);
#else
            uint words[PLANES];
            split_two(v[j][e], v[j][e + 1], words);
UNROLL
            for (int p = 0; p < PLANES; p++)
                ((local uint *)(tile + p * (AT_ONCE * length / CHUNK) + WHERE(row, j, length, 1)))[lane % 4] = words[p];
#endif
        }
    }
}

// A warp's factors of 16 staged units from `at` on, for the samples from `s` on: from the left, and from the right, for two
// blocks of 8 columns.
static INLINE void staged_left(uint *r, local const uint4 *tile, const int length, int at, int s, int lane) {
#if INNER == TF32
    load_rows(r, (local const uint4 *)((local const uint *)tile + (at + lane % 16) * PITCH + s + lane / 16 * 4));
#else
    const int row = s + lane % 8 + lane / 16 * 8, chunk = at / CHUNK + (lane / 8 & 1);
    load_columns(r, tile + WHERE(row, chunk, length, 1));
#endif
}
static INLINE void staged_right(uint *r, local const uint4 *tile, const int length, int at, int s, int lane) {
#if INNER == TF32
    load_rows(r, (local const uint4 *)((local const uint *)tile + (at + lane % 8 + lane / 16 * 8) * PITCH + s + (lane / 8 & 1) * 4));
#else
    const int row = s + lane % 16, chunk = at / CHUNK + lane / 16;
    load_columns(r, tile + WHERE(row, chunk, length, 1));
#endif
}

// dw[i][j] += Σ_s h[s][i]·d[s][j] of staged samples, in the warp's part of dw.
static INLINE void multiply_staged(float (*dw)[4], local const uint4 *h, local const uint4 *d, const int fan_in, int warp, int lane) {
    const int i0 = warp / COLUMN_PARTS(fan_in) * 16, j0 = warp % COLUMN_PARTS(fan_in) * PART_COLUMNS(fan_in);
    if (ROW_PARTS(fan_in) * COLUMN_PARTS(fan_in) < WARPS && i0 >= fan_in) return;
STEPS_UNROLLED
    for (int s = 0; s < AT_ONCE; s += STEP) {
        uint a[PLANES][4], b[PLANES][PART_TILES][2];
UNROLL
        for (int p = 0; p < PLANES; p++) {
            staged_left(a[p], h + p * (AT_ONCE * fan_in / CHUNK), fan_in, i0, s, lane);
UNROLL
            for (int j = 0; j < PART_COLUMNS(fan_in); j += 16)
                staged_right(&b[p][j / 8][0], d + p * (AT_ONCE * WIDTH / CHUNK), WIDTH, j0 + j, s, lane);
        }
        if (fan_in == WIDTH) {
            MULTIPLY(dw, a, b, PART_COLUMNS(WIDTH))
        } else {
            MULTIPLY(dw, a, b, PART_COLUMNS(INPUTS))
        }
    }
}

// The sum over the four lanes that have the same samples.
static INLINE float sum_units(float v, local float *scratch, int lid) {
    v += other(v, 1);
    return v + other(v, 2);
}

// The sum over a warp's samples of a value for each tile of units: that of tile TILE_OF(lane). A step leaves one half of the
// tiles to each half of the lanes.
#define SUM_HALVES(mask, tiles)                                                                 \
    UNROLL for (int j = 0; j < (tiles); j++) {                                       \
        const float low = v[j], high = v[j + (tiles)];                                          \
        v[j] = (lane & (mask) ? high : low) + other(lane & (mask) ? low : high, mask);          \
    }
static INLINE float sum_samples(float *v, local float *scratch, int lid) {
    const int lane = lid % 32;
    SUM_HALVES(16, TILES(WIDTH) / 2)
    SUM_HALVES(8, TILES(WIDTH) / 4)
#if WIDTH == 64
    SUM_HALVES(4, 1)
#else
    v[0] += other(v[0], 4);
#endif
    return v[0];
}

#else // ordinary arithmetic, and sums by way of local memory

static INLINE float sum_units(float v, local float *scratch, int lid) {
    scratch[lid] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    local const float *four = scratch + (lid & ~3);
    v = (four[0] + four[1]) + (four[2] + four[3]);
    barrier(CLK_LOCAL_MEM_FENCE);
    return v;
}

static INLINE float sum_samples(float *v, local float *scratch, int lid) {
    const int lane = lid % 32;
    float sum = 0;
    for (int j = 0; j < TILES(WIDTH); j++) {
        scratch[lid] = v[j];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (TILE_OF(lane) == j)
            for (int q = 0; q < 8; q++) sum += scratch[(lid & ~31) + 4 * q + lane % 4];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sum;
}
#endif

#if INNER == PARTS || !defined(NVIDIA_PTX)
// Puts `height` of the 16 samples of a warp, in tiles from row e0/2·8 on, into rows of WIDEST.
static INLINE void put_rows(local float *rows, float (*v)[4], const int length, const int height, const int e0, int warp, int lane) {
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int e = 0; e < 4; e++)
            if (height == 16 || e / 2 == e0 / 2) rows[(warp * height + ROW(e - e0)) * WIDEST + UNIT(j, e)] = rounded(v[j][e]);
}

// multiply by fma, with w [k*row + n*step].
static INLINE void multiply_fma(float (*out)[4], float (*in)[4], const int K, const int N, global const float *w, int row, int step, local float *rows, int warp, int lane) {
    barrier(CLK_LOCAL_MEM_FENCE);
    put_rows(rows, in, K, 16, 0, warp, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int k = 0; k < K; k++) {
        const float upper = rows[(warp * 16 + ROW(0)) * WIDEST + k], lower = rows[(warp * 16 + ROW(2)) * WIDEST + k];
UNROLL
        for (int j = 0; j < TILES(N); j++)
UNROLL
            for (int e = 0; e < 2; e++) {
                const float wk = rounded(w[k * row + UNIT(j, e) * step]);
                out[j][e] = fma(upper, wk, out[j][e]);
                out[j][e + 2] = fma(lower, wk, out[j][e + 2]);
            }
    }
}

// multiply_staged by fma.
static INLINE void multiply_rows(float (*dw)[4], local const float *h, local const float *d, const int fan_in, int warp, int lane) {
    const int i0 = warp / COLUMN_PARTS(fan_in) * 16, j0 = warp % COLUMN_PARTS(fan_in) * PART_COLUMNS(fan_in);
    if (i0 >= fan_in) return;
#pragma unroll 1
    for (int s = 0; s < AT_ONCE; s++)
UNROLL
        for (int j = 0; j < TILES(PART_COLUMNS(fan_in)); j++)
UNROLL
            for (int e = 0; e < 4; e++)
                dw[j][e] = fma(h[s * WIDEST + i0 + ROW(e)], d[s * WIDEST + j0 + UNIT(j, e)], dw[j][e]);
}
#endif

#if INNER == PARTS && defined(NVIDIA_PTX)
// Whether all values are sums of parts, and small enough: zeros, or of size 2⁻¹¹⁰ to 2⁵⁰.
static INLINE int all_ordinary(float (*v)[4], const int length) {
    uint most = 0, least = 0xffffffff;
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int e = 0; e < 4; e++) {
            const uint u = as_uint(v[j][e]) << 1;
            most = max(most, u);
            least = min(least, u - 1);
        }
    return most < (127 + 50) << 24 && least >= ((127 - 110) << 24) - 1;
}
// Whether a factor of a layer is none that the parts hold, or one was `before`, for all work-items. It is a barrier, too.
#define STRANGE(v, length, before) (barrier_any(!all_ordinary(v, length) | (before)) | flawed)
#elif defined(NVIDIA_PTX)
#define STRANGE(v, length, before) 0
#else
#define STRANGE(v, length, before) 1
#endif

#ifdef NVIDIA_PTX
// Asks for a warp's inputs and targets from sample `first` on: a lane for half a sample.
#define PREFETCH_SAMPLES(first)                                                                          \
    if ((first) + lane / 2 < n) {                                                                        \
        const int s = (first) + lane / 2;                                                                \
        asm volatile("prefetch.global.L1 [%0];" : : "l"(X + X_off + s * INPUTS + lane % 2 * (INPUTS / 2))); \
        asm volatile("prefetch.global.L1 [%0];" : : "l"(T + T_off + s * OUTPUTS));                       \
    }
#endif

#if INNER == PARTS && defined(NVIDIA_PTX)
// Layers' weights lie in two places by turns. On the way back they share them with what is staged: those of the last layer are fetched
// ahead, those of others once the layer above is done.
#define PLACE(turn) (shared + (turn) % 2 * WEIGHT_CHUNKS)
#define FETCH(l, back, turn) fetch(PLACE(turn), packed + PACKED_AT(l, back), PACKED_CHUNKS(l), lid);
#define GOES_BACK(l) ((l) > 0 || INPUT_GRADS) // whether the layer's input has a gradient
#define FETCH_FIRST                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE); /* what was staged is read */                                          \
    FETCH(0, 0, 0)
#define FETCH_AFTER(l)                                                                                   \
    if ((l) + 1 < LAYERS) FETCH((l) + 1, 0, (l) + 1)                                                     \
    else if (GOES_BACK(l)) FETCH(l, 1, LAYERS)
#define FETCH_BELOW(l)                                                                                   \
    if ((l) > 0 && GOES_BACK((l) - 1)) {                                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        FETCH((l) - 1, 1, LAYERS)                                                                        \
    }
#define PACKED(l, back) (PLACE(back ? LAYERS : l) + lane)
#else
#define FETCH_FIRST
#define FETCH_BELOW(l)
#define WAIT_FOR_WEIGHTS
#define PACKED(l, back) (packed + PACKED_AT(l, back) + lane)
#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_matrix(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n, IN_INTS(P), IN_INTS(F)) {
    local uint4 shared[LOCAL_BYTES / 16] __attribute__((aligned(16)));
#ifdef NVIDIA_PTX
    local float *scratch = 0;
#else
    local float scratch[ITEMS];
#endif
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, g = get_group_id(0), groups = get_num_groups(0);
    global const float *w = W + W_off, *wo = w + WEIGHTS(LAYERS);
    global const uint4 *packed = (global const uint4 *)(P + P_off);
    // Pointers to what a lane reads first: all else is at distances that are known.
    global const float *biases = w + UNIT(0, 0), *weights_out = wo + UNIT(0, 0) * OUTPUTS;
#if INNER == PARTS && defined(NVIDIA_PTX)
    int flawed = 0;
    for (int i = 0; i < PACKED_AT(LAYERS, 0) / PLANES / 256; i++) flawed |= F[F_off + i];
#endif
    float loss = 0;
    float dw[LAYERS][PART_TILES][4], db[LAYERS][2], dwo[2 * OUTPUTS];
UNROLL
    for (int l = 0; l < LAYERS; l++) {
        db[l][0] = db[l][1] = 0;
UNROLL
        for (int j = 0; j < PART_TILES; j++)
UNROLL
            for (int e = 0; e < 4; e++) dw[l][j][e] = 0;
    }
UNROLL
    for (int o = 0; o < 2 * OUTPUTS; o++) dwo[o] = 0;

    const int blocks = (n + BLOCK - 1) / BLOCK;
    const int from = (long)blocks * g / groups, to = (long)blocks * (g + 1) / groups;
#pragma unroll 1
    for (int block = from; block < to; block++) {
        const int s0 = block * BLOCK + warp * 16; // the warp's first sample
#ifdef NVIDIA_PTX
        PREFETCH_SAMPLES(s0 + BLOCK)
#endif
        FETCH_FIRST
        float4 kept[LAYERS][TILES(WIDTH)]; // what layer l makes, for its way back
        float h[TILES(WIDTH)][4];
        uint strange = 0; // a bit for each layer

        // Forwards.
#define LOAD_INPUTS(x)                                                                                   \
    UNROLL for (int e = 0; e < 4; e += 2) {                                                              \
        global const float *from = X + X_off + (s0 + ROW(e)) * INPUTS + UNIT(0, 0);                      \
        UNROLL for (int j = 0; j < TILES(INPUTS); j++) {                                                 \
            float2 v = 0;                                                                                \
            if (s0 + ROW(e) < n) v = *(global const float2 *)(from + 8 * j);                             \
            x[j][e] = v.s0, x[j][e + 1] = v.s1;                                                          \
        }                                                                                                \
    }
#define FORWARD(l, in, fan_in)                                                                           \
    {                                                                                                    \
        float z[TILES(WIDTH)][4];                                                                        \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++) {                                       \
            const float2 b = *(global const float2 *)(biases + BIAS(l) + 8 * (j));                         \
            z[j][0] = z[j][2] = b.s0, z[j][1] = z[j][3] = b.s1;                                          \
        }                                                                                                \
        WAIT_FOR_WEIGHTS                                                                                 \
        const int by_fma = STRANGE(in, fan_in, 0);                                                       \
        strange |= by_fma << (l);                                                                        \
        MULTIPLY_EITHER(by_fma, l, z, in, fan_in)                                                        \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                         \
            UNROLL for (int e = 0; e < 4; e++) h[j][e] = z[j][e] > 0 ? z[j][e] : z[j][e] * (float)SLOPE; \
    }
#define MULTIPLY_FMA(l, z, in, fan_in) multiply_fma(z, in, fan_in, WIDTH, w + WEIGHTS(l), WIDTH, 1, (local float *)shared, warp, lane);
#ifndef NVIDIA_PTX
#define MULTIPLY_EITHER(by_fma, l, z, in, fan_in) MULTIPLY_FMA(l, z, in, fan_in)
#elif INNER == PARTS // rows take the place of weights
#define MULTIPLY_EITHER(by_fma, l, z, in, fan_in)                                                        \
    if (by_fma) {                                                                                        \
        MULTIPLY_FMA(l, z, in, fan_in)                                                                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        FETCH_AFTER(l)                                                                                   \
    } else {                                                                                             \
        FETCH_AFTER(l)                                                                                   \
        multiply(z, in, fan_in, WIDTH, PACKED(l, 0));                                                    \
    }
#else
#define MULTIPLY_EITHER(by_fma, l, z, in, fan_in) multiply(z, in, fan_in, WIDTH, PACKED(l, 0));
#endif
        {
            float x[TILES(INPUTS)][4];
            LOAD_INPUTS(x)
            FORWARD(0, x, INPUTS)
        }
#define KEEP_AND_FORWARD(l)                                                                              \
    UNROLL for (int j = 0; j < TILES(WIDTH); j++) kept[(l) - 1][j] = (float4)(h[j][0], h[j][1], h[j][2], h[j][3]); \
    FORWARD(l, h, WIDTH)
        UP_THE_LAYERS(KEEP_AND_FORWARD)

        // The output layer, its gradient, and that of the layer below.
        float dz[2][OUTPUTS];
UNROLL
        for (int r = 0; r < 2; r++)
UNROLL
            for (int o = 0; o < OUTPUTS; o++) dz[r][o] = 0;
UNROLL
        for (int j = 0; j < TILES(WIDTH); j++)
UNROLL
            for (int e = 0; e < 4; e++)
UNROLL
                for (int o = 0; o < OUTPUTS; o++) dz[e / 2][o] = fma(h[j][e], weights_out[(8 * j + e % 2) * OUTPUTS + o], dz[e / 2][o]);
UNROLL
        for (int r = 0; r < 2; r++)
UNROLL
            for (int o = 0; o < OUTPUTS; o++) {
                const int s = s0 + ROW(2 * r);
                const float z = sum_units(dz[r][o], scratch, lid), error = s < n ? z - T[T_off + s * OUTPUTS + o] : 0;
                if (lane % 4 == 0) loss += LOSS_OF(error);
                dz[r][o] = LOSS_SLOPE(error);
            }
UNROLL
        for (int o = 0; o < 2 * OUTPUTS; o++) {
            float v[TILES(WIDTH)];
UNROLL
            for (int j = 0; j < TILES(WIDTH); j++)
                v[j] = fma(h[j][2 + o / OUTPUTS], dz[1][o % OUTPUTS], h[j][o / OUTPUTS] * dz[0][o % OUTPUTS]);
            dwo[o] += sum_samples(v, scratch, lid);
        }
        float d[TILES(WIDTH)][4];
UNROLL
        for (int j = 0; j < TILES(WIDTH); j++)
UNROLL
            for (int e = 0; e < 4; e++) {
                float a = 0;
UNROLL
                for (int o = 0; o < OUTPUTS; o++) a = fma(dz[e / 2][o], weights_out[(8 * j + e % 2) * OUTPUTS + o], a);
                d[j][e] = h[j][e] > 0 ? a : a * (float)SLOPE;
            }

        // Backwards: d is the gradient of layer l's sums, and becomes that of the layer's input, `down`.
#ifdef NVIDIA_PTX
#define STAGED_H shared
#define STAGED_D (shared + PLANES * PITCH * WIDEST / CHUNK)
#endif
#define ROWS_H ((local float *)shared)
#define ROWS_D ((local float *)shared + AT_ONCE * WIDEST)
#if ROUNDS > 1
#define IN_ROUNDS(DO, l, below, fan_in) DO(l, below, fan_in, 0) barrier(CLK_LOCAL_MEM_FENCE); DO(l, below, fan_in, 1)
#else
#define IN_ROUNDS(DO, l, below, fan_in) DO(l, below, fan_in, 0)
#endif
#define ADD_BY_FMA(l, below, fan_in, round)                                                              \
    put_rows(ROWS_H, below, fan_in, 16 / ROUNDS, 2 * (round), warp, lane);                               \
    put_rows(ROWS_D, d, WIDTH, 16 / ROUNDS, 2 * (round), warp, lane);                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    multiply_rows(dw[l], ROWS_H, ROWS_D, fan_in, warp, lane);
#define ADD_BY_MMA(l, below, fan_in, round)                                                              \
    stage(STAGED_H, below, fan_in, round, warp, lane);                                                   \
    stage(STAGED_D, d, WIDTH, round, warp, lane);                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    multiply_staged(dw[l], STAGED_H, STAGED_D, fan_in, warp, lane);
#define BACKWARD_FMA(l, below, fan_in, goes_on)                                                          \
    {                                                                                                    \
        IN_ROUNDS(ADD_BY_FMA, l, below, fan_in)                                                          \
        if (goes_on) multiply_fma(down, d, WIDTH, fan_in, w + WEIGHTS(l), 1, WIDTH, (local float *)shared, warp, lane); \
    }
#if INNER == PARTS // weights lie where values are staged
#define BACKWARD_MMA(l, below, fan_in, goes_on)                                                          \
    {                                                                                                    \
        if (goes_on) {                                                                                   \
            multiply(down, d, WIDTH, fan_in, PACKED(l, 1));                                              \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                \
        }                                                                                                \
        IN_ROUNDS(ADD_BY_MMA, l, below, fan_in)                                                          \
    }
#else
#define BACKWARD_MMA(l, below, fan_in, goes_on)                                                          \
    {                                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        IN_ROUNDS(ADD_BY_MMA, l, below, fan_in)                                                          \
        if (goes_on) multiply(down, d, WIDTH, fan_in, PACKED(l, 1));                                     \
    }
#endif
#ifndef NVIDIA_PTX
#define BACKWARD_EITHER(by_fma, l, below, fan_in, goes_on) barrier(CLK_LOCAL_MEM_FENCE); BACKWARD_FMA(l, below, fan_in, goes_on)
#elif INNER == PARTS
#define BACKWARD_EITHER(by_fma, l, below, fan_in, goes_on) if (by_fma) BACKWARD_FMA(l, below, fan_in, goes_on) else BACKWARD_MMA(l, below, fan_in, goes_on)
#else
#define BACKWARD_EITHER(by_fma, l, below, fan_in, goes_on) BACKWARD_MMA(l, below, fan_in, goes_on)
#endif
#define BACKWARD(l, below, fan_in, goes_on)                                                              \
    {                                                                                                    \
        UNROLL for (int e = 0; e < 2; e++) {                                                  \
            float v[TILES(WIDTH)];                                                                       \
            UNROLL for (int j = 0; j < TILES(WIDTH); j++) v[j] = d[j][e] + d[j][e + 2];       \
            db[l][e] += sum_samples(v, scratch, lid);                                                    \
        }                                                                                                \
        UNROLL for (int j = 0; j < TILES(fan_in); j++)                                        \
            UNROLL for (int e = 0; e < 4; e++) down[j][e] = 0;                                \
        WAIT_FOR_WEIGHTS                                                                                 \
        const int by_fma = STRANGE(d, WIDTH, strange >> (l) & 1);                                        \
        BACKWARD_EITHER(by_fma, l, below, fan_in, goes_on)                                               \
        FETCH_BELOW(l)                                                                                   \
    }
#define BACKWARD_TO_KEPT(l)                                                                              \
    {                                                                                                    \
        float down[TILES(WIDTH)][4];                                                                     \
        float below[TILES(WIDTH)][4]; uint above = 0; /* a bit for each that is above 0: the values are not kept for longer */         \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                         \
        { const float4 v = kept[(l) - 1][j]; below[j][0] = v.s0, below[j][1] = v.s1, below[j][2] = v.s2, below[j][3] = v.s3; } \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                         \
            UNROLL for (int e = 0; e < 4; e++) above |= (uint)(below[j][e] > 0) << (4 * j + e); \
        BACKWARD(l, below, WIDTH, 1)                                                             \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                         \
            UNROLL for (int e = 0; e < 4; e++)                                                \
                d[j][e] = above >> (4 * j + e) & 1 ? down[j][e] : down[j][e] * (float)SLOPE;             \
    }
        DOWN_THE_LAYERS(BACKWARD_TO_KEPT)
        float x[TILES(INPUTS)][4], down[TILES(INPUTS)][4];
        LOAD_INPUTS(x)
#ifdef INPUT_GRAD
        BACKWARD(0, x, INPUTS, 1)
UNROLL
        for (int j = 0; j < TILES(INPUTS); j++)
UNROLL
            for (int e = 0; e < 4; e++)
                if (s0 + ROW(e) < n) DX[DX_off + (s0 + ROW(e)) * INPUTS + UNIT(j, e)] = down[j][e];
#else
        BACKWARD(0, x, INPUTS, 0)
#endif
    }

    global float *part = PART + PART_off + g * SIZE;
UNROLL
    for (int l = 0; l < LAYERS; l++)
UNROLL
        for (int j = 0; j < PART_TILES; j++)
UNROLL
            for (int e = 0; e < 4; e += 2) {
                const int row = warp / COLUMN_PARTS(FAN_IN(l)) * 16 + ROW(e), column = warp % COLUMN_PARTS(FAN_IN(l)) * PART_COLUMNS(FAN_IN(l)) + UNIT(j, 0);
                if (j < TILES(PART_COLUMNS(FAN_IN(l))) && row < FAN_IN(l))
                    *(global float2 *)(part + WEIGHTS(l) + row * WIDTH + column) = (float2)(dw[l][j][e], dw[l][j][e + 1]);
            }
    // The warps' sums, in their order.
    barrier(CLK_LOCAL_MEM_FENCE);
    local float *sums = (local float *)shared;
    const int tile = TILE_OF(lane);
    if (lane / 4 * TILES(WIDTH) % 8 == 0) {
UNROLL
        for (int l = 0; l < LAYERS; l++)
UNROLL
            for (int e = 0; e < 2; e++) sums[warp * SUMS + l * WIDTH + UNIT(tile, e)] = db[l][e];
UNROLL
        for (int o = 0; o < 2 * OUTPUTS; o++)
            sums[warp * SUMS + LAYERS * WIDTH + UNIT(tile, o / OUTPUTS) * OUTPUTS + o % OUTPUTS] = dwo[o];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = lid; i < SUMS; i += ITEMS) {
        const int l = i / WIDTH;
        float sum = sums[i];
        for (int other = 1; other < WARPS; other++) sum += sums[other * SUMS + i];
        part[l < LAYERS ? BIAS(l) + i % WIDTH : WEIGHTS(LAYERS) + i - LAYERS * WIDTH] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lid] = loss;
    for (int span = ITEMS / 2; span > 0; span >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) sums[lid] += sums[lid + span];
    }
    if (lid == 0) LOSS[LOSS_off + g] = sums[0];
}
