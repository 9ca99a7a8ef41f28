// @depends: common, convolution, memory, epilogue
// Convolutions without tiles: see convolution.cl for what is computed. They win where a group has few channels of what
// is written, as in depthwise convolutions: an input then meets few weights, and a tile would be all but empty. And
// they take what no tile can hold.

#define BLOCK_O 4 // channels that a work-item computes
#ifndef SUM_GROUP
#define SUM_GROUP 64 // work-items that share a sum, a power of two
#endif

// Y from X and W, or with `transposed` X from Y and W: then X names what is read, and Y what is written. A work-item
// computes one position of up to BLOCK_O channels. rows and cols serve the CPU variant only.
kernel void k_conv_direct(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), CONV_PARAMS, int transposed,
                          int biased, int rows, int cols PUT_PARAMS) {
    CONV_SIZES
    const int cr = transposed ? co : ci, cw = transposed ? ci : co; // channels that are read and written
    const int out_size = wz * wy * wx, blocks = (cw + BLOCK_O - 1) / BLOCK_O;
    const int at = get_global_id(0), outer = get_global_id(1);
    if (at >= out_size || outer >= batch * groups * blocks) return;
    const int pz0 = at / (wy * wx), py0 = at / wx % wy, px0 = at % wx;
    const int ng = outer / blocks, g = ng % groups, o = outer % blocks * BLOCK_O, live = min(BLOCK_O, cw - o);
    CONV_AXES(pz0 % sz, py0 % sy, px0 % sx)
    const int z0 = pz0 / z.spread, y0 = py0 / y.spread, x0 = px0 / x.spread;
    const int2 tz = axis_within(z, z0, rz), ty = axis_within(y, y0, ry), tx = axis_within(x, x0, rx);
    const int kernel_size = kz * ky * kx;
    const int w_read = transposed ? ci * kernel_size : kernel_size, w_written = transposed ? kernel_size : ci * kernel_size;
    global const X_MEMORY *in = X + X_off + ng * cr * rz * ry * rx, *w = W + W_off + g * co * ci * kernel_size + o * w_written;
    REAL sum[BLOCK_O];
    for (int i = 0; i < BLOCK_O; i++) sum[i] = 0;
    for (int c = 0; c < cr; c++) {
        for (int jz = tz.s0; jz < tz.s1; jz++) {
            for (int jy = ty.s0; jy < ty.s1; jy++) {
                global const X_MEMORY *row = in + ((c * rz + z0 * z.stride + z.shift + jz * z.step) * ry
                                               + y0 * y.stride + y.shift + jy * y.step) * rx + x0 * x.stride + x.shift;
                global const X_MEMORY *wr = w + c * w_read + ((z.r + jz * z.rstep) * ky + y.r + jy * y.rstep) * kx + x.r;
                for (int jx = tx.s0; jx < tx.s1; jx++) {
                    const REAL v = X_FROM(row[jx * x.step]);
                    for (int i = 0; i < BLOCK_O; i++) {
                        if (i < live) sum[i] = fma(v, X_FROM(wr[i * w_written + jx * x.rstep]), sum[i]);
                    }
                }
            }
        }
    }
    for (int i = 0; i < live; i++)
        PUT(Y + Y_off, (ng * cw + o + i) * out_size + at, sum[i] + (biased ? X_FROM(BIAS[BIAS_off + g * cw + o + i]) : 0));
}

// D[((s*groups + g)*(ci*kernel + biased) + k)*co + o] is the part s of the gradient of weight k, which counts channels and
// taps, of output o: the sum over rows [s*slice, (s+1)*slice) of G, which counts images, oz and oy. If `biased` is 1, the
// last k is the bias. A work-group sums one of them up, each work-item the positions that are SUM_GROUP apart, and then a tree.
kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1)))
void k_conv_weight_direct(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, G), OUT(D), CONV_PARAMS, int slice, int biased) {
    local REAL t[SUM_GROUP];
    const int lid = get_local_id(0), id = get_group_id(0), s = get_group_id(1), kernel_size = kz * ky * kx;
    const int weights = ci * kernel_size, o = id % co, k = id / co % (weights + biased), g = id / co / (weights + biased);
    const int c = k / kernel_size, jz = k / (ky * kx) % kz, jy = k / kx % ky, jx = k % kx;
    const int begin = s * slice, end = min(batch * oz * oy, begin + slice);
    REAL sum = 0;
    for (int i = lid; i < (end - begin) * ox; i += SUM_GROUP) {
        const int row = begin + i / ox, x = i % ox, y = row % oy, z = row / oy % oz, n = row / (oz * oy);
        const int fz = z * sz - pz + jz * dz, fy = y * sy - py + jy * dy, fx = x * sx - px + jx * dx;
        const REAL by = X_FROM(G[G_off + ((((n * groups + g) * co + o) * oz + z) * oy + y) * ox + x]);
        if (k == weights) {
            sum += by;
            continue;
        }
        if (fz < 0 || fz >= iz || fy < 0 || fy >= iy || fx < 0 || fx >= ix) continue;
        const REAL v = X_FROM(X[X_off + ((((n * groups + g) * ci + c) * iz + fz) * iy + fy) * ix + fx]);
        sum = fma(v, by, sum);
    }
    t[lid] = sum;
    for (int half_of = SUM_GROUP / 2; half_of > 0; half_of >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_of) t[lid] += t[lid + half_of];
    }
    if (lid == 0) D[D_off + ((s * groups + g) * (weights + biased) + k) * co + o] = t[0];
}
