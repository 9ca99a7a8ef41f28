// @depends: common, convolution, memory, epilogue
// Convolutions for GPUs as matrix products of which one operand is gathered on the way: see convolution.cl for what is
// computed. The tiles are those of gemm_gpu.cl: a work-group stages TK steps of the sum in local memory while its
// work-items accumulate WM×WN elements each from the steps before, in two buffers. Where few rows make few tiles, SPLIT
// times as many work-items share the steps of each stage, and add their sums up at the end. The order of a sum is fixed.

#ifndef TM
#define TM 64 // rows of the tile, a multiple of 4·WM
#endif
#ifndef TN
#define TN 64 // columns of the tile, a multiple of 8·WN
#endif
#ifndef TK
#define TK 16 // steps of the sum staged at once
#endif
#ifndef WM
#define WM 4 // rows per work-item, a multiple of 4
#endif
#ifndef WN
#define WN 4 // columns per work-item, a multiple of 4
#endif
#ifndef SPLIT
#define SPLIT 1 // work-items that share an element, of which 2·TK·(TN + 4) hold a tile
#endif
#define WARPS_N (TN / (8 * WN))
#define TILE_ITEMS (TM / WM * (TN / WN))
#define ITEMS (SPLIT * TILE_ITEMS) // a multiple of TN and of 2·TK
#define LOADS_A (TM * TK / ITEMS)   // of a work-item for each tile
#define LOADS_B (TN * TK / ITEMS)
#define ROW_A (TM + 4) // of a staged tile: aligned, and not on one bank
#define ROW_B (TN + 4)

// Adds the products of a staged tile.
#define MULTIPLY(now)                                                                       \
    _Pragma("unroll") for (int k = 0; k < TK / SPLIT; k++) {                                \
        REAL4 b[WN / 4];                                                                    \
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++)                                  \
            b[c] = *(local REAL4 *)&bs[now][from_k + k][tj + 32 * c];                       \
        _Pragma("unroll") for (int r = 0; r < WM / 4; r++) {                                \
            const REAL4 a = *(local REAL4 *)&as[now][from_k + k][ti + 16 * r];              \
            _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {                            \
                acc[4 * r][c] = fma((REAL4)(a.s0), b[c], acc[4 * r][c]);                    \
                acc[4 * r + 1][c] = fma((REAL4)(a.s1), b[c], acc[4 * r + 1][c]);            \
                acc[4 * r + 2][c] = fma((REAL4)(a.s2), b[c], acc[4 * r + 2][c]);            \
                acc[4 * r + 3][c] = fma((REAL4)(a.s3), b[c], acc[4 * r + 3][c]);            \
            }                                                                               \
        }                                                                                   \
    }

// Sums over `steps`: what FETCH gets from memory, STORE puts into one buffer while the products of the other are added.
// LIST writes the tables of the next ITEMS steps, one of each work-item, long before FETCH reads them. There are
// two or more stages in as many.
#define LISTED (2 * ITEMS)
#define ACCUMULATE(steps)                                                                   \
    LIST(0)                                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                           \
    FETCH(0)                                                                                \
    STORE(0)                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                           \
    for (int from = 0, now = 0; from < (steps); from += TK) {                               \
        const int more = from + TK < (steps);                                               \
        if (from % ITEMS == 0 && from + ITEMS < (steps)) { LIST(from + ITEMS) }             \
        if (more) FETCH((from + TK) % LISTED)                                               \
        MULTIPLY(now)                                                                       \
        ALSO(now)                                                                           \
        now ^= 1;                                                                           \
        if (more) { STORE(now) }                                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                       \
    }

// Whether a position and a tap meet within the input. Commonly a position knows by a bit for each tap of each axis which
// taps it has, and a tap has its bit of each axis. A bit that no position has marks what is outside of the sum.
#ifndef FAR
typedef uint place;
#define OUTSIDE 0x80000000u // a tap
#define NOWHERE 0u          // a position
#define MEET(at, tap) (((tap) & ~(at)) == 0)

static place tap_at(axis z, axis y, axis x, int jz, int jy, int jx) {
    return 1u << jz | 1u << (z.taps + jy) | 1u << (z.taps + y.taps + jx);
}

// The bits, from the first on, of the taps of an axis that position q of it has within a size.
static uint bits_of(axis a, int q, int size, int first) {
    uint bits = 0;
    for (int j = 0; j < a.taps; j++) bits |= (uint)(q * a.stride + a.shift + j * a.step) < (uint)size ? 1u << (first + j) : 0;
    return bits;
}

static place position_at(axis z, axis y, axis x, int qz, int qy, int qx, int rz, int ry, int rx) {
    return bits_of(z, qz, rz, 0) | bits_of(y, qy, ry, z.taps) | bits_of(x, qx, rx, z.taps + y.taps);
}
#else // the axes have more than 31 taps
typedef int4 place;
#define OUTSIDE (int4)(INT_MIN / 2)
#define NOWHERE (int4)(INT_MIN / 2)
#define MEET(at, tap) \
    ((uint)((at).s0 + (tap).s0) < (uint)rz && (uint)((at).s1 + (tap).s1) < (uint)ry && (uint)((at).s2 + (tap).s2) < (uint)rx)

static place tap_at(axis z, axis y, axis x, int jz, int jy, int jx) { return (int4)(jz * z.step, jy * y.step, jx * x.step, 0); }

static place position_at(axis z, axis y, axis x, int qz, int qy, int qx, int rz, int ry, int rx) {
    return (int4)(qz * z.stride + z.shift, qy * y.stride + y.shift, qx * x.stride + x.shift, 0);
}
#endif

// n/d for 0 ≤ n < 2²¹, by the reciprocal of d.
static int divided(int n, float reciprocal) { return (int)((n + 0.5f) * reciprocal); }

// Y from X and W, or with `transposed` X from Y and W: then X names what is read, and Y what is written. Rows of the tile
// are channels of a group, columns are positions of all images. rows and cols serve the CPU variant only.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_conv_output(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), CONV_PARAMS, int transposed,
                   int biased, int rows, int cols PUT_PARAMS) {
    local REAL as[2][TK][ROW_A] __attribute__((aligned(32))), bs[2][TK][ROW_B] __attribute__((aligned(32)));
    local place met[LISTED]; // of the steps: the tap, and where its element of the input and its weight are
    local int2 where[LISTED];
    const int lid = get_local_id(0), part = lid / TILE_ITEMS, warp = lid % TILE_ITEMS / 32, lane = lid % 32, phase = get_group_id(2);
    const int from_k = part * (TK / SPLIT);
    const int ti = warp / WARPS_N * 4 * WM + lane / 8 * 4, tj = warp % WARPS_N * 8 * WN + lane % 8 * 4;
    CONV_AXES(phase / (sx * sy), phase / sx % sy, phase % sx)
    CONV_SIZES
    const int cr = transposed ? co : ci, cw = transposed ? ci : co; // channels that are read and written
    const int kernel_size = kz * ky * kx, in_size = rz * ry * rx, out_size = wz * wy * wx;
    const int w_read = transposed ? ci * kernel_size : kernel_size, w_written = transposed ? kernel_size : ci * kernel_size;
    const int blocks = (cw + TM - 1) / TM, g = get_group_id(1) / blocks, o0 = get_group_id(1) % blocks * TM;
    // A phase may have no position, and others fewer than the first has tiles for.
    const int total = batch * z.count * y.count * x.count, positions = max(1, z.count * y.count * x.count);
    const int plane = max(1, y.count * x.count), across = max(1, x.count), p0 = get_group_id(0) * TN;

    const int taps = z.taps * y.taps * x.taps, K = cr * taps;
    const float by_taps = 1.0f / max(taps, 1), by_plane = 1.0f / max(y.taps * x.taps, 1), by_row = 1.0f / max(x.taps, 1);
    // The one position that this work-item gathers, and its steps of the sum.
    const int column = lid % TN, step_b = lid / TN * LOADS_B, p = p0 + column, n = p / positions;
    const int qz = p % positions / plane, qy = p % plane / across, qx = p % across;
    const place here = p < total ? position_at(z, y, x, qz, qy, qx, rz, ry, rx) : NOWHERE;
    global const X_MEMORY *in = X + X_off + (n * groups + g) * cr * in_size
        + ((qz * z.stride + z.shift) * ry + qy * y.stride + y.shift) * rx + qx * x.stride + x.shift;
    // Its step of the weights, and their rows. What rows behind the last hold is not written.
    const int step_a = lid % TK, row = o0 + lid / TK;
    global const X_MEMORY *w = W + W_off + g * co * ci * kernel_size;
    REAL fa[LOADS_A], fb[LOADS_B];
    REAL4 acc[WM][WN / 4];
    _Pragma("unroll") for (int r = 0; r < WM; r++)
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++) acc[r][c] = 0;

#define LIST(k0)                                                                                                    \
    {                                                                                                               \
        const int k = (k0) + lid, c = divided(k, by_taps), t = k - c * taps, jz = divided(t, by_plane);             \
        const int jy = divided(t - jz * y.taps * x.taps, by_row), jx = t - (jz * y.taps + jy) * x.taps;             \
        met[k % LISTED] = k < K ? tap_at(z, y, x, jz, jy, jx) : OUTSIDE;                                            \
        where[k % LISTED] = (int2)(((c * rz + jz * z.step) * ry + jy * y.step) * rx + jx * x.step, k >= K ? -1 :    \
            c * w_read + ((z.r + jz * z.rstep) * ky + y.r + jy * y.rstep) * kx + x.r + jx * x.rstep);               \
    }
#define FETCH(first)                                                                                                \
    {                                                                                                               \
        const int at = where[(first) + step_a].s1;                                                                  \
        _Pragma("unroll") for (int i = 0; i < LOADS_A; i++)                                                         \
            fa[i] = at >= 0 ? X_FROM(w[min(row + i * (ITEMS / TK), cw - 1) * w_written + at]) : 0;                  \
        _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) {                                                       \
            const place tap = met[(first) + step_b + i];                                                            \
            fb[i] = MEET(here, tap) ? X_FROM(in[where[(first) + step_b + i].s0]) : 0;                               \
        }                                                                                                           \
    }
#define STORE(buffer)                                                                                               \
    _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) as[buffer][step_a][lid / TK + i * (ITEMS / TK)] = fa[i];    \
    _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) bs[buffer][step_b + i][column] = fb[i];

#define ALSO(buffer)

    ACCUMULATE(K)
#undef ALSO
#undef LIST
#undef FETCH
#undef STORE

    for (int other = 1; other < SPLIT; other++) {
        local REAL4 *t = (local REAL4 *)&bs[0][0][0];
        if (part == other) {
            _Pragma("unroll") for (int r = 0; r < WM; r++)
                _Pragma("unroll") for (int c = 0; c < WN / 4; c++) t[(r * (WN / 4) + c) * TILE_ITEMS + lid % TILE_ITEMS] = acc[r][c];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part == 0) {
            _Pragma("unroll") for (int r = 0; r < WM; r++)
                _Pragma("unroll") for (int c = 0; c < WN / 4; c++) acc[r][c] += t[(r * (WN / 4) + c) * TILE_ITEMS + lid];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const int even = (!transposed || sz * sy * sx == 1) && positions % 4 == 0 && Y_off % 4 == 0;
    _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {
        const int j = p0 + tj + 32 * c;
        _Pragma("unroll") for (int r = 0; r < WM; r++) {
            const int o = o0 + ti + r / 4 * 16 + r % 4;
            if (part > 0 || o >= cw || j >= total) continue;
            const REAL4 v = acc[r][c] + (biased ? X_FROM(BIAS[BIAS_off + g * cw + o]) : 0);
            if (even) { // four positions of one image
                PUT4(Y + Y_off, ((j / positions * groups + g) * cw + o) * positions + j % positions, v);
                continue;
            }
            const REAL part[4] = {v.s0, v.s1, v.s2, v.s3};
            _Pragma("unroll") for (int i = 0; i < 4; i++) {
                if (j + i >= total) continue;
                const int m = (j + i) / positions, q = (j + i) % positions;
                const int qz = q / plane, qy = q % plane / across, qx = q % across;
                const int at = ((m * groups + g) * cw + o) * out_size
                    + ((qz * z.spread + z.first) * wy + qy * y.spread + y.first) * wx + qx * x.spread + x.first;
                PUT(Y + Y_off, at, part[i]);
            }
        }
    }
}

// D[((s*groups + g)*(ci*kernel + biased) + k)*co + o] is the part s of the gradient of weight k, which counts channels and
// taps, of output o: the sum over rows [s*slice, (s+1)*slice) of G, which counts images, oz and oy. X is the input, G the
// gradient of Y. If `biased` is 1, the last k is the bias. Rows of the tile are weights k, columns are channels o.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_conv_weight(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, G), OUT(D), CONV_PARAMS, int slice, int biased) {
    local REAL as[2][TK][ROW_A] __attribute__((aligned(32))), bs[2][TK][ROW_B] __attribute__((aligned(32)));
    local place met[LISTED], taps[TM]; // the positions, and the taps of the tile's weights
    local int2 where[LISTED];          // where the elements of X and G of a position are
    local int weight_at[TM];
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, s = get_group_id(2), from_k = 0;
    const int ti = warp / WARPS_N * 4 * WM + lane / 8 * 4, tj = warp % WARPS_N * 8 * WN + lane % 8 * 4;
    const axis az = axis_forward(oz, kz, sz, dz, pz), ay = axis_forward(oy, ky, sy, dy, py), ax = axis_forward(ox, kx, sx, dx, px);
    const int kernel_size = kz * ky * kx, weights = ci * kernel_size, blocks = (weights + TM - 1) / TM;
    const int g = get_group_id(1) / blocks, k0 = get_group_id(1) % blocks * TM, o0 = get_group_id(0) * TN;
    const int rz = iz, ry = iy, rx = ix, in_size = iz * iy * ix, size = oz * oy * ox;
    const int begin = s * slice, end = min(batch * oz * oy, begin + slice), count = (end - begin) * ox;
    for (int i = lid; i < TM; i += ITEMS) {
        const int k = k0 + i, c = k / kernel_size, jz = k / (ky * kx) % kz, jy = k / kx % ky, jx = k % kx;
        taps[i] = k < weights ? tap_at(az, ay, ax, jz, jy, jx) : OUTSIDE;
        weight_at[i] = c * in_size + (jz * dz * iy + jy * dy) * ix + jx * dx;
    }
    // The step and the rows that this work-item gathers.
    const int step = lid % TK, row = lid / TK;
    global const X_MEMORY *in = X + X_off + g * ci * in_size, *out = G + G_off + (g * co + o0) * size;
    const int sums = biased && k0 == 0; // of the gradients of a channel, each by ITEMS / TN work-items
    REAL fa[LOADS_A], fb[LOADS_B], sum = 0;
    REAL4 acc[WM][WN / 4];
    _Pragma("unroll") for (int r = 0; r < WM; r++)
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++) acc[r][c] = 0;

#define LIST(first)                                                                                                 \
    {                                                                                                               \
        const int p = (first) + lid, q = begin + p / ox, n = q / (oz * oy), z = q / oy % oz, y = q % oy, x = p % ox; \
        met[p % LISTED] = p < count ? position_at(az, ay, ax, z, y, x, iz, iy, ix) : NOWHERE;                       \
        where[p % LISTED] = (int2)(n * groups * ci * in_size + ((z * sz - pz) * iy + y * sy - py) * ix + x * sx - px, \
                                   p < count ? n * groups * co * size + (z * oy + y) * ox + x : -1);                \
    }
#define FETCH(first)                                                                                                \
    {                                                                                                               \
        const place here = met[(first) + step];                                                                     \
        const int2 at = where[(first) + step];                                                                      \
        _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) {                                                       \
            const place tap = taps[row + i * (ITEMS / TK)];                                                         \
            fa[i] = MEET(here, tap) ? X_FROM(in[at.s0 + weight_at[row + i * (ITEMS / TK)]]) : 0;                    \
        }                                                                                                           \
        _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) {                                                       \
            const int o = row + i * (ITEMS / TK);                                                                   \
            fb[i] = at.s1 >= 0 && o0 + o < co ? X_FROM(out[at.s1 + o * size]) : 0;                                  \
        }                                                                                                           \
    }
#define STORE(buffer)                                                                                               \
    _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) as[buffer][step][row + i * (ITEMS / TK)] = fa[i];           \
    _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) bs[buffer][step][row + i * (ITEMS / TK)] = fb[i];
#define ALSO(buffer)                                                                                                \
    if (sums) {                                                                                                     \
        _Pragma("unroll") for (int k = 0; k < TK; k += ITEMS / TN) sum += bs[buffer][k + lid / TN][lid % TN];       \
    }

    ACCUMULATE(count)
#undef ALSO
#undef LIST
#undef FETCH
#undef STORE

    const int d_off = D_off + (s * groups + g) * (weights + biased) * co, even = (co | d_off) % 4 == 0;
    global REAL *d = D + d_off;
    bs[0][lid / TN][lid % TN] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (sums && lid < min(TN, co - o0)) {
        for (int i = 1; i < ITEMS / TN; i++) sum += bs[0][i][lid];
        d[weights * co + o0 + lid] = sum;
    }
    _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {
        const int o = o0 + tj + 32 * c;
        _Pragma("unroll") for (int r = 0; r < WM; r++) {
            const int k = k0 + ti + r / 4 * 16 + r % 4;
            if (k >= weights || o >= co) continue;
            const REAL4 v = acc[r][c];
            store_weights(d + k * co + o, v, co - o, even);
        }
    }
}
