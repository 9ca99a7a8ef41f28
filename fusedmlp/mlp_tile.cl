// @depends: warp, mlp, fp16_pair
// What steps of mlp.cl on the matrix units of GPUs share: how a block of samples lies in the registers of a work-group's lanes, the
// output layer, which is narrow and ordinary arithmetic, and layers of factors that the units do not take.
//
// A warp takes 16 samples through all layers and back. Of a 16×8 tile of what a layer makes a lane has two neighbours in rows
// lane/4 and lane/4 + 8, which is as the next layer's product takes it.
//
// With PAIRS and SCALED, what a layer makes of BLOCK samples is scaled together, and so is its gradient, and computed by fma if it is
// not finite, or too large or small: see VALUES_PAIR. With LOOKUP, X has where the inputs of each sample lie in TABLE, the former half of
// them and the latter. Without NVIDIA_PTX all are computed so, of factors that were rounded as INNER says.

#ifndef WARPS
#define WARPS 8
#endif
#undef BLOCK
#define BLOCK (16 * WARPS) // samples
#define ITEMS (32 * WARPS)
#define WIDEST (INPUTS > WIDTH ? INPUTS : WIDTH)
#define TILES(n) ((n) / 8) // of so many units
#ifdef NVIDIA_PTX
#define UNROLL _Pragma("unroll")
#else
#define UNROLL // what stays loops is built in a tenth of the time
#endif
#define SUMS (LAYERS * WIDTH + WIDTH * OUTPUTS) // of biases and of the output layer's weights
#define SUM_BYTES (WARPS * 4 * SUMS)

#define ROW(e) (lane / 4 + (e) / 2 * 8)      // of element e of a lane in a tile
#define UNIT(j, e) (8 * (j) + lane % 4 * 2 + (e) % 2) // in tile j

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
#if INNER == TF32 || INNER == SCALED
    return as_float(tf32(x));
#elif INNER == HALVES
    uint two = two_halves(x, 0);
    return vload_half(0, (const half *)&two);
#else
    return x;
#endif
}

#ifdef NVIDIA_PTX
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

// Puts `height` of the 16 samples of a warp, in tiles from row e0/2·8 on, into rows of `pitch`.
static INLINE void put_rows(local float *rows, const int pitch, float (*v)[4], const int length, const int height, const int e0, int warp, int lane) {
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int e = 0; e < 4; e++)
            if (height == 16 || e / 2 == e0 / 2) rows[(warp * height + ROW(e - e0)) * pitch + UNIT(j, e)] = rounded(v[j][e]);
}

// out[s][n] += Σ_k rows[s][k]·w[k*row + n*step] by fma, of a warp's samples. k or n may be the first layer's units.
static INLINE void multiply_fma(float (*out)[4], local const float *rows, const int pitch, const int K, const int N, global const float *w, int row, int step, const int of_inputs, const int to_inputs, int warp, int lane) {
    rows += warp * 16 * pitch;
#pragma unroll 1
    for (int k = 0; k < K; k++) {
        const float upper = rows[ROW(0) * pitch + k], lower = rows[ROW(2) * pitch + k];
UNROLL
        for (int j = 0; j < TILES(N); j++)
UNROLL
            for (int e = 0; e < 2; e++) {
                const float wk = rounded(w[(of_inputs ? INPUT(k) : k) * row + (to_inputs ? INPUT(UNIT(j, e)) : UNIT(j, e)) * step]);
                out[j][e] = fma(upper, wk, out[j][e]);
                out[j][e + 2] = fma(lower, wk, out[j][e + 2]);
            }
    }
}

#if defined(NVIDIA_PTX) && (INNER == PAIRS || INNER == SCALED)
// The exponent of the largest size that a block's work-items have. It is a barrier, too: what the one before the last left in `tops` is read.
static INLINE int exponent_of_all(float most, local uint *tops, int warp, int lane) {
    const uint top = largest(as_uint(most));
    if (lane == 0) tops[warp] = top;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint of_all = largest(tops[lane % WARPS]);
    return EXPONENT(of_all);
}
static INLINE int exponent_of(float (*v)[4], const int length, local uint *tops, int warp, int lane) {
    float most[4] = {0, 0, 0, 0}; // no one waits for another
UNROLL
    for (int j = 0; j < TILES(length); j++)
UNROLL
        for (int e = 0; e < 4; e++) most[e] = larger(most[e], v[j][e]);
    return exponent_of_all(larger(larger(most[0], most[1]), larger(most[2], most[3])), tops, warp, lane);
}
#define EXPONENT_OF(v, length, turn) exponent_of(v, length, tops[(turn) % 2], warp, lane)
#define FACTOR(e, f) OUT_OF_PAIRS(e, f)
#define BY_FMA(is_pair) (flawed | !(is_pair))
#else
#define EXPONENT_OF(v, length, turn) 127
#define FACTOR(e, f) 1
#ifdef NVIDIA_PTX
#define BY_FMA(is_pair) 0
#else
#define BY_FMA(is_pair) 1
#endif
#endif

// The sums over a group's samples: the loss, and the gradients of weights, of which a lane has so many tiles of each layer, of biases and of
// the output layer's weights.
#define NEW_SUMS(tiles)                                                                                  \
    float loss = 0;                                                                                      \
    float dw[LAYERS][tiles][4], db[LAYERS][2], dwo[2 * OUTPUTS];                                         \
    UNROLL for (int l = 0; l < LAYERS; l++) {                                                            \
        db[l][0] = db[l][1] = 0;                                                                         \
        UNROLL for (int j = 0; j < tiles; j++)                                                           \
            UNROLL for (int e = 0; e < 4; e++) dw[l][j][e] = 0;                                          \
    }                                                                                                    \
    UNROLL for (int o = 0; o < 2 * OUTPUTS; o++) dwo[o] = 0;

// The blocks [from, to) of a group.
#define BLOCKS_OF_GROUP                                                                                  \
    const int blocks = (n + BLOCK - 1) / BLOCK;                                                          \
    const int from = (long)blocks * g / groups, to = (long)blocks * (g + 1) / groups;

// FIND_INPUTS(s) finds the inputs of sample s, and INPUTS_OF(s, j) is from where those of tile j count. X has PER_SAMPLE elements.
#ifdef LOOKUP
#define PER_SAMPLE 2
#define FIND_INPUTS(s) const int2 lies = *(global const int2 *)(X + X_off + 2 * (s));
#define INPUTS_OF(s, j) (TABLE + TABLE_off + ((j) < TILES(INPUTS) / 2 ? lies.s0 : lies.s1 - INPUTS / 2))
#else
#define PER_SAMPLE INPUTS
#define FIND_INPUTS(s)
#define INPUTS_OF(s, j) (X + X_off + (s) * INPUTS)
#endif

#ifdef NVIDIA_PTX
// Asks for a warp's inputs, or where they lie, and targets from sample `first` on: a lane for half a sample.
#define PREFETCH_SAMPLES(first)                                                                          \
    if ((first) + lane / 2 < n) {                                                                        \
        const int s = (first) + lane / 2;                                                                \
        asm volatile("prefetch.global.L1 [%0];" : : "l"(X + X_off + s * PER_SAMPLE + lane % 2 * (PER_SAMPLE / 2))); \
        asm volatile("prefetch.global.L1 [%0];" : : "l"(T + T_off + s * OUTPUTS));                       \
    }
#endif

// The inputs of a warp's samples, from s0 on, and their gradients. What a block has room for beside its samples are copies of the last, with a
// gradient of 0: what zeros would become may be infinite where no sample is.
#define LOAD_INPUTS(x)                                                                                   \
    UNROLL for (int e = 0; e < 4; e += 2) {                                                              \
        const int s = min(s0 + ROW(e), n - 1);                                                           \
        FIND_INPUTS(s)                                                                                   \
        UNROLL for (int j = 0; j < TILES(INPUTS); j += 2) {                                              \
            const float4 v = *(global const float4 *)(INPUTS_OF(s, j) + 4 * (lane % 4) + 8 * j);         \
            x[j][e] = v.s0, x[j][e + 1] = v.s1, x[j + 1][e] = v.s2, x[j + 1][e + 1] = v.s3;              \
        }                                                                                                \
    }
#define STORE_INPUT_GRADS(x)                                                                             \
    UNROLL for (int e = 0; e < 4; e += 2) {                                                              \
        global float *to = DX + DX_off + (s0 + ROW(e)) * INPUTS + 4 * (lane % 4);                        \
        UNROLL for (int j = 0; j < TILES(INPUTS); j += 2)                                                \
            if (s0 + ROW(e) < n) *(global float4 *)(to + 8 * j) = (float4)(x[j][e], x[j][e + 1], x[j + 1][e], x[j + 1][e + 1]); \
    }

// The output layer of a warp's samples from s0 on, whose targets are t: adds to the loss and the gradient of the layer's weights wo, which
// start at the lane's first unit, and makes that of the sums of the layer below.
static INLINE void output_layer(float (*d)[4], float (*h)[4], float *dwo, float *loss, global const float *t, global const float *weights_out, int n, int s0, local float *scratch, int lid) {
    const int lane = lid % 32;
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
            const float z = sum_units(dz[r][o], scratch, lid), error = s < n ? z - t[s * OUTPUTS + o] : 0;
            if (lane % 4 == 0) *loss += LOSS_OF(error);
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
UNROLL
    for (int j = 0; j < TILES(WIDTH); j++)
UNROLL
        for (int e = 0; e < 4; e++) {
            float a = 0;
UNROLL
            for (int o = 0; o < OUTPUTS; o++) a = fma(dz[e / 2][o], weights_out[(8 * j + e % 2) * OUTPUTS + o], a);
            d[j][e] = h[j][e] > 0 ? a : a * (float)SLOPE;
        }
}

// Adds up the warps' sums of biases, of the output layer's weights and of the loss, in their order.
static INLINE void finish(global float *part, global float *loss_of_group, float (*db)[2], const float *dwo, float loss, local float *sums, int lid) {
    const int warp = lid / 32, lane = lid % 32;
    barrier(CLK_LOCAL_MEM_FENCE);
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
    if (lid == 0) *loss_of_group = sums[0];
}
