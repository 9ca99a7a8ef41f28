// @depends: common, convolution
// Convolutions for GPUs as matrix products of which one operand is gathered on the way: see convolution.cl for what is
// computed. The tiles are those of gemm_gpu.cl: a work-group stages TK steps of the sum in local memory while its
// work-items accumulate WM×WN elements each from the steps before, in two buffers. An element sums in ascending order
// whatever the tile.

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
#define WARPS_N (TN / (8 * WN))
#define ITEMS (TM / WM * (TN / WN)) // a multiple of TN and of TK
#define LOADS_A (TM * TK / ITEMS)   // of a work-item for each tile
#define LOADS_B (TN * TK / ITEMS)
#define ROW_A (TM + 4) // of a staged tile: aligned, and not on one bank
#define ROW_B (TN + 4)

// Adds the products of a staged tile.
#define MULTIPLY(now)                                                                       \
    _Pragma("unroll") for (int k = 0; k < TK; k++) {                                        \
        REAL4 b[WN / 4];                                                                    \
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++)                                  \
            b[c] = *(local REAL4 *)&bs[now][k][tj + 32 * c];                                \
        _Pragma("unroll") for (int r = 0; r < WM / 4; r++) {                                \
            const REAL4 a = *(local REAL4 *)&as[now][k][ti + 16 * r];                       \
            _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {                            \
                acc[4 * r][c] = fma((REAL4)(a.s0), b[c], acc[4 * r][c]);                    \
                acc[4 * r + 1][c] = fma((REAL4)(a.s1), b[c], acc[4 * r + 1][c]);            \
                acc[4 * r + 2][c] = fma((REAL4)(a.s2), b[c], acc[4 * r + 2][c]);            \
                acc[4 * r + 3][c] = fma((REAL4)(a.s3), b[c], acc[4 * r + 3][c]);            \
            }                                                                               \
        }                                                                                   \
    }

// Sums over `steps`: what FETCH gets from memory, STORE puts into one buffer while the products of the other are added.
#define ACCUMULATE(steps)                                                                   \
    FETCH(0)                                                                                \
    STORE(0)                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                           \
    for (int from = 0, now = 0; from < (steps); from += TK) {                               \
        const int more = from + TK < (steps);                                               \
        if (more) FETCH(from + TK)                                                          \
        MULTIPLY(now)                                                                       \
        now ^= 1;                                                                           \
        if (more) { STORE(now) }                                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                       \
    }

// A step of a sum over channels and taps.
typedef struct {
    int c, jz, jy, jx;
} place;

// n/d for 0 ≤ n < 2²¹, by the reciprocal of d.
static int divided(int n, float reciprocal) { return (int)((n + 0.5f) * reciprocal); }

static place place_of(int k, int taps, int ty, int tx, float by_taps, float by_plane, float by_row) {
    place p;
    p.c = divided(k, by_taps);
    int t = k - p.c * taps;
    p.jz = divided(t, by_plane);
    t -= p.jz * ty * tx;
    p.jy = divided(t, by_row);
    p.jx = t - p.jy * tx;
    return p;
}

// Y from X and W, or with `transposed` X from Y and W: then X names what is read, and Y what is written. Rows of the tile
// are channels of a group, columns are positions of all images. rows and cols serve the CPU variant only.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_conv_output(IN(X), IN(W), IN(BIAS), OUT(Y), CONV_PARAMS, int transposed, int biased, int rows, int cols) {
    local REAL as[2][TK][ROW_A] __attribute__((aligned(32))), bs[2][TK][ROW_B] __attribute__((aligned(32)));
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, phase = get_group_id(2);
    const int ti = warp / WARPS_N * 4 * WM + lane / 8 * 4, tj = warp % WARPS_N * 8 * WN + lane % 8 * 4;
    const axis z = transposed ? axis_backward(iz, kz, sz, dz, pz, phase / (sx * sy)) : axis_forward(oz, kz, sz, dz, pz);
    const axis y = transposed ? axis_backward(iy, ky, sy, dy, py, phase / sx % sy) : axis_forward(oy, ky, sy, dy, py);
    const axis x = transposed ? axis_backward(ix, kx, sx, dx, px, phase % sx) : axis_forward(ox, kx, sx, dx, px);
    const int rz = transposed ? oz : iz, ry = transposed ? oy : iy, rx = transposed ? ox : ix;
    const int wz = transposed ? iz : oz, wy = transposed ? iy : oy, wx = transposed ? ix : ox;
    const int cr = transposed ? co : ci, cw = transposed ? ci : co; // channels that are read and written
    const int kernel_size = kz * ky * kx, in_size = rz * ry * rx, out_size = wz * wy * wx;
    const int w_read = transposed ? ci * kernel_size : kernel_size, w_written = transposed ? kernel_size : ci * kernel_size;
    const int blocks = (cw + TM - 1) / TM, g = get_group_id(1) / blocks, o0 = get_group_id(1) % blocks * TM;
    // A phase may have no position, and others fewer than the first has tiles for.
    const int total = batch * z.count * y.count * x.count, positions = max(1, z.count * y.count * x.count);
    const int plane = max(1, y.count * x.count), across = max(1, x.count), p0 = get_group_id(0) * TN;
    global const REAL *w = W + W_off + g * co * ci * kernel_size, *in = X + X_off + g * cr * in_size;

    const int taps = z.taps * y.taps * x.taps, K = cr * taps;
    const float by_taps = 1.0f / max(taps, 1), by_plane = 1.0f / max(y.taps * x.taps, 1), by_row = 1.0f / max(x.taps, 1);
    // The one position that this work-item gathers, and its steps of the sum.
    const int column = lid % TN, step_b = lid / TN * LOADS_B, p = max(0, min(p0 + column, total - 1)), n = p / positions;
    const int bz = p % positions / plane * z.stride + z.shift;
    const int by = p % plane / across * y.stride + y.shift, bx = p % across * x.stride + x.shift;
    const int image = n * groups * cr * in_size, step_a = lid % TK, row = lid / TK;
    REAL fa[LOADS_A], fb[LOADS_B];
    REAL4 acc[WM][WN / 4];
    _Pragma("unroll") for (int r = 0; r < WM; r++)
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++) acc[r][c] = 0;

#define FETCH(k0)                                                                                                   \
    {                                                                                                               \
        const place a = place_of((k0) + step_a, taps, y.taps, x.taps, by_taps, by_plane, by_row);                   \
        const int at = a.c * w_read + ((z.r + a.jz * z.rstep) * ky + y.r + a.jy * y.rstep) * kx + x.r + a.jx * x.rstep; \
        _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) {                                                       \
            const int o = o0 + row + i * (ITEMS / TK);                                                              \
            fa[i] = (k0) + step_a < K && o < cw ? w[o * w_written + at] : 0;                                        \
        }                                                                                                           \
        place b = place_of((k0) + step_b, taps, y.taps, x.taps, by_taps, by_plane, by_row);                         \
        _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) {                                                       \
            const int fz = bz + b.jz * z.step, fy = by + b.jy * y.step, fx = bx + b.jx * x.step;                    \
            const int inside = (k0) + step_b + i < K && fz >= 0 && fz < rz && fy >= 0 && fy < ry && fx >= 0 && fx < rx; \
            fb[i] = inside ? in[image + ((b.c * rz + fz) * ry + fy) * rx + fx] : 0;                                 \
            if (++b.jx == x.taps) {                                                                                 \
                b.jx = 0;                                                                                           \
                if (++b.jy == y.taps) {                                                                             \
                    b.jy = 0;                                                                                       \
                    if (++b.jz == z.taps) b.jz = 0, b.c++;                                                          \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }
#define STORE(buffer)                                                                                               \
    _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) as[buffer][step_a][row + i * (ITEMS / TK)] = fa[i];         \
    _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) bs[buffer][step_b + i][column] = fb[i];

    ACCUMULATE(K)
#undef FETCH
#undef STORE

    const int even = !transposed && positions % 4 == 0 && Y_off % 4 == 0;
    _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {
        const int j = p0 + tj + 32 * c;
        _Pragma("unroll") for (int r = 0; r < WM; r++) {
            const int o = o0 + ti + r / 4 * 16 + r % 4;
            if (o >= cw || j >= total) continue;
            const REAL4 v = acc[r][c] + (biased ? BIAS[BIAS_off + g * cw + o] : 0);
            if (even) { // four positions of one image
                *(global REAL4 *)(Y + Y_off + ((j / positions * groups + g) * cw + o) * positions + j % positions) = v;
                continue;
            }
            const REAL part[4] = {v.s0, v.s1, v.s2, v.s3};
            _Pragma("unroll") for (int i = 0; i < 4; i++) {
                if (j + i >= total) continue;
                const int m = (j + i) / positions, q = (j + i) % positions;
                const int qz = q / plane, qy = q % plane / across, qx = q % across;
                Y[Y_off + ((m * groups + g) * cw + o) * out_size
                  + ((qz * z.spread + z.first) * wy + qy * y.spread + y.first) * wx + qx * x.spread + x.first] = part[i];
            }
        }
    }
}

// D[((s*groups + g)*ci*kernel + k)*co + o] is the part s of the gradient of weight k, which counts channels and taps, of
// output o: the sum over rows [s*slice, (s+1)*slice) of G, which counts images, oz and oy. X is the input, G the
// gradient of Y. Rows of the tile are weights k, columns are channels o.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_conv_weight(IN(X), IN(G), OUT(D), CONV_PARAMS, int slice) {
    local REAL as[2][TK][ROW_A] __attribute__((aligned(32))), bs[2][TK][ROW_B] __attribute__((aligned(32)));
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, s = get_group_id(2);
    const int ti = warp / WARPS_N * 4 * WM + lane / 8 * 4, tj = warp % WARPS_N * 8 * WN + lane % 8 * 4;
    const int kernel_size = kz * ky * kx, weights = ci * kernel_size, blocks = (weights + TM - 1) / TM;
    const int g = get_group_id(1) / blocks, k0 = get_group_id(1) % blocks * TM, o0 = get_group_id(0) * TN;
    const int in_size = iz * iy * ix, size = oz * oy * ox;
    const int begin = s * slice, end = min(batch * oz * oy, begin + slice), count = (end - begin) * ox;
    // The weights and channels whose elements this work-item gathers, and the position, which moves on.
    const int step = lid % TK, row = lid / TK;
    int at[LOADS_A], tz[LOADS_A], ty[LOADS_A], tx[LOADS_A];
    _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) {
        const int k = k0 + row + i * (ITEMS / TK);
        tz[i] = k / (ky * kx) % kz * dz - pz, ty[i] = k / kx % ky * dy - py, tx[i] = k % kx * dx - px;
        at[i] = k / kernel_size * in_size + (tz[i] * iy + ty[i]) * ix + tx[i];
        if (k >= weights) tx[i] = -ix - ox * sx; // outside wherever the position is
    }
    int x = step % ox, y = (begin + step / ox) % oy, z = (begin + step / ox) / oy % oz, n = (begin + step / ox) / (oz * oy);
    REAL fa[LOADS_A], fb[LOADS_B];
    REAL4 acc[WM][WN / 4];
    _Pragma("unroll") for (int r = 0; r < WM; r++)
        _Pragma("unroll") for (int c = 0; c < WN / 4; c++) acc[r][c] = 0;

#define FETCH(p0)                                                                                                   \
    {                                                                                                               \
        const int in = (n * groups + g) * ci * in_size + (z * sz * iy + y * sy) * ix + x * sx;                      \
        _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) {                                                       \
            const int fz = z * sz + tz[i], fy = y * sy + ty[i], fx = x * sx + tx[i];                                \
            const int inside = (p0) + step < count && fz >= 0 && fz < iz && fy >= 0 && fy < iy && fx >= 0 && fx < ix; \
            fa[i] = inside ? X[X_off + in + at[i]] : 0;                                                             \
        }                                                                                                           \
        const int out = ((n * groups + g) * co) * size + (z * oy + y) * ox + x;                                     \
        _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) {                                                       \
            const int o = o0 + row + i * (ITEMS / TK);                                                              \
            fb[i] = (p0) + step < count && o < co ? G[G_off + out + o * size] : 0;                                  \
        }                                                                                                           \
        x += TK;                                                                                                    \
        while (x >= ox) {                                                                                           \
            x -= ox;                                                                                                \
            if (++y == oy) {                                                                                        \
                y = 0;                                                                                              \
                if (++z == oz) z = 0, n++;                                                                          \
            }                                                                                                       \
        }                                                                                                           \
    }
#define STORE(buffer)                                                                                               \
    _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) as[buffer][step][row + i * (ITEMS / TK)] = fa[i];           \
    _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) bs[buffer][step][row + i * (ITEMS / TK)] = fb[i];

    ACCUMULATE(count)
#undef FETCH
#undef STORE

    global REAL *d = D + D_off + (s * groups + g) * weights * co;
    const int even = co % 4 == 0 && (D_off + (s * groups + g) * weights * co) % 4 == 0;
    _Pragma("unroll") for (int c = 0; c < WN / 4; c++) {
        const int o = o0 + tj + 32 * c;
        _Pragma("unroll") for (int r = 0; r < WM; r++) {
            const int k = k0 + ti + r / 4 * 16 + r % 4;
            if (k >= weights || o >= co) continue;
            const REAL4 v = acc[r][c];
            global REAL *to = d + k * co + o;
            if (even) {
                *(global REAL4 *)to = v;
                continue;
            }
            to[0] = v.s0;
            if (o + 1 < co) to[1] = v.s1;
            if (o + 2 < co) to[2] = v.s2;
            if (o + 3 < co) to[3] = v.s3;
        }
    }
}
