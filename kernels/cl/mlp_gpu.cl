// @depends: common, mlp
// A whole training pass of a small perceptron in one launch, for GPUs: forward, loss, backward, and partial
// gradients of the weights. mlp.cl says what it computes and how W, PART and LOSS lie in memory.
//
// All activations of a tile of samples stay in local memory. Samples past n count as zeros with a gradient of
// zero. After the single-kernel design of Müller et al., tiny-cuda-nn, in single precision and without atomics.

#ifndef CHUNK
#define CHUNK 32 // rows of W staged at once: a divisor of WIDTH
#endif
#define TILE BLOCK // samples in local memory at once
#define SAMPLES (TILE / 4) // of a work-item in the forward layers
#define ITEMS 128 // work-items of a group, a multiple of TILE
#define WIDEST (INPUTS > WIDTH ? INPUTS : WIDTH)
#define ROW (WIDEST + 4) // of a tile: four more than the widest layer, against bank conflicts
#define PARTS (ITEMS / TILE) // shares of a dot product of the output layer
#define STAGE (CHUNK * (WIDTH + 1) > ITEMS * OUTPUTS ? CHUNK * (WIDTH + 1) : ITEMS * OUTPUTS)

// Four neighbours at once. Unlike vload4, which promises only the alignment of an element and becomes four
// loads on NVIDIA, these are one. Rows of tiles, parameters and shares all start at multiples of four.
#define LOCAL2(p) (*(local REAL2 *)(p))
#define CONST2(p) (*(global const REAL2 *)(p))
#define LOCAL4(p) (*(local REAL4 *)(p))
#define CONST4(p) (*(global const REAL4 *)(p))
#define GLOBAL4(p) (*(global REAL4 *)(p))

// out[s][j] = f(Σ_k in[s][k]·w[k*WIDTH + j] + b[j]): a work-item makes SAMPLES samples by 2 neighbours j, so
// that a warp reads every weight once.
static void forward_layer(local REAL (*in)[ROW], local REAL (*out)[ROW], global const REAL *w, global const REAL *b,
                          int fan_in, int lid) {
    for (int e = lid; e < TILE / SAMPLES * (WIDTH / 2); e += ITEMS) {
        const int j = e % (WIDTH / 2) * 2, s = e / (WIDTH / 2) * SAMPLES;
        REAL2 z[SAMPLES];
        for (int r = 0; r < SAMPLES; r++) z[r] = CONST2(b + j);
#pragma unroll 4
        for (int k = 0; k < fan_in; k += 4) {
            global const REAL *wk = w + k * WIDTH + j;
            const REAL2 w0 = CONST2(wk), w1 = CONST2(wk + WIDTH), w2 = CONST2(wk + 2 * WIDTH), w3 = CONST2(wk + 3 * WIDTH);
            for (int r = 0; r < SAMPLES; r++) {
                const REAL4 x = LOCAL4(&in[s + r][k]);
                z[r] = fma((REAL2)(x.s3), w3, fma((REAL2)(x.s2), w2, fma((REAL2)(x.s1), w1, fma((REAL2)(x.s0), w0, z[r]))));
            }
        }
        for (int r = 0; r < SAMPLES; r++) LOCAL2(&out[s + r][j]) = select(z[r] * (REAL)SLOPE, z[r], z[r] > (REAL2)0);
    }
}

// part[i*WIDTH + j] (+)= Σ_s h[s][i]·d[s][j]: a work-item makes 4 by 4.
static void weight_gradient(local REAL (*h)[ROW], local REAL (*d)[ROW], global REAL *part, int fan_in, int add, int lid) {
    for (int e = lid; e < (fan_in + 3) / 4 * (WIDTH / 4); e += ITEMS) {
        const int j = e % (WIDTH / 4) * 4, i = e / (WIDTH / 4) * 4;
        REAL4 a0 = 0, a1 = 0, a2 = 0, a3 = 0;
#pragma unroll 4
        for (int s = 0; s < TILE; s++) {
            const REAL4 hs = LOCAL4(&h[s][i]), ds = LOCAL4(&d[s][j]);
            a0 = fma((REAL4)(hs.s0), ds, a0);
            a1 = fma((REAL4)(hs.s1), ds, a1);
            a2 = fma((REAL4)(hs.s2), ds, a2);
            a3 = fma((REAL4)(hs.s3), ds, a3);
        }
        global REAL *p = part + i * WIDTH + j;
        GLOBAL4(p) = add ? GLOBAL4(p) + a0 : a0;
        if (i + 1 < fan_in) GLOBAL4(p + WIDTH) = add ? GLOBAL4(p + WIDTH) + a1 : a1;
        if (i + 2 < fan_in) GLOBAL4(p + 2 * WIDTH) = add ? GLOBAL4(p + 2 * WIDTH) + a2 : a2;
        if (i + 3 < fan_in) GLOBAL4(p + 3 * WIDTH) = add ? GLOBAL4(p + 3 * WIDTH) + a3 : a3;
    }
}

// Rows [k0, k0+CHUNK) of w [WIDTH, WIDTH] into stage, rows WIDTH+1 apart: columns of it are read without
// bank conflicts.
static void stage_rows(local REAL *stage, global const REAL *w, int k0, int lid) {
    for (int e = lid; e < CHUNK * WIDTH; e += ITEMS) {
        stage[e / WIDTH * (WIDTH + 1) + e % WIDTH] = w[k0 * WIDTH + e];
    }
}

// out[s][k] = f'(h[s][k])·Σ_j d[s][j]·w[k][j] for the staged rows k0…: a work-item makes 4 samples by 1 k.
static void backward_chunk(local REAL (*d)[ROW], local REAL (*out)[ROW], local REAL (*h)[ROW], local const REAL *stage,
                           int k0, int lid) {
    for (int e = lid; e < TILE / 4 * CHUNK; e += ITEMS) {
        const int k = e % CHUNK, s = e / CHUNK * 4;
        local const REAL *w = stage + k * (WIDTH + 1);
        REAL a0 = 0, a1 = 0, a2 = 0, a3 = 0;
#pragma unroll 4
        for (int j = 0; j < WIDTH; j += 4) {
            const REAL4 d0 = LOCAL4(&d[s][j]), d1 = LOCAL4(&d[s + 1][j]);
            const REAL4 d2 = LOCAL4(&d[s + 2][j]), d3 = LOCAL4(&d[s + 3][j]);
            const REAL w0 = w[j], w1 = w[j + 1], w2 = w[j + 2], w3 = w[j + 3];
            a0 = fma(d0.s3, w3, fma(d0.s2, w2, fma(d0.s1, w1, fma(d0.s0, w0, a0))));
            a1 = fma(d1.s3, w3, fma(d1.s2, w2, fma(d1.s1, w1, fma(d1.s0, w0, a1))));
            a2 = fma(d2.s3, w3, fma(d2.s2, w2, fma(d2.s1, w1, fma(d2.s0, w0, a2))));
            a3 = fma(d3.s3, w3, fma(d3.s2, w2, fma(d3.s1, w1, fma(d3.s0, w0, a3))));
        }
        out[s][k0 + k] = h[s][k0 + k] > 0 ? a0 : a0 * (REAL)SLOPE;
        out[s + 1][k0 + k] = h[s + 1][k0 + k] > 0 ? a1 : a1 * (REAL)SLOPE;
        out[s + 2][k0 + k] = h[s + 2][k0 + k] > 0 ? a2 : a2 * (REAL)SLOPE;
        out[s + 3][k0 + k] = h[s + 3][k0 + k] > 0 ? a3 : a3 * (REAL)SLOPE;
    }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_mlp_loss(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), int n) {
    local REAL h[LAYERS + 1][TILE][ROW] __attribute__((aligned(32))); // the activations; from the top down they become gradients
    local REAL d[TILE][ROW] __attribute__((aligned(32)));
    local REAL stage[STAGE];
    local REAL dz[TILE][OUTPUTS];
    const int lid = get_local_id(0), g = get_group_id(0), groups = get_num_groups(0);
    global const REAL *w = W + W_off;
    global REAL *part = PART + PART_off + g * SIZE;
    REAL loss = 0;

    const long tiles = (n + TILE - 1) / TILE;
    const int from = tiles * g / groups, to = tiles * (g + 1) / groups;
    for (int tile = from; tile < to; tile++) {
        const int base = tile * TILE, first = tile == from;
        for (int e = lid; e < TILE * ROW; e += ITEMS) { // past the inputs: zeros, which the last i reads
            const int s = e / ROW, i = e % ROW;
            h[0][s][i] = base + s < n && i < INPUTS ? X[X_off + (base + s) * INPUTS + i] : 0;
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
        for (int e = lid; e < TILE * OUTPUTS; e += ITEMS) {
            const int s = e / OUTPUTS, o = e % OUTPUTS;
            REAL z = 0;
            for (int p = 0; p < PARTS; p++) z += stage[(s * PARTS + p) * OUTPUTS + o];
            const REAL error = base + s < n ? z - T[T_off + (base + s) * OUTPUTS + o] : 0;
            loss = fma(error, error, loss);
            dz[s][o] = 2 * error;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int e = lid; e < WIDTH * OUTPUTS; e += ITEMS) {
            const int k = e / OUTPUTS, o = e % OUTPUTS;
            REAL a = 0;
            for (int s = 0; s < TILE; s++) a = fma(h[LAYERS][s][k], dz[s][o], a);
            global REAL *p = part + WEIGHTS(LAYERS) + e;
            *p = first ? a : *p + a;
        }
        for (int e = lid; e < TILE * WIDTH; e += ITEMS) {
            const int s = e / WIDTH, k = e % WIDTH;
            REAL a = 0;
            for (int o = 0; o < OUTPUTS; o++) a = fma(dz[s][o], wo[k * OUTPUTS + o], a);
            d[s][k] = h[LAYERS][s][k] > 0 ? a : a * (REAL)SLOPE;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        // d is the gradient of layer l's sum; h[l+1] is free to take that of the layer below.
        for (int l = LAYERS - 1; l >= 0; l--) {
            local REAL (*now)[ROW] = l == LAYERS - 1 ? d : h[l + 2];
            weight_gradient(h[l], now, part + WEIGHTS(l), FAN_IN(l), !first, lid);
            for (int j = lid; j < WIDTH; j += ITEMS) {
                REAL a = 0;
                for (int s = 0; s < TILE; s++) a += now[s][j];
                global REAL *p = part + BIAS(l) + j;
                *p = first ? a : *p + a;
            }
            if (l == 0) break;
            for (int k0 = 0; k0 < WIDTH; k0 += CHUNK) {
                stage_rows(stage, w + WEIGHTS(l), k0, lid);
                barrier(CLK_LOCAL_MEM_FENCE);
                backward_chunk(now, h[l + 1], h[l], stage, k0, lid);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE); // h[0] is loaded anew
    }

    stage[lid] = loss;
    for (int span = ITEMS / 2; span > 0; span >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) stage[lid] += stage[lid + span];
    }
    if (lid == 0) LOSS[LOSS_off + g] = stage[0];
}
