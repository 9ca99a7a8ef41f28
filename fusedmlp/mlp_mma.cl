// @depends: mlp_tile
// The step of mlp.cl on the matrix units of GPUs. mma.cl says what the factors of its products are, mlp_tile.cl how they lie in registers.
//
// The weights come as mlp_pack.cl leaves them, in the order of the lanes.
//
// The gradients of weights are sums over samples: a layer's input and its gradient, of AT_ONCE samples at once, meet in local
// memory, and each warp adds to a part of the layer's weights, which stays in its registers until all samples are through.
//
// Source: Müller, "tiny-cuda-nn" (2021), whose fully fused networks keep the activations of a block of samples on the chip.

#ifndef AT_ONCE
#define AT_ONCE (INNER == HALVES ? BLOCK : 64) // samples
#endif
#define ROUNDS (BLOCK / AT_ONCE) // 1 or 2: all rows of a warp's tiles are staged at once, or first the upper and then the lower ones
// Sums over samples stay loops, of one or two steps: all else is code that runs once for a block, from end to end, and the less there
// is of that the sooner it is there.
#if INNER == PAIRS
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
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#if defined(NVIDIA_PTX) && INNER != PAIRS
#define LOCAL_BYTES MOST(STAGED_BYTES, SUM_BYTES)
#elif defined(NVIDIA_PTX)
#define LOCAL_BYTES MOST(STAGED_BYTES, FMA_BYTES)
#else
#define LOCAL_BYTES FMA_BYTES
#endif
// Warps share the weights of a layer in blocks of 16 rows by so many columns.
#define ROW_PARTS(fan_in) ((fan_in) / 16)
#define COLUMN_PARTS(fan_in) (WARPS / ROW_PARTS(fan_in) < WIDTH / 16 ? WARPS / ROW_PARTS(fan_in) : WIDTH / 16)
#define PART_COLUMNS(fan_in) (WIDTH / COLUMN_PARTS(fan_in))
#define PART_TILES TILES(PART_COLUMNS(INPUTS) > PART_COLUMNS(WIDTH) ? PART_COLUMNS(INPUTS) : PART_COLUMNS(WIDTH)) // of the largest

// Chunks of the packed weights of a layer, forwards or backwards, and where they start.
#define PACKED_CHUNKS(l) (FAN_IN(l) * WIDTH * 2 / STEP * PLANES)
#define PACKED_AT(l, back) ((l) == 0 ? (back) * PACKED_CHUNKS(0) : 2 * PACKED_CHUNKS(0) + (2 * (l) - 2 + (back)) * PACKED_CHUNKS(1))

// What a layer makes is held as the words that its products take, plane by plane of two units of a row. Where ordinary
// arithmetic multiplies it, they are the bits of the values.
#if INNER == HALVES && defined(NVIDIA_PTX)
#define TILE_WORDS 2
#else
#define TILE_WORDS 4
#endif

static INLINE void hold(uint (*words)[TILE_WORDS], float (*v)[4], const int length, float into) {
UNROLL
    for (int j = 0; j < TILES(length); j++) {
#if INNER == TF32
UNROLL
        for (int e = 0; e < 4; e++) words[j][e] = tf32(v[j][e]);
#elif INNER == HALVES
UNROLL
        for (int r = 0; r < 2; r++) words[j][r] = two_halves(v[j][2 * r], v[j][2 * r + 1]);
#else
UNROLL
        for (int r = 0; r < 2; r++) {
            uint two[PLANES];
            pair(v[j][2 * r], v[j][2 * r + 1], into, two);
UNROLL
            for (int p = 0; p < PLANES; p++) words[j][2 * p + r] = two[p];
        }
#endif
    }
}
static INLINE void hold_bits(uint (*words)[TILE_WORDS], float (*v)[4], const int length) {
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int e = 0; e < TILE_WORDS; e++) words[j][e] = as_uint(v[j][e]);
}

// The values that are held, in pairs or as their bits.
static INLINE void values(float (*v)[4], uint (*words)[TILE_WORDS], const int length, int pairs, float out) {
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int e = 0; e < TILE_WORDS; e++) {
            v[j][e] = as_float(words[j][e]);
#if INNER == PAIRS
            const float2 h = halves(words[j][e / 2]), l = halves(words[j][2 + e / 2]);
            if (pairs) v[j][e] = (e % 2 ? fma(l.y, 0x1p-11f, h.y) : fma(l.x, 0x1p-11f, h.x)) * out;
#endif
        }
}

#ifdef NVIDIA_PTX
// The words of 16 samples by STEP units from tile `at` on, as factors from the left.
static INLINE void factors(uint a[PLANES][4], uint (*words)[TILE_WORDS], int at) {
#if INNER == TF32 // the units of a tile in another order, which the packed weights have, too
    a[0][0] = words[at][0], a[0][1] = words[at][2], a[0][2] = words[at][1], a[0][3] = words[at][3];
#else
UNROLL
    for (int i = 0; i < 4; i++)
UNROLL
        for (int p = 0; p < PLANES; p++) a[p][i] = words[at + i / 2][2 * p + i % 2];
#endif
}

#if INNER == PAIRS
#define ADD_PRODUCTS(acc, a, b, columns) MULTIPLY_PAIRS(acc, a, b, columns, factor)
#else
#define ADD_PRODUCTS(acc, a, b, columns) MULTIPLY(acc, a, b, columns)
#endif

// Loads the weights of block `block` of COLUMNS columns of a STEP, of N/COLUMNS.
static INLINE void load_weights(uint b[PLANES][COLUMNS / 8][2], global const uint4 *w, const int N, const int block) {
    const int k = block / (N / COLUMNS), c = block % (N / COLUMNS);
UNROLL
    for (int p = 0; p < PLANES; p++)
UNROLL
        for (int j = 0; j < COLUMNS / 16; j++) {
            const uint4 v = w[((k * PLANES + p) * (N / 16) + c * (COLUMNS / 16) + j) * 32];
            b[p][2 * j][0] = v.s0, b[p][2 * j][1] = v.s1, b[p][2 * j + 1][0] = v.s2, b[p][2 * j + 1][1] = v.s3;
        }
}

// out[s][n] += Σ_k in[s][k]·w[k][n]·factor, with packed w. The next weights are on their way while others are multiplied.
static INLINE void multiply(float (*out)[4], uint (*in)[TILE_WORDS], const int K, const int N, global const uint4 *w, float factor) {
    uint a[PLANES][4], b[2][PLANES][COLUMNS / 8][2];
    load_weights(b[0], w, N, 0);
UNROLL
    for (int block = 0; block < K / STEP * (N / COLUMNS); block++) {
        const int k = block / (N / COLUMNS), c = block % (N / COLUMNS);
        if (block + 1 < K / STEP * (N / COLUMNS)) load_weights(b[(block + 1) % 2], w, N, block + 1);
        if (c == 0) factors(a, in, k * STEP / 8);
        ADD_PRODUCTS((out + c * (COLUMNS / 8)), a, b[block % 2], COLUMNS)
    }
}

// Stages a round's samples of a warp, with `length` units each: a row for each sample, or with TF32, whose elements no instruction
// transposes, for each unit.
static INLINE void stage(local uint4 *tile, uint (*words)[TILE_WORDS], const int length, const int round, int warp, int lane) {
UNROLL
    for (int j = 0; j < TILES(length); j++) {
UNROLL
        for (int r = 0; r < 2; r++) {
            if (ROUNDS > 1 && r != round) continue;
            const int row = warp * (16 / ROUNDS) + (ROUNDS > 1 ? 0 : r * 8) + lane / 4;
#if INNER == TF32
            local uint *to = (local uint *)tile + UNIT(j, 0) * PITCH + row;
            to[0] = words[j][2 * r], to[PITCH] = words[j][2 * r + 1];
#else
UNROLL
            for (int p = 0; p < PLANES; p++)
                ((local uint *)(tile + p * (AT_ONCE * length / CHUNK) + WHERE(row, j, length, 1)))[lane % 4] = words[j][2 * p + r];
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

// dw[i][j] += Σ_s h[s][i]·d[s][j]·factor of staged samples, in the warp's part of dw.
static INLINE void multiply_staged(float (*dw)[4], local const uint4 *h, local const uint4 *d, const int fan_in, float factor, int warp, int lane) {
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
            ADD_PRODUCTS(dw, a, b, PART_COLUMNS(WIDTH))
        } else {
            ADD_PRODUCTS(dw, a, b, PART_COLUMNS(INPUTS))
        }
    }
}

#endif

#if INNER == PAIRS || !defined(NVIDIA_PTX)
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

#define PACKED(l, back) (packed + PACKED_AT(l, back) + lane)

#ifdef LOOKUP
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_matrix_lookup(IN_INTS(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n, IN_INTS(P), IN_INTS(F), IN(TABLE)) {
#else
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_matrix(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n, IN_INTS(P), IN_INTS(F)) {
#endif
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
#if INNER == PAIRS && defined(NVIDIA_PTX)
    local uint tops[2][WARPS];
    int flawed = 0; // whether weights of a layer are no pairs
UNROLL
    for (int l = 0; l < LAYERS; l++) flawed |= !VALUES_PAIR(F[F_off + l]);
#endif
    NEW_SUMS(PART_TILES)
    BLOCKS_OF_GROUP
#pragma unroll 1
    for (int block = from; block < to; block++) {
        const int s0 = block * BLOCK + warp * 16; // the warp's first sample
#ifdef NVIDIA_PTX
        PREFETCH_SAMPLES(s0 + BLOCK)
#endif
        float h[TILES(WIDTH)][4];
        uint kept[LAYERS][TILES(WIDTH)][TILE_WORDS], above[LAYERS]; // what layer l makes, for its way back, and a bit for each that is above 0
        int exponents[LAYERS];                                      // of what layer l takes
        uint strange = 0;                                           // a bit for each layer

        // Forwards.
#define FORWARD(l, v, words, fan_in)                                                                     \
    {                                                                                                    \
        float z[TILES(WIDTH)][4];                                                                        \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++) {                                                  \
            const float2 b = *(global const float2 *)(biases + BIAS(l) + 8 * (j));                       \
            z[j][0] = z[j][2] = b.s0, z[j][1] = z[j][3] = b.s1;                                          \
        }                                                                                                \
        exponents[l] = EXPONENT_OF(v, fan_in, l);                                                        \
        const int by_fma = BY_FMA(VALUES_PAIR(exponents[l]));                                            \
        strange |= by_fma << (l);                                                                        \
        FORWARD_EITHER(by_fma, l, z, v, words, fan_in)                                                   \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                                    \
            UNROLL for (int e = 0; e < 4; e++) h[j][e] = z[j][e] > 0 ? z[j][e] : z[j][e] * (float)SLOPE; \
    }
#define ROWS_H ((local float *)shared)
#define ROWS_D ((local float *)shared + AT_ONCE * WIDEST)
#define FORWARD_FMA(l, z, v, words, fan_in)                                                              \
    {                                                                                                    \
        hold_bits(words, v, fan_in);                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        put_rows(ROWS_H, WIDEST, v, fan_in, 16, 0, warp, lane);                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        multiply_fma(z, ROWS_H, WIDEST, fan_in, WIDTH, w + WEIGHTS(l), WIDTH, 1, (l) == 0, 0, warp, lane); \
    }
#define FORWARD_MMA(l, z, v, words, fan_in)                                                              \
    {                                                                                                    \
        hold(words, v, fan_in, INTO_PAIRS(exponents[l]));                                                \
        multiply(z, words, fan_in, WIDTH, PACKED(l, 0), FACTOR(exponents[l], F[F_off + (l)]));           \
    }
#ifndef NVIDIA_PTX
#define FORWARD_EITHER(by_fma, l, z, v, words, fan_in) FORWARD_FMA(l, z, v, words, fan_in)
#elif INNER == PAIRS
#define FORWARD_EITHER(by_fma, l, z, v, words, fan_in) if (by_fma) FORWARD_FMA(l, z, v, words, fan_in) else FORWARD_MMA(l, z, v, words, fan_in)
#else
#define FORWARD_EITHER(by_fma, l, z, v, words, fan_in) FORWARD_MMA(l, z, v, words, fan_in)
#endif
        {
            float x[TILES(INPUTS)][4];
            uint words[TILES(INPUTS)][TILE_WORDS];
            LOAD_INPUTS(x)
            FORWARD(0, x, words, INPUTS)
        }
#define KEEP_AND_FORWARD(l)                                                                              \
    above[(l) - 1] = 0;                                                                                  \
    UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                                        \
        UNROLL for (int e = 0; e < 4; e++) above[(l) - 1] |= (uint)(h[j][e] > 0) << (4 * j + e);         \
    FORWARD(l, h, kept[(l) - 1], WIDTH)
        UP_THE_LAYERS(KEEP_AND_FORWARD)

        // The output layer, its gradient, and that of the layer below.
        float d[TILES(WIDTH)][4];
        output_layer(d, h, dwo, &loss, T + T_off, weights_out, n, s0, scratch, lid);

        // Backwards: d is the gradient of layer l's sums, and becomes that of the layer's input, `down`.
#ifdef NVIDIA_PTX
#define STAGED_H shared
#define STAGED_D (shared + PLANES * PITCH * WIDEST / CHUNK)
#endif
#if ROUNDS > 1
#define IN_ROUNDS(DO, l, below, fan_in) DO(l, below, fan_in, 0) barrier(CLK_LOCAL_MEM_FENCE); DO(l, below, fan_in, 1)
#else
#define IN_ROUNDS(DO, l, below, fan_in) DO(l, below, fan_in, 0)
#endif
#define ADD_BY_FMA(l, v, fan_in, round)                                                                  \
    put_rows(ROWS_H, WIDEST, v, fan_in, 16 / ROUNDS, 2 * (round), warp, lane);                                   \
    put_rows(ROWS_D, WIDEST, d, WIDTH, 16 / ROUNDS, 2 * (round), warp, lane);                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    multiply_rows(dw[l], ROWS_H, ROWS_D, fan_in, warp, lane);
#define ADD_BY_MMA(l, words, fan_in, round)                                                              \
    stage(STAGED_H, words, fan_in, round, warp, lane);                                                   \
    stage(STAGED_D, d_words, WIDTH, round, warp, lane);                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
    multiply_staged(dw[l], STAGED_H, STAGED_D, fan_in, FACTOR(exponents[l], exponent), warp, lane);
#define BACKWARD_FMA(l, words, fan_in, goes_on)                                                          \
    {                                                                                                    \
        float v[TILES(fan_in)][4];                                                                       \
        values(v, words, fan_in, !(strange >> (l) & 1), OUT_OF_PAIRS(exponents[l], 141));                \
        IN_ROUNDS(ADD_BY_FMA, l, v, fan_in)                                                              \
        if (goes_on) {                                                                                   \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                \
            put_rows(ROWS_H, WIDEST, d, WIDTH, 16, 0, warp, lane);                                       \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                \
            multiply_fma(down, ROWS_H, WIDEST, WIDTH, fan_in, w + WEIGHTS(l), 1, WIDTH, 0, (l) == 0, warp, lane); \
        }                                                                                                \
    }
#define BACKWARD_MMA(l, words, fan_in, goes_on)                                                          \
    {                                                                                                    \
        uint d_words[TILES(WIDTH)][TILE_WORDS];                                                          \
        hold(d_words, d, WIDTH, INTO_PAIRS(exponent));                                                   \
        STAGED_IS_READ                                                                                   \
        IN_ROUNDS(ADD_BY_MMA, l, words, fan_in)                                                          \
        if (goes_on) multiply(down, d_words, WIDTH, fan_in, PACKED(l, 1), FACTOR(exponent, F[F_off + (l)])); \
    }
#if INNER == PAIRS // the exponent of the gradient is a barrier
#define STAGED_IS_READ
#else
#define STAGED_IS_READ barrier(CLK_LOCAL_MEM_FENCE);
#endif
#ifndef NVIDIA_PTX
#define BACKWARD_EITHER(by_fma, l, words, fan_in, goes_on) barrier(CLK_LOCAL_MEM_FENCE); BACKWARD_FMA(l, words, fan_in, goes_on)
#elif INNER == PAIRS
#define BACKWARD_EITHER(by_fma, l, words, fan_in, goes_on) if (by_fma) BACKWARD_FMA(l, words, fan_in, goes_on) else BACKWARD_MMA(l, words, fan_in, goes_on)
#else
#define BACKWARD_EITHER(by_fma, l, words, fan_in, goes_on) BACKWARD_MMA(l, words, fan_in, goes_on)
#endif
#define BACKWARD(l, words, fan_in, goes_on)                                                              \
    {                                                                                                    \
        UNROLL for (int e = 0; e < 2; e++) {                                                             \
            float v[TILES(WIDTH)];                                                                       \
            UNROLL for (int j = 0; j < TILES(WIDTH); j++) v[j] = d[j][e] + d[j][e + 2];                  \
            db[l][e] += sum_samples(v, scratch, lid);                                                    \
        }                                                                                                \
        UNROLL for (int j = 0; j < TILES(fan_in); j++)                                                   \
            UNROLL for (int e = 0; e < 4; e++) down[j][e] = 0;                                           \
        const int exponent = EXPONENT_OF(d, WIDTH, 2 * LAYERS - 1 - (l));                                \
        const int by_fma = BY_FMA(GRADIENTS_PAIR(exponent)) | (strange >> (l) & 1);                      \
        BACKWARD_EITHER(by_fma, l, words, fan_in, goes_on)                                               \
    }
#define BACKWARD_TO_KEPT(l)                                                                              \
    {                                                                                                    \
        float down[TILES(WIDTH)][4];                                                                     \
        BACKWARD(l, kept[(l) - 1], WIDTH, 1)                                                             \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                                    \
            UNROLL for (int e = 0; e < 4; e++)                                                           \
                d[j][e] = above[(l) - 1] >> (4 * j + e) & 1 ? down[j][e] : down[j][e] * (float)SLOPE;    \
    }
        DOWN_THE_LAYERS(BACKWARD_TO_KEPT)
        uint words[TILES(INPUTS)][TILE_WORDS];
        {
            float x[TILES(INPUTS)][4];
            LOAD_INPUTS(x)
            if (BY_FMA(1) | (strange & 1)) hold_bits(words, x, INPUTS);
            else hold(words, x, INPUTS, INTO_PAIRS(exponents[0]));
        }
        float down[TILES(INPUTS)][4];
#ifdef INPUT_GRAD
        BACKWARD(0, words, INPUTS, 1)
        STORE_INPUT_GRADS(down)
#else
        BACKWARD(0, words, INPUTS, 0)
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
                    *(global float2 *)(part + WEIGHTS(l) + (l == 0 ? INPUT(row) : row) * WIDTH + column) = (float2)(dw[l][j][e], dw[l][j][e + 1]);
            }
    finish(part, LOSS + LOSS_off + g, db, dwo, loss, (local float *)shared, lid);
}
