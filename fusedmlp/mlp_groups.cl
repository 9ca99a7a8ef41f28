// @depends: mlp_tile, groups
// @target: sm_90a
// The step of mlp.cl on the matrix units of NVIDIA's devices of capability 9.0, whose instructions are those of a group of four warps, and
// take factors from local memory. mlp_tile.cl says how values lie in registers.
//
// Local memory has the weights, the inputs of all layers for a block of samples, and the gradient of the layer that is computed on
// the way back, in bricks of 8×8 elements of two bytes: a brick's rows of 16 bytes lie next to each other, and so do the
// bricks of a row of them, plane by plane. The units read a brick along its rows or across them, so that both directions share the
// weights, and sums over samples the inputs.
//
// Each group has a part of the columns of all gradients of weights in registers, until all samples are through. The units add up
// the products of a layer or of a block, whose sums they cut off where float32 rounds them, and ordinary additions do the rest.
//
// Source: the PTX ISA, "Asynchronous warpgroup level matrix instructions"; Müller, "tiny-cuda-nn" (2021).

#define GROUPS (WARPS / 4)
#define SHARE (WIDTH / GROUPS) // columns of the gradients of weights of a group
#define BRICK 128             // bytes
#if INNER == HALVES && defined(NVIDIA_PTX)
#define AREA_PLANES 1
#else
#define AREA_PLANES 2 // or values in float32, where ordinary arithmetic multiplies them
#endif

// Chunks of 16 bytes of a plane of a layer's inputs and weights, and where all of them start in local memory.
#define INPUT_CHUNKS(l) (BLOCK * FAN_IN(l) / 8)
#define INPUTS_AT(l) ((l) == 0 ? 0 : AREA_PLANES * (INPUT_CHUNKS(0) + ((l) - 1) * INPUT_CHUNKS(1)))
#define GRADIENT_CHUNKS (BLOCK * WIDTH / 8)
#define GRADIENT_AT INPUTS_AT(LAYERS)
#define WEIGHT_CHUNKS(l) (FAN_IN(l) * WIDTH / 8)
#define WEIGHTS_AT(l) (GRADIENT_AT + AREA_PLANES * GRADIENT_CHUNKS + ((l) == 0 ? 0 : PLANES * (WEIGHT_CHUNKS(0) + ((l) - 1) * WEIGHT_CHUNKS(1))))
#ifdef NVIDIA_PTX
#define LOCAL_CHUNKS WEIGHTS_AT(LAYERS)
#else
#define LOCAL_CHUNKS WEIGHTS_AT(0)
#endif

#ifdef NVIDIA_PTX
#define TILE_WORDS (2 * PLANES)

// The words of what the units take, plane by plane of two units of a row.
static INLINE void hold(uint (*words)[TILE_WORDS], float (*v)[4], const int length, float into) {
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int r = 0; r < 2; r++) {
            const float x = v[j][2 * r], y = v[j][2 * r + 1];
#if INNER == PAIRS
            uint two[2];
            pair(x, y, into, two);
            words[j][r] = two[0], words[j][2 + r] = two[1];
#elif INNER == SCALED
            words[j][r] = two_halves(x * into, y * into);
#else
            words[j][r] = two_halves(x, y);
#endif
        }
}

// Stores a warp's words as bricks from `to` on, whose planes are `chunks` apart.
static INLINE void store(local const uint4 *to, uint (*words)[TILE_WORDS], const int length, const int chunks, int warp, int lane) {
    const uint at = (uint)(ulong)to + ((warp * 2 + lane / 8 % 2) * TILES(length) + lane / 16) * BRICK + lane % 8 * 16;
UNROLL
    for (int p = 0; p < PLANES; p++)
UNROLL
        for (int j = 0; j < TILES(length); j += 2)
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                         : : "r"(at + p * chunks * 16 + j * BRICK), "r"(words[j][2 * p]), "r"(words[j][2 * p + 1]), "r"(words[j + 1][2 * p]), "r"(words[j + 1][2 * p + 1])
                         : "memory");
}

static void wait_for_units(void) {
    multiply_to_here();
    WAIT_BUT_FOR(0);
}

// d += a·b, or d = a·b, for 64 rows and n columns: of a in registers, with b's bricks read across their rows; of both in bricks, along them; and of
// both across them.
#define SUMS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS_64 SUMS_4(0), SUMS_4(4), SUMS_4(8), SUMS_4(12), SUMS_4(16), SUMS_4(20), SUMS_4(24), SUMS_4(28)
#define SUMS_32 SUMS_4(0), SUMS_4(4), SUMS_4(8), SUMS_4(12)
#define SUMS_16 SUMS_4(0), SUMS_4(4)
#define TEXT_16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define TEXT_32 TEXT_16 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define TEXT_64 TEXT_32 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define UNITS(n, add, text, factors) \
    FOR_GROUPS "{ .reg .pred p; setp.ne.b32 p, " add ", 0; wgmma.mma_async.sync.aligned.m64n" #n GROUP_TYPES " {" text "}, " factors "; }"
#define REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
static INLINE void multiply_registers(float *d, const uint *a, ulong b, const int n, const int add) {
    if (n == 64) MULTIPLY_LANES(d, a, b, add, TURNED)
    else
        asm volatile(UNITS(32, "%21", TEXT_32, "{%16, %17, %18, %19}, %20, p, 1, 1, 1") : SUMS_32 : REGISTERS, "l"(b), "r"(add) : "memory");
}
static INLINE void multiply_bricks(float *d, ulong a, ulong b, const int n, const int add) {
    if (n == 64)
        asm volatile(UNITS(64, "%34", TEXT_64, "%32, %33, p, 1, 1, 0, 0") : SUMS_64 : "l"(a), "l"(b), "r"(add) : "memory");
    else
        asm volatile(UNITS(32, "%18", TEXT_32, "%16, %17, p, 1, 1, 0, 0") : SUMS_32 : "l"(a), "l"(b), "r"(add) : "memory");
}
static INLINE void multiply_across(float *d, ulong a, ulong b, const int n, const int add) {
    if (n == 64)
        asm volatile(UNITS(64, "%34", TEXT_64, "%32, %33, p, 1, 1, 1, 1") : SUMS_64 : "l"(a), "l"(b), "r"(add) : "memory");
    else if (n == 32)
        asm volatile(UNITS(32, "%18", TEXT_32, "%16, %17, p, 1, 1, 1, 1") : SUMS_32 : "l"(a), "l"(b), "r"(add) : "memory");
    else
        asm volatile(UNITS(16, "%10", TEXT_16, "%8, %9, p, 1, 1, 1, 1") : SUMS_16 : "l"(a), "l"(b), "r"(add) : "memory");
}

// Where the units find bricks: how far the next one is along k, and along rows or columns of the result.
static INLINE ulong bricks(local const uint4 *at, const int along_k, const int along_x) {
    return (ulong)((uint)(ulong)at >> 4 & 0x3fff) | (ulong)(along_k >> 4) << 16 | (ulong)(along_x >> 4) << 32;
}

// Sums of products of a group's rows, [in, WIDTH] = [in]·w, of pairs those of h·h and of h·l + l·h.
static INLINE void forwards(float *high, float *low, uint (*in)[TILE_WORDS], local const uint4 *w, const int fan_in) {
UNROLL
    for (int k = 0; k < fan_in / 16; k++) {
        const uint a[4] = {in[2 * k][0], in[2 * k][1], in[2 * k + 1][0], in[2 * k + 1][1]};
#define ROWS_OF_W(plane) bricks(w + (plane) * (fan_in * WIDTH / 8) + k * 2 * WIDTH, WIDTH / 8 * BRICK, BRICK)
#if INNER == PAIRS
        const uint l[4] = {in[2 * k][2], in[2 * k][3], in[2 * k + 1][2], in[2 * k + 1][3]};
        multiply_registers(low, l, ROWS_OF_W(0), WIDTH, k > 0);
        multiply_registers(low, a, ROWS_OF_W(1), WIDTH, 1);
#endif
        multiply_registers(high, a, ROWS_OF_W(0), WIDTH, k > 0);
    }
}
// The same of [d, fan_in] = d·wᵀ.
static INLINE void backwards(float *high, float *low, local const uint4 *d, local const uint4 *w, const int fan_in) {
UNROLL
    for (int k = 0; k < WIDTH / 16; k++) {
#define ROWS_OF_D(plane) bricks(d + (plane) * GRADIENT_CHUNKS + k * 16, BRICK, WIDTH / 8 * BRICK)
#define COLUMNS_OF_W(plane) bricks(w + (plane) * (fan_in * WIDTH / 8) + k * 16, BRICK, WIDTH / 8 * BRICK)
#if INNER == PAIRS
        multiply_bricks(low, ROWS_OF_D(1), COLUMNS_OF_W(0), fan_in, k > 0);
        multiply_bricks(low, ROWS_OF_D(0), COLUMNS_OF_W(1), fan_in, 1);
#endif
        multiply_bricks(high, ROWS_OF_D(0), COLUMNS_OF_W(0), fan_in, k > 0);
    }
}
// The same of a group's columns of inᵀ·d, over all samples of a block. Of 32 inputs the other rows of the result are of no use.
static INLINE void over_samples(float *high, float *low, local const uint4 *in, local const uint4 *d, const int fan_in, const int add) {
UNROLL
    for (int k = 0; k < BLOCK / 16; k++) {
#define COLUMNS_OF_IN(plane) bricks(in + (plane) * (BLOCK * fan_in / 8) + k * 2 * fan_in, fan_in / 8 * BRICK, BRICK)
#define COLUMNS_OF_D(plane) bricks(d + (plane) * GRADIENT_CHUNKS + k * 2 * WIDTH, WIDTH / 8 * BRICK, BRICK)
#if INNER == PAIRS
        multiply_across(low, COLUMNS_OF_IN(1), COLUMNS_OF_D(0), SHARE, k > 0);
        multiply_across(low, COLUMNS_OF_IN(0), COLUMNS_OF_D(1), SHARE, 1);
#endif
        multiply_across(high, COLUMNS_OF_IN(0), COLUMNS_OF_D(0), SHARE, add || k > 0);
    }
}

// What sums of products are, added to `to`.
#if INNER == PAIRS
#define JOINED(high, low, factor, to) fma(high, factor, fma(low, (factor) * 0x1p-11f, to))
#elif INNER == SCALED
#define JOINED(high, low, factor, to) fma(high, factor, to)
#else
#define JOINED(high, low, factor, to) ((high) + (to))
#endif

// Puts the weights of a layer into local memory, of the first one or not, and returns their exponent.
static INLINE int put_weights(local uint4 *to, global const float *w, const int length, const int of_inputs, local uint *tops, int lid) {
    int exponent = 127;
#if INNER != HALVES
    float most = 0;
    for (int i = 4 * lid; i < length; i += 4 * ITEMS) {
        const float4 v = *(global const float4 *)(w + i);
        most = larger(larger(larger(larger(most, v.s0), v.s1), v.s2), v.s3);
    }
    exponent = exponent_of_all(most, tops, lid / 32, lid % 32);
#endif
    const float into = INTO_PAIRS(exponent);
    for (int c = lid; c < length / 8; c += ITEMS) { // a row of a brick
        const int i = c / WIDTH * 8 + c % 8;
        global const float *row = w + (of_inputs ? INPUT(i) : i) * WIDTH + c / 8 % TILES(WIDTH) * 8;
        uint words[4][2];
UNROLL
        for (int i = 0; i < 4; i++) {
            const float2 v = *(global const float2 *)(row + 2 * i);
#if INNER == PAIRS
            pair(v.s0, v.s1, into, words[i]);
#elif INNER == SCALED
            words[i][0] = two_halves(v.s0 * into, v.s1 * into);
#else
            words[i][0] = two_halves(v.s0, v.s1);
#endif
        }
UNROLL
        for (int p = 0; p < PLANES; p++) to[p * (length / 8) + c] = (uint4)(words[0][p], words[1][p], words[2][p], words[3][p]);
    }
    return exponent;
}
#endif

#if INNER != HALVES || !defined(NVIDIA_PTX)
// An element of a layer's inputs: from rows of values in float32, or bricks.
static INLINE float input_at(local const uint4 *in, const int fan_in, int s, int i, int values, float out) {
    if (values) return ((local const float *)in)[s * fan_in + i];
    const int at = (((s / 8) * TILES(fan_in) + i / 8) * 8 + s % 8) * 8 + i % 8;
    const float2 high = halves(((local const uint *)in)[at / 2]);
#if INNER == PAIRS
    const float2 low = halves(((local const uint *)(in + BLOCK * fan_in / 8))[at / 2]);
    return (i % 2 ? fma(low.y, 0x1p-11f, high.y) : fma(low.x, 0x1p-11f, high.x)) * out;
#else
    return (i % 2 ? high.y : high.x) * out;
#endif
}

// over_samples by fma, with rows of values for d.
static INLINE void over_samples_fma(float (*dw)[4], local const uint4 *in, local const float *d, const int fan_in, int values, float out, int warp, int lane) {
    const int i0 = warp % 4 * 16, j0 = warp / 4 * SHARE;
    if (i0 >= fan_in) return;
#pragma unroll 1
    for (int s = 0; s < BLOCK; s++)
UNROLL
        for (int e = 0; e < 4; e += 2) {
            const float x = input_at(in, fan_in, s, i0 + ROW(e), values, out);
UNROLL
            for (int j = 0; j < TILES(SHARE); j++)
UNROLL
                for (int i = e; i < e + 2; i++) dw[j][i] = fma(x, d[s * WIDTH + j0 + UNIT(j, i)], dw[j][i]);
        }
}
#endif

#ifdef LOOKUP
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_groups_lookup(IN_INTS(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n, IN(TABLE)) {
#else
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_groups(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n) {
#endif
    local uint4 shared[LOCAL_CHUNKS] __attribute__((aligned(128)));
    local uint tops[2][WARPS];
#ifdef NVIDIA_PTX
    local float *scratch = 0;
#else
    local float scratch[ITEMS];
#endif
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, g = get_group_id(0), groups = get_num_groups(0);
    local uint4 *d_area = shared + GRADIENT_AT;
    local const uint4 *d_rows = d_area + warp / 4 * (64 * WIDTH / 8), *d_columns = d_area + warp / 4 * SHARE; // of a group
    global const float *w = W + W_off;
    // Pointers to what a lane reads first: all else is at distances that are known.
    global const float *biases = w + UNIT(0, 0), *weights_out = w + WEIGHTS(LAYERS) + UNIT(0, 0) * OUTPUTS;
    int flawed = 0; // whether weights of a layer are no pairs
    int of_weights[LAYERS], of_inputs[LAYERS]; // exponents of layers
UNROLL
    for (int l = 0; l < LAYERS; l++) {
        of_weights[l] = 127;
#ifdef NVIDIA_PTX
        of_weights[l] = put_weights(shared + WEIGHTS_AT(l), w + WEIGHTS(l), FAN_IN(l) * WIDTH, l == 0, tops[l % 2], lid);
        flawed |= !VALUES_PAIR(of_weights[l]);
#endif
    }
#ifdef NVIDIA_PTX
    FOR_UNITS
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    NEW_SUMS(TILES(SHARE))
    BLOCKS_OF_GROUP
#pragma unroll 1
    for (int block = from; block < to; block++) {
        const int s0 = block * BLOCK + warp * 16; // the warp's first sample
#ifdef NVIDIA_PTX
        PREFETCH_SAMPLES(s0 + BLOCK)
#endif
        float h[TILES(WIDTH)][4];
        uint above[LAYERS]; // a bit for each output of a layer that is above 0
        uint strange = 0;   // a bit for each layer that is computed by fma
#if INNER == HALVES || !defined(NVIDIA_PTX)
        barrier(CLK_LOCAL_MEM_FENCE); // the inputs of the last block are read
#endif

        // Forwards.
#define BIASED(l, z)                                                                                     \
    UNROLL for (int j = 0; j < TILES(WIDTH); j++) {                                                      \
        const float2 b = *(global const float2 *)(biases + BIAS(l) + 8 * (j));                           \
        z[j][0] = z[j][2] = b.s0, z[j][1] = z[j][3] = b.s1;                                              \
    }
#define FORWARD_FMA(l, z, v, fan_in)                                                                     \
    {                                                                                                    \
        local float *rows = (local float *)(shared + INPUTS_AT(l));                                      \
        put_rows(rows, fan_in, v, fan_in, 16, 0, warp, lane);                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        BIASED(l, z)                                                                                     \
        multiply_fma(z, rows, fan_in, fan_in, WIDTH, w + WEIGHTS(l), WIDTH, 1, (l) == 0, 0, warp, lane); \
    }
#define FORWARD_UNITS(l, z, v, fan_in)                                                                   \
    {                                                                                                    \
        uint words[TILES(fan_in)][TILE_WORDS];                                                           \
        hold(words, v, fan_in, INTO_PAIRS(of_inputs[l]));                                                \
        store(shared + INPUTS_AT(l), words, fan_in, INPUT_CHUNKS(l), warp, lane);                        \
        float high[TILES(WIDTH)][4], low[TILES(WIDTH)][4];                                               \
        multiply_from_here(); /* which has the words to itself */                                        \
        forwards(&high[0][0], &low[0][0], words, shared + WEIGHTS_AT(l), fan_in);                        \
        wait_for_units();                                                                                \
        BIASED(l, z)                                                                                     \
        const float factor = FACTOR(of_inputs[l], of_weights[l]);                                        \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                                    \
            UNROLL for (int e = 0; e < 4; e++) z[j][e] = JOINED(high[j][e], low[j][e], factor, z[j][e]); \
    }
#define FORWARD(l, v, fan_in)                                                                            \
    {                                                                                                    \
        of_inputs[l] = EXPONENT_OF(v, fan_in, l);                                                        \
        const int by_fma = BY_FMA(VALUES_PAIR(of_inputs[l]));                                            \
        strange |= by_fma << (l);                                                                        \
        float z[TILES(WIDTH)][4];                                                                        \
        EITHER(by_fma, FORWARD_FMA(l, z, v, fan_in), FORWARD_UNITS(l, z, v, fan_in))                     \
        uint bits[4] = {0, 0, 0, 0};                                                                     \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                                    \
            UNROLL for (int e = 0; e < 4; e++) {                                                         \
                bits[e] |= (uint)(z[j][e] > 0) << (4 * j + e);                                           \
                h[j][e] = z[j][e] > 0 ? z[j][e] : z[j][e] * (float)SLOPE;                                \
            }                                                                                            \
        above[l] = bits[0] | bits[1] | (bits[2] | bits[3]);                                              \
    }
#ifndef NVIDIA_PTX
#define EITHER(by_fma, FMA, UNITS) FMA
#elif INNER == HALVES
#define EITHER(by_fma, FMA, UNITS) UNITS
#else
#define EITHER(by_fma, FMA, UNITS) if (by_fma) FMA else UNITS
#endif
        {
            float x[TILES(INPUTS)][4];
            LOAD_INPUTS(x)
            FORWARD(0, x, INPUTS)
        }
#define FORWARD_ON(l) FORWARD(l, h, WIDTH)
        UP_THE_LAYERS(FORWARD_ON)

        float d[TILES(WIDTH)][4];
        output_layer(d, h, dwo, &loss, T + T_off, weights_out, n, s0, scratch, lid);

        // Backwards: d is the gradient of layer l's sums, and `down` becomes that of its input.
#define BACKWARD_FMA(l, fan_in, goes_on)                                                                 \
    {                                                                                                    \
        local float *rows = (local float *)d_area;                                                       \
        put_rows(rows, WIDTH, d, WIDTH, 16, 0, warp, lane);                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        over_samples_fma(dw[l], shared + INPUTS_AT(l), rows, fan_in, strange >> (l) & 1, OUT_OF_PAIRS(of_inputs[l], 141), warp, lane); \
        UNROLL for (int j = 0; j < TILES(fan_in); j++)                                                   \
            UNROLL for (int e = 0; e < 4; e++) down[j][e] = 0;                                           \
        if (goes_on) multiply_fma(down, rows, WIDTH, WIDTH, fan_in, w + WEIGHTS(l), 1, WIDTH, 0, (l) == 0, warp, lane); \
    }
#define BACKWARD_UNITS(l, fan_in, goes_on)                                                               \
    {                                                                                                    \
        uint words[TILES(WIDTH)][TILE_WORDS];                                                            \
        hold(words, d, WIDTH, INTO_PAIRS(exponent));                                                     \
        store(d_area, words, WIDTH, GRADIENT_CHUNKS, warp, lane);                                        \
        FOR_UNITS                                                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        if (goes_on) {                                                                                   \
            float high[TILES(fan_in)][4], low[TILES(fan_in)][4];                                         \
            multiply_from_here();                                                                        \
            backwards(&high[0][0], &low[0][0], d_rows, shared + WEIGHTS_AT(l), fan_in);                  \
            wait_for_units();                                                                            \
            const float factor = FACTOR(exponent, of_weights[l]);                                        \
            UNROLL for (int j = 0; j < TILES(fan_in); j++)                                               \
                UNROLL for (int e = 0; e < 4; e++) down[j][e] = JOINED(high[j][e], low[j][e], factor, 0.f); \
        }                                                                                                \
        ADD_WEIGHTS(l, fan_in)                                                                           \
    }
#if INNER == HALVES
#define ADD_WEIGHTS(l, fan_in)                                                                           \
    multiply_from_here();                                                                                \
    over_samples(&dw[l][0][0], 0, shared + INPUTS_AT(l), d_columns, fan_in, 1);                          \
    wait_for_units();
#else
#define ADD_WEIGHTS(l, fan_in)                                                                           \
    float high[TILES(SHARE)][4], low[TILES(SHARE)][4];                                                     \
    multiply_from_here();                                                                                \
    over_samples(&high[0][0], &low[0][0], shared + INPUTS_AT(l), d_columns, fan_in, 0);                  \
    wait_for_units();                                                                                    \
    const float factor = FACTOR(of_inputs[l], exponent);                                                 \
    UNROLL for (int j = 0; j < TILES(SHARE); j++)                                                         \
        UNROLL for (int e = 0; e < 4; e++) dw[l][j][e] = JOINED(high[j][e], low[j][e], factor, dw[l][j][e]);
#endif
#define BACKWARD(l, fan_in, goes_on)                                                                     \
    {                                                                                                    \
        UNROLL for (int e = 0; e < 2; e++) {                                                             \
            float v[TILES(WIDTH)];                                                                       \
            UNROLL for (int j = 0; j < TILES(WIDTH); j++) v[j] = d[j][e] + d[j][e + 2];                  \
            db[l][e] += sum_samples(v, scratch, lid);                                                    \
        }                                                                                                \
        GRADIENT_IS_READ                                                                                 \
        const int exponent = EXPONENT_OF(d, WIDTH, 2 * LAYERS - 1 - (l));                                \
        const int by_fma = BY_FMA(GRADIENTS_PAIR(exponent)) | (strange >> (l) & 1);                      \
        EITHER(by_fma, BACKWARD_FMA(l, fan_in, goes_on), BACKWARD_UNITS(l, fan_in, goes_on))             \
    }
#if INNER == HALVES || !defined(NVIDIA_PTX)
#define GRADIENT_IS_READ barrier(CLK_LOCAL_MEM_FENCE);
#else // the exponent is a barrier
#define GRADIENT_IS_READ
#endif
#define BACKWARD_ON(l)                                                                                   \
    {                                                                                                    \
        float down[TILES(WIDTH)][4];                                                                     \
        BACKWARD(l, WIDTH, 1)                                                                            \
        UNROLL for (int j = 0; j < TILES(WIDTH); j++)                                                    \
            UNROLL for (int e = 0; e < 4; e++)                                                           \
                d[j][e] = above[(l) - 1] >> (4 * j + e) & 1 ? down[j][e] : down[j][e] * (float)SLOPE;    \
    }
        DOWN_THE_LAYERS(BACKWARD_ON)
        float down[TILES(INPUTS)][4];
#ifdef INPUT_GRAD
        BACKWARD(0, INPUTS, 1)
        STORE_INPUT_GRADS(down)
#else
        BACKWARD(0, INPUTS, 0)
#endif
    }

    global float *part = PART + PART_off + g * SIZE;
UNROLL
    for (int l = 0; l < LAYERS; l++)
UNROLL
        for (int j = 0; j < TILES(SHARE); j++)
UNROLL
            for (int e = 0; e < 4; e += 2) {
                const int row = warp % 4 * 16 + ROW(e), column = warp / 4 * SHARE + UNIT(j, 0);
                if (row < FAN_IN(l)) *(global float2 *)(part + WEIGHTS(l) + (l == 0 ? INPUT(row) : row) * WIDTH + column) = (float2)(dw[l][j][e], dw[l][j][e + 1]);
            }
    finish(part, LOSS + LOSS_off + g, db, dwo, loss, (local float *)shared, lid);
}
