// @depends: common, mlp, prologue
// A whole training step of a small perceptron in one launch, for GPUs: forward, loss, backward, and partial
// gradients of the weights. mlp.cl says what it computes and how W, PART and LOSS lie in memory.
//
// All activations of a tile of samples stay in local memory. Samples past n count as zeros with a gradient of
// zero. After the single-kernel design of Müller et al., tiny-cuda-nn, in single precision and without atomics.

#ifndef CHUNK
#define CHUNK 32 // rows of W staged at once: a divisor of WIDTH
#endif
#define TILE BLOCK // samples in local memory at once
#define ITEMS 128 // work-items of a group, a multiple of TILE
#if TILE < 32 // blocks of a work-item: the larger, the less it loads for each product, and the fewer there are
#define SAMPLES (TILE / 4) // by 2 units in the forward layers
#define BACK 1 // samples by 4 units in the backward layers
#else
#define SAMPLES (TILE / 8) // by 4 units
#define BACK 2
#endif
#define WIDEST (INPUTS > WIDTH ? INPUTS : WIDTH)
#define ROW (WIDEST + 4) // of a tile: four more than the widest layer, against bank conflicts
#define PARTS (ITEMS / TILE) // shares of a dot product of the output layer
#define TARGETS ((TILE * OUTPUTS + ITEMS - 1) / ITEMS) // of a work-item
#define INPUT_CHUNK (INPUTS % CHUNK == 0 ? CHUNK : 4) // rows of the first layer's W
#define STAGE_ROW (CHUNK + 4)
#define STAGE (WIDTH * STAGE_ROW > ITEMS * OUTPUTS ? WIDTH * STAGE_ROW : ITEMS * OUTPUTS)

// Four neighbours at once. Unlike vload4, which promises only the alignment of an element and becomes four
// loads on NVIDIA, these are one. Rows of tiles, parameters and shares all start at multiples of four.
#define LOCAL2(p) (*(local REAL2 *)(p))
#define CONST2(p) (*(global const REAL2 *)(p))
#define LOCAL4(p) (*(local REAL4 *)(p))
#define CONST4(p) (*(global const REAL4 *)(p))
#define GLOBAL4(p) (*(global REAL4 *)(p))

#if TILE < 32
#define COLUMNS 2
#define UNITS REAL2
#define CONST_UNITS CONST2
#define LOCAL_UNITS LOCAL2
#else
#define COLUMNS 4
#define UNITS REAL4
#define CONST_UNITS CONST4
#define LOCAL_UNITS LOCAL4
#endif

// out[s][j] = f(Σ_k in[s][k]·w[k*WIDTH + j] + b[j]): a work-item makes SAMPLES samples by COLUMNS neighbours j.
static void forward_layer(local REAL (*in)[ROW], local REAL (*out)[ROW], global const REAL *w, global const REAL *b,
                          int fan_in, int lid) {
    for (int e = lid; e < TILE / SAMPLES * (WIDTH / COLUMNS); e += ITEMS) {
        const int j = e % (WIDTH / COLUMNS) * COLUMNS, s = e / (WIDTH / COLUMNS) * SAMPLES;
        UNITS z[SAMPLES];
        for (int r = 0; r < SAMPLES; r++) z[r] = CONST_UNITS(b + j);
#pragma unroll 8
        for (int k = 0; k < fan_in; k += 4) {
            global const REAL *wk = w + k * WIDTH + j;
            const UNITS w0 = CONST_UNITS(wk), w1 = CONST_UNITS(wk + WIDTH), w2 = CONST_UNITS(wk + 2 * WIDTH), w3 = CONST_UNITS(wk + 3 * WIDTH);
            for (int r = 0; r < SAMPLES; r++) {
                const REAL4 x = LOCAL4(&in[s + r][k]);
                z[r] = fma((UNITS)(x.s3), w3, fma((UNITS)(x.s2), w2, fma((UNITS)(x.s1), w1, fma((UNITS)(x.s0), w0, z[r]))));
            }
        }
        for (int r = 0; r < SAMPLES; r++) LOCAL_UNITS(&out[s + r][j]) = select(z[r] * (REAL)SLOPE, z[r], z[r] > (UNITS)0);
    }
}

#if WIDTH * WIDTH >= 32 * ITEMS
#define GRAD_ROWS 8 // of a work-item's block of the weight gradient, which is 4 wide
#else
#define GRAD_ROWS 4
#endif

// part[i*WIDTH + j] (+)= Σ_s h[s][i]·d[s][j]: a work-item makes GRAD_ROWS by 4.
static void weight_gradient(local REAL (*h)[ROW], local REAL (*d)[ROW], global REAL *part, int fan_in, int add, int lid) {
    for (int e = lid; e < (fan_in + GRAD_ROWS - 1) / GRAD_ROWS * (WIDTH / 4); e += ITEMS) {
        const int j = e % (WIDTH / 4) * 4, i = e / (WIDTH / 4) * GRAD_ROWS;
        REAL4 a[GRAD_ROWS];
        for (int r = 0; r < GRAD_ROWS; r++) a[r] = 0;
#pragma unroll 8
        for (int s = 0; s < TILE; s++) {
            const REAL4 ds = LOCAL4(&d[s][j]);
            for (int r = 0; r < GRAD_ROWS; r += 4) {
                const REAL4 hs = LOCAL4(&h[s][i + r]);
                a[r] = fma((REAL4)(hs.s0), ds, a[r]);
                a[r + 1] = fma((REAL4)(hs.s1), ds, a[r + 1]);
                a[r + 2] = fma((REAL4)(hs.s2), ds, a[r + 2]);
                a[r + 3] = fma((REAL4)(hs.s3), ds, a[r + 3]);
            }
        }
        global REAL *p = part + i * WIDTH + j;
        for (int r = 0; r < GRAD_ROWS; r++) {
            if (i + r < fan_in) GLOBAL4(p + r * WIDTH) = add ? GLOBAL4(p + r * WIDTH) + a[r] : a[r];
        }
    }
}

// Rows [k0, k0+rows) of w [, WIDTH], at most CHUNK, transposed: stage[j*STAGE_ROW + k] = w[(k0 + k)*WIDTH + j].
static void stage_rows(local REAL *stage, global const REAL *w, int k0, int rows, int lid) {
    for (int e = lid; e < rows * WIDTH; e += ITEMS) {
        stage[e % WIDTH * STAGE_ROW + e / WIDTH] = w[k0 * WIDTH + e];
    }
}

// h[s][k] = f'(h[s][k])·Σ_j d[s][j]·w[k][j] for the staged rows k0…, in place: a work-item makes BACK samples
// by 4 neighbours k. slope is that of f where h is not positive. Always inline: LLVM 15 crashes
// while it weighs whether to.
static __attribute__((always_inline)) void backward_chunk(local REAL (*d)[ROW], local REAL (*h)[ROW],
                                                          local const REAL *stage, int k0, int rows, REAL slope, int lid) {
    for (int e = lid; e < TILE / BACK * (rows / 4); e += ITEMS) {
        const int k = e % (rows / 4) * 4, s = e / (rows / 4) * BACK;
        REAL4 a[BACK];
        for (int r = 0; r < BACK; r++) a[r] = 0;
#pragma unroll 8
        for (int j = 0; j < WIDTH; j += 4) {
            local const REAL *w = stage + j * STAGE_ROW + k;
            const REAL4 w0 = LOCAL4(w), w1 = LOCAL4(w + STAGE_ROW), w2 = LOCAL4(w + 2 * STAGE_ROW), w3 = LOCAL4(w + 3 * STAGE_ROW);
            for (int r = 0; r < BACK; r++) {
                const REAL4 ds = LOCAL4(&d[s + r][j]);
                a[r] = fma((REAL4)(ds.s3), w3, fma((REAL4)(ds.s2), w2, fma((REAL4)(ds.s1), w1, fma((REAL4)(ds.s0), w0, a[r]))));
            }
        }
        for (int r = 0; r < BACK; r++) {
            const REAL4 on = LOCAL4(&h[s + r][k0 + k]);
            LOCAL4(&h[s + r][k0 + k]) = select(a[r] * slope, a[r], on > (REAL4)0);
        }
    }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_loss(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n GET_PARAMS) {
    local REAL h[LAYERS + 1][TILE][ROW] __attribute__((aligned(32))); // the activations; from the top down they become gradients
    local REAL stage[STAGE] __attribute__((aligned(32)));
    local REAL dz[TILE][OUTPUTS];
    GET_LOCALS
    const int lid = get_local_id(0), g = get_group_id(0), groups = get_num_groups(0);
    global const REAL *w = W + W_off;
    global REAL *part = PART + PART_off + g * SIZE;
    REAL loss = 0;

    const long tiles = (n + TILE - 1) / TILE;
    const int from = tiles * g / groups, to = tiles * (g + 1) / groups;
    for (int tile = from; tile < to; tile++) {
        const int base = tile * TILE, first = tile == from;
        REAL target[TARGETS]; // of the errors of this work-item: on their way while the layers are computed
#pragma unroll
        for (int k = 0; k < TARGETS; k++) {
            const int e = lid + k * ITEMS, s = e / OUTPUTS, o = e % OUTPUTS;
            target[k] = s < TILE && base + s < n ? GET_T(base + s, o) : 0;
        }
        GET_FILL
        for (int e = lid; e < TILE * ROW; e += ITEMS) { // past the inputs: zeros, which the last i reads
            const int s = e / ROW, i = e % ROW;
            h[0][s][i] = base + s < n && i < INPUTS ? GET_X(of_x[s], base + s, i) : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int l = 0; l < LAYERS; l++) {
            forward_layer(h[l], h[l + 1], w + WEIGHTS(l), w + BIAS(l), FAN_IN(l), lid);
            barrier(CLK_LOCAL_MEM_FENCE);
        }

        // The output layer: PARTS work-items share a sample's dot products.
        global const REAL *wo = w + WEIGHTS(LAYERS);
        {
            const int s = lid / PARTS, p = lid % PARTS;
            REAL z[OUTPUTS];
            for (int o = 0; o < OUTPUTS; o++) z[o] = 0;
            for (int k = p; k < WIDTH; k += PARTS) {
                const REAL hk = h[LAYERS][s][k];
                for (int o = 0; o < OUTPUTS; o++) z[o] = fma(hk, wo[k * OUTPUTS + o], z[o]);
            }
            for (int o = 0; o < OUTPUTS; o++) stage[lid * OUTPUTS + o] = z[o];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < TARGETS; k++) {
            const int e = lid + k * ITEMS, s = e / OUTPUTS, o = e % OUTPUTS;
            if (s >= TILE) break;
            REAL z = 0;
            for (int p = 0; p < PARTS; p++) z += stage[(s * PARTS + p) * OUTPUTS + o];
            const REAL error = base + s < n ? z - target[k] : 0;
            loss += LOSS_OF(error);
            dz[s][o] = LOSS_SLOPE(error);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int e = lid; e < WIDTH * OUTPUTS; e += ITEMS) {
            const int k = e / OUTPUTS, o = e % OUTPUTS;
            REAL a = 0;
            for (int s = 0; s < TILE; s++) a = fma(h[LAYERS][s][k], dz[s][o], a);
            global REAL *p = part + WEIGHTS(LAYERS) + e;
            *p = first ? a : *p + a;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int e = lid; e < TILE * WIDTH; e += ITEMS) {
            const int s = e / WIDTH, k = e % WIDTH;
            REAL a = 0;
            for (int o = 0; o < OUTPUTS; o++) a = fma(dz[s][o], wo[k * OUTPUTS + o], a);
            h[LAYERS][s][k] = h[LAYERS][s][k] > 0 ? a : a * (REAL)SLOPE;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        // h[l+1] is now the gradient of layer l's sum, and h[l] becomes that of the layer below.
        for (int l = LAYERS - 1; l >= 0; l--) {
            local REAL (*now)[ROW] = h[l + 1];
            weight_gradient(h[l], now, part + WEIGHTS(l), FAN_IN(l), !first, lid);
            for (int j = lid; j < WIDTH; j += ITEMS) {
                REAL a = 0;
                for (int s = 0; s < TILE; s++) a += now[s][j];
                global REAL *p = part + BIAS(l) + j;
                *p = first ? a : *p + a;
            }
            if (l == 0) break;
            for (int k0 = 0; k0 < WIDTH; k0 += CHUNK) {
                stage_rows(stage, w + WEIGHTS(l), k0, CHUNK, lid);
                barrier(CLK_LOCAL_MEM_FENCE);
                backward_chunk(now, h[l], stage, k0, CHUNK, SLOPE, lid);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
#ifdef INPUT_GRAD
        for (int k0 = 0; k0 < INPUTS; k0 += INPUT_CHUNK) {
            stage_rows(stage, w, k0, INPUT_CHUNK, lid);
            barrier(CLK_LOCAL_MEM_FENCE);
            backward_chunk(h[1], h[0], stage, k0, INPUT_CHUNK, 1, lid);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (int e = lid; e < TILE * INPUTS; e += ITEMS) {
            if (base + e / INPUTS < n) DX[DX_off + base * INPUTS + e] = h[0][e / INPUTS][e % INPUTS];
        }
#endif
        barrier(CLK_LOCAL_MEM_FENCE); // h[0] is loaded again
    }

    stage[lid] = loss;
    for (int span = ITEMS / 2; span > 0; span >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) stage[lid] += stage[lid + span];
    }
    if (lid == 0) LOSS[LOSS_off + g] = stage[0];
}
