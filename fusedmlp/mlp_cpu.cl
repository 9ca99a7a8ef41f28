// @depends: common, vector, mlp, pairwise
// A whole training step of a small perceptron in one launch, for CPUs. mlp.cl says what it computes and how W,
// PART and LOSS lie in memory.
//
// One work-item per work-group, as in gemm_cpu.cl. A work-group takes its samples TILE at a time: small enough
// for activations and gradients to stay in the second-level cache, large enough to amortise loading and storing
// the sums of the weight gradients.

#ifndef TILE
#define TILE 96 // samples: a multiple of MR
#endif
#define MR 6 // rows of a micro-kernel: 6 by 4 vectors fill the registers of AVX-512
#if WIDTH % 64 == 0
#define WIDE 4 // vectors of 16 that a micro-kernel makes at once
#elif WIDTH % 32 == 0
#define WIDE 2
#else
#define WIDE 1
#endif

// acc[r][v] += Σ_k a[r*row + k*step]·b[k*WIDTH + 16v …], k in 0:count. Every pass of this file is one.
#define MICRO_BODY                                                                                     \
    for (int k = 0; k < count; k++) {                                                                  \
        REAL16 bk[WIDE];                                                                               \
        _Pragma("unroll") for (int v = 0; v < WIDE; v++) bk[v] = vload16(v, b + k * WIDTH);            \
        _Pragma("unroll") for (int r = 0; r < MR; r++) {                                               \
            const REAL16 x = (REAL16)(a[r * row + k * step]);                                          \
            _Pragma("unroll") for (int v = 0; v < WIDE; v++) acc[r][v] = fma(x, bk[v], acc[r][v]);     \
        }                                                                                              \
    }

// out[s][j] = f(Σ_k in[s][k]·w[k*WIDTH + j] + bias[j]), s in 0:TILE.
static void forward_layer(const REAL *in, REAL *out, global const REAL *w, global const REAL *bias, int count, int row) {
    const int step = 1;
    for (int j = 0; j < WIDTH; j += 16 * WIDE) {
        for (int s = 0; s < TILE; s += MR) {
            const REAL *a = in + s * row;
            global const REAL *b = w + j;
            REAL16 acc[MR][WIDE];
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < WIDE; v++) acc[r][v] = vload16(v, bias + j);
            MICRO_BODY
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < WIDE; v++) {
                    const REAL16 z = acc[r][v];
                    vstore16(z > (REAL16)0 ? z : z * (REAL)SLOPE, v, out + (s + r) * WIDTH + j);
                }
        }
    }
}

// out[s][k] = f'(h[s][k])·Σ_j d[s][j]·wt[j*WIDTH + k]; wt is the transpose of a layer's weights.
static void backward_layer(const REAL *d, REAL *out, const REAL *h, const REAL *wt) {
    const int step = 1, row = WIDTH, count = WIDTH;
    for (int j = 0; j < WIDTH; j += 16 * WIDE) {
        for (int s = 0; s < TILE; s += MR) {
            const REAL *a = d + s * WIDTH, *b = wt + j;
            REAL16 acc[MR][WIDE];
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < WIDE; v++) acc[r][v] = 0;
            MICRO_BODY
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < WIDE; v++) {
                    const REAL16 on = vload16(v, h + (s + r) * WIDTH + j), z = acc[r][v];
                    vstore16(on > (REAL16)0 ? z : z * (REAL)SLOPE, v, out + (s + r) * WIDTH + j);
                }
        }
    }
}

// part[i*WIDTH + j] (+)= Σ_s h[s][i]·d[s][j]. Rows i past the last repeat it; their results are dropped.
static void weight_gradient(const REAL *h, const REAL *d, global REAL *part, int fan_in, int add) {
    const int step = fan_in, count = TILE;
    for (int j = 0; j < WIDTH; j += 16 * WIDE) {
        for (int i = 0; i < fan_in; i += MR) {
            const int back = max(i + MR - fan_in, 0), row = 1; // the last block overlaps the one before
            const REAL *a = h + i - back, *b = d + j;
            REAL16 acc[MR][WIDE];
            _Pragma("unroll") for (int r = 0; r < MR; r++)
                _Pragma("unroll") for (int v = 0; v < WIDE; v++) acc[r][v] = 0;
            MICRO_BODY
            _Pragma("unroll") for (int r = 0; r < MR; r++) {
                if (r < back) continue;
                _Pragma("unroll") for (int v = 0; v < WIDE; v++) {
                    global REAL *p = part + (i - back + r) * WIDTH + j;
                    vstore16(add ? vload16(v, p) + acc[r][v] : acc[r][v], v, p);
                }
            }
        }
    }
}

#define PADDED ((INPUTS + 15) / 16 * 16)

// dx[s][i] = Σ_j d[s][j]·wt[j*PADDED + i] for the first live samples; wt is the transpose of the first layer's
// weights, padded.
static void input_gradient(const REAL *d, const REAL *wt, global REAL *dx, int live) {
    for (int s = 0; s < TILE; s += MR) {
        for (int i = 0; i < PADDED; i += 16) {
            REAL16 acc[MR];
            _Pragma("unroll") for (int r = 0; r < MR; r++) acc[r] = 0;
            for (int j = 0; j < WIDTH; j++) {
                const REAL16 w = vload16(0, wt + j * PADDED + i);
                _Pragma("unroll") for (int r = 0; r < MR; r++) acc[r] = fma((REAL16)(d[(s + r) * WIDTH + j]), w, acc[r]);
            }
            REAL part[MR][16];
            _Pragma("unroll") for (int r = 0; r < MR; r++) vstore16(acc[r], 0, part[r]);
            for (int r = 0; r < MR && s + r < live; r++) {
                for (int k = 0; k < 16 && i + k < INPUTS; k++) dx[(s + r) * INPUTS + i + k] = part[r][k];
            }
        }
    }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_mlp_loss(IN(X), IN(T), IN(W), OUT(PART), OUT(LOSS), OUT(DX), int n) {
    REAL x[TILE * INPUTS], h[LAYERS][TILE * WIDTH], d[2][TILE * WIDTH];
    REAL wt[LAYERS][WIDTH * WIDTH], wo[OUTPUTS * WIDTH], dwo[OUTPUTS * WIDTH];
    const int g = get_group_id(0), groups = get_num_groups(0);
    const long blocks = (n + BLOCK - 1) / BLOCK;
    const int from = blocks * g / groups * BLOCK, to = min((long)n, blocks * (g + 1) / groups * BLOCK);
    global const REAL *w = W + W_off;
    global REAL *part = PART + PART_off + g * SIZE;
    REAL losses = 0, levels[PAIR_LEVELS]; // of all tiles so far
    int tiles = 0;

    for (int l = 1; l < LAYERS; l++) {
        for (int k = 0; k < WIDTH; k++) {
            for (int j = 0; j < WIDTH; j++) wt[l][j * WIDTH + k] = w[WEIGHTS(l) + k * WIDTH + j];
        }
    }
#ifdef INPUT_GRAD
    REAL w0[WIDTH * PADDED];
    for (int i = 0; i < PADDED; i++) {
        for (int j = 0; j < WIDTH; j++) w0[j * PADDED + i] = i < INPUTS ? w[i * WIDTH + j] : 0;
    }
#endif
    for (int k = 0; k < WIDTH; k++) {
        for (int o = 0; o < OUTPUTS; o++) {
            wo[o * WIDTH + k] = w[WEIGHTS(LAYERS) + k * OUTPUTS + o];
        }
    }

    for (int base = from; base < to; base += TILE) {
        const int live = min(TILE, to - base), add = base > from;
        REAL loss = 0;
        for (int i = 0; i < live * INPUTS; i++) x[i] = X[X_off + base * INPUTS + i];
        for (int i = live * INPUTS; i < TILE * INPUTS; i++) x[i] = 0;
        forward_layer(x, h[0], w, w + BIAS(0), INPUTS, INPUTS);
        for (int l = 1; l < LAYERS; l++) forward_layer(h[l - 1], h[l], w + WEIGHTS(l), w + BIAS(l), WIDTH, WIDTH);

        // The output layer and its gradients, sample by sample.
        for (int i = 0; i < OUTPUTS * WIDTH; i++) dwo[i] = 0;
        for (int s = 0; s < TILE; s++) {
            const REAL *top = h[LAYERS - 1] + s * WIDTH;
            REAL16 down[WIDTH / 16];
            for (int v = 0; v < WIDTH / 16; v++) down[v] = 0;
            for (int o = 0; o < OUTPUTS && s < live; o++) {
                REAL16 z = 0;
                for (int v = 0; v < WIDTH / 16; v++) z = fma(vload16(v, top), vload16(v, wo + o * WIDTH), z);
                const REAL error = sum16(z) - T[T_off + (base + s) * OUTPUTS + o];
                loss += LOSS_OF(error);
                const REAL16 dz = (REAL16)(LOSS_SLOPE(error));
                for (int v = 0; v < WIDTH / 16; v++) {
                    down[v] = fma(dz, vload16(v, wo + o * WIDTH), down[v]);
                    vstore16(fma(dz, vload16(v, top), vload16(v, dwo + o * WIDTH)), v, dwo + o * WIDTH);
                }
            }
            for (int v = 0; v < WIDTH / 16; v++) {
                vstore16(vload16(v, top) > (REAL16)0 ? down[v] : down[v] * (REAL)SLOPE, v, d[0] + s * WIDTH);
            }
        }

        for (int k = 0; k < WIDTH; k++) {
            for (int o = 0; o < OUTPUTS; o++) {
                global REAL *p = part + WEIGHTS(LAYERS) + k * OUTPUTS + o;
                *p = add ? *p + dwo[o * WIDTH + k] : dwo[o * WIDTH + k];
            }
        }

        for (int l = LAYERS - 1, now = 0; l >= 0; l--, now ^= 1) {
            weight_gradient(l == 0 ? x : h[l - 1], d[now], part + WEIGHTS(l), FAN_IN(l), add);
            for (int v = 0; v < WIDTH / 16; v++) {
                REAL16 b = 0;
                for (int s = 0; s < TILE; s++) b += vload16(v, d[now] + s * WIDTH);
                vstore16(add ? vload16(v, part + BIAS(l)) + b : b, v, part + BIAS(l));
            }
            if (l > 0) backward_layer(d[now], d[now ^ 1], h[l - 1], wt[l]);
#ifdef INPUT_GRAD
            else input_gradient(d[now], w0, DX + DX_off + base * INPUTS, live);
#endif
        }
        losses += loss;
        tiles++;
        PAIRWISE(losses, levels, tiles);
    }
    PAIRWISE_END(losses, levels, tiles);
    LOSS[LOSS_off + g] = losses;
}
