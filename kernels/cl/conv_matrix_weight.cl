// @depends: convolution, conv_mma
// k_conv_weight of conv_gpu.cl on matrix units. Rows of the tile are weights, 8 channels of one tap after the other, columns are
// channels of G, and steps of the sum are positions. TM is TN.
//
// PX and PG are X and G packed: X [batch][position][channel], G [batch][position][channel]. FX and FG are their flaws.

#define WIDE (TM / CHUNK)     // chunks of a row of a staged tile
#define STEPS (ITEMS / WIDE)  // steps that work-items copy at once
#define LOADS (TK / STEPS)    // a multiple of which is TK

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_conv_matrix_weight(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, G), OUT(D), CONV_PARAMS, int slice, int biased, IN_INTS(PX), IN_INTS(FX), IN_INTS(PG), IN_INTS(FG)) {
    TILES
    ANY
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, s = get_group_id(2);
    const int ti = warp / WARPS_N * WM, tj = warp % WARPS_N * WN;
    const axis az = axis_forward(oz, kz, sz, dz, pz), ay = axis_forward(oy, ky, sy, dy, py), ax = axis_forward(ox, kx, sx, dx, px);
    const int kernel_size = kz * ky * kx, weights = ci * kernel_size, in_size = iz * iy * ix, size = oz * oy * ox;
    const int chunks_x = (ci + CHUNK - 1) / CHUNK, chunks_g = (co + CHUNK - 1) / CHUNK;
    const int u0 = get_group_id(1) * WIDE, o0 = get_group_id(0) * TN; // u counts chunks of weights
    const int begin = s * slice * ox, end = min(batch * oz * oy, (s + 1) * slice) * ox, count = end - begin;
    const int part_x = batch * in_size * chunks_x, part_g = batch * size * chunks_g;
    global const uint4 *from_x = (global const uint4 *)(PX + PX_off), *from_g = (global const uint4 *)(PG + PG_off);

    const int ordinary = !(flawed(FX + FX_off, begin / size * in_size * chunks_x, ((end - 1) / size + 1) * in_size * chunks_x, lid)
                           | flawed(FG + FG_off, begin * chunks_g, end * chunks_g, lid));
    int strange = 0;
    BARRIER

    // The chunk of weights and that of G which this work-item copies, and its steps.
    const int chunk = lid % WIDE, step = lid / WIDE, unit = u0 + chunk, tap = unit / chunks_x, cx = unit % chunks_x, cg = o0 / CHUNK + chunk;
    const int tz = tap / (ky * kx) * dz - pz, ty = tap / kx % ky * dy - py, tx = tap % kx * dx - px;
    const int on_z = TK / ox / oy / oz, next_z = TK / ox / oy % oz, next_y = TK / ox % oy, next_x = TK % ox; // TK positions on
    int at = step, image[LOADS], at_z[LOADS], at_y[LOADS], at_x[LOADS];
    _Pragma("unroll") for (int i = 0; i < LOADS; i++) {
        const int q = begin + step + i * STEPS;
        image[i] = q / size, at_z[i] = q / (oy * ox) % oz, at_y[i] = q / ox % oy, at_x[i] = q % ox;
    }
#define COPY(buffer)                                                                                                      \
    {                                                                                                                     \
        _Pragma("unroll") for (int i = 0; i < LOADS; i++) {                                                               \
            const int r = step + i * STEPS, k = at + i * STEPS, z = at_z[i] * sz + tz, y = at_y[i] * sy + ty, x = at_x[i] * sx + tx; \
            const int is_x = k < count && tap < kernel_size && (uint)z < (uint)iz && (uint)y < (uint)iy && (uint)x < (uint)ix; \
            const int is_g = k < count && cg < chunks_g;                                                                  \
            const int at_in = is_x ? (image[i] * in_size + (z * iy + y) * ix + x) * chunks_x + cx : 0;                    \
            const int at_g = is_g ? (begin + k) * chunks_g + cg : 0;                                                      \
            _Pragma("unroll") for (int p = 0; p < PLANES; p++) {                                                          \
                copy_chunk(&as[buffer][p * PLANE_A + WHERE(r, chunk, TM, 1)], from_x + (is_x ? p * part_x : 0) + at_in, is_x); \
                copy_chunk(&bs[buffer][p * PLANE_B + WHERE(r, chunk, TN, 1)], from_g + (is_g ? p * part_g : 0) + at_g, is_g); \
            }                                                                                                             \
            at_x[i] += next_x;                                                                                            \
            const int over_x = at_x[i] >= ox;                                                                             \
            at_x[i] -= over_x ? ox : 0, at_y[i] += next_y + over_x;                                                       \
            const int over_y = at_y[i] >= oy;                                                                             \
            at_y[i] -= over_y ? oy : 0, at_z[i] += next_z + over_y;                                                       \
            const int over_z = at_z[i] >= oz;                                                                             \
            at_z[i] -= over_z ? oz : 0, image[i] += on_z + over_z;                                                        \
        }                                                                                                                 \
        at += TK;                                                                                                         \
    }
    // The sums of a chunk of G, for the gradient of the bias: every STEPS-th step of one work-item.
    const int summed = biased && get_group_id(1) == 0;
    float sum[CHUNK];
    _Pragma("unroll") for (int e = 0; e < CHUNK; e++) sum[e] = 0;
#define ALSO(buffer)                                                                                          \
    if (summed) {                                                                                             \
        _Pragma("unroll") for (int i = 0; i < LOADS; i++) {                                                   \
            local const uint4 *part = bs[buffer] + WHERE(step + i * STEPS, chunk, TN, 1);                     \
            const uint4 h = part[0], m = part[PLANE_B], l = part[2 * PLANE_B];                                \
            const uint hs[4] = {h.s0, h.s1, h.s2, h.s3}, ms[4] = {m.s0, m.s1, m.s2, m.s3}, ls[4] = {l.s0, l.s1, l.s2, l.s3}; \
            _Pragma("unroll") for (int e = 0; e < 4; e++) {                                                   \
                sum[2 * e] += as_float(hs[e] << 16) + (as_float(ms[e] << 16) + as_float(ls[e] << 16));        \
                sum[2 * e + 1] += as_float(hs[e] & 0xffff0000) + (as_float(ms[e] & 0xffff0000) + as_float(ls[e] & 0xffff0000)); \
            }                                                                                                 \
        }                                                                                                     \
    }

    SUMS
    ACCUMULATE(strange ? 0 : (count + TK - 1) / TK, 1)
    if (strange) {
        const int positions = max(1, size), plane = max(1, oy * ox);
        _Pragma("unroll 1") for (int k = begin; k < end; k++) {
#define CHANNEL(r) ((u0 + (r) / CHUNK) % chunks_x * CHUNK + (r) % CHUNK)
#define TAP(r) ((u0 + (r) / CHUNK) / chunks_x)
#define WEIGHT(r) input_at(X + X_off, CHANNEL(r) < ci && TAP(r) < kernel_size ? k : -1, positions, plane, ox, az, ay, ax, \
                           (int3)(TAP(r) / (ky * kx), TAP(r) / kx % ky, TAP(r) % kx), (int3)(iz, iy, ix), ci, CHANNEL(r))
#define OUTPUT(r) o0 + (r) < co ? X_FROM(G[G_off + (k / size * co + o0 + (r)) * size + k % size]) : 0
            ADD_BY_FMA(WEIGHT, OUTPUT)
        }
        if (summed)
            for (int k = begin + step; k < end; k += STEPS)
                for (int e = 0; e < CHUNK; e++) sum[e] += OUTPUT(chunk * CHUNK + e);
    }

    global float *d = D + D_off + s * (weights + biased) * co;
    local float *sums = (local float *)as;
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (int e = 0; e < CHUNK; e++) sums[step * TN + chunk * CHUNK + e] = sum[e];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (summed)
        for (int o = lid; o < min(TN, co - o0); o += ITEMS) {
            float all = sums[o];
            for (int i = 1; i < STEPS; i++) all += sums[i * TN + o];
            d[weights * co + o0 + o] = all;
        }
    const int even = (co | (D_off + s * (weights + biased) * co)) % 4 == 0;
    _Pragma("unroll") for (int m = 0; m < WM / 16; m++) {
        const int row = ti + 16 * m + ROW_4, c = CHANNEL(row), k = c * kernel_size + TAP(row);
        const int there = c < ci && TAP(row) < kernel_size;
        _Pragma("unroll") for (int n = 0; n < WN / 8; n++) {
            const int o = o0 + tj + 8 * n + COLUMN_4;
            const float4 v = four_of(acc[m][n], lane);
            if (!there || o >= co) continue;
            store_weights(d + k * co + o, v, co - o, even);
        }
    }
}
