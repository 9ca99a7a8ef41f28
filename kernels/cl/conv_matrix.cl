// @depends: convolution, memory, epilogue, conv_mma
// k_conv_output of conv_gpu.cl on matrix units. Rows of the tile are channels, columns are positions of all images, and steps of the
// sum go along the channels of one tap, zero-padded to a multiple of 8, before the next tap.
//
// PX and PW are X and W packed: X [batch][position][channel read], W [channel written][tap][channel read]. FX and FW are their
// flaws.

#define STEPS_8 (TK / CHUNK) // chunks of a row of a staged tile
#define ROWS_8 (ITEMS / STEPS_8) // rows of a tile that work-items copy at once
#define LOADS_A ((TM + ROWS_8 - 1) / ROWS_8)
#define LOADS_B ((TN + ROWS_8 - 1) / ROWS_8)

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void k_conv_matrix(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), CONV_PARAMS, int transposed,
                   int biased, int rows, int cols,
                   IN_INTS(PX), IN_INTS(FX), IN_INTS(PW), IN_INTS(FW) PUT_PARAMS) {
    TILES
    ANY
    const int lid = get_local_id(0), warp = lid / 32, lane = lid % 32, phase = get_group_id(2);
    const int ti = warp / WARPS_N * WM, tj = warp % WARPS_N * WN;
    CONV_AXES(phase / (sx * sy), phase / sx % sy, phase % sx)
    CONV_SIZES
    const int cr = transposed ? co : ci, cw = transposed ? ci : co; // channels that are read and written
    const int kernel_size = kz * ky * kx, in_size = rz * ry * rx, out_size = wz * wy * wx, chunks = (cr + CHUNK - 1) / CHUNK;
    // A phase may have no position, and others fewer than the first has tiles for.
    const int total = batch * z.count * y.count * x.count, positions = max(1, z.count * y.count * x.count);
    const int plane = max(1, y.count * x.count), across = max(1, x.count), o0 = get_group_id(1) * TM, p0 = get_group_id(0) * TN;
    const int part_x = batch * in_size * chunks, part_w = cw * kernel_size * chunks;
    global const uint4 *from_x = (global const uint4 *)(PX + PX_off), *from_w = (global const uint4 *)(PW + PW_off);

    const int last = min(total, p0 + TN);
    const int ordinary = !(flawed(FX + FX_off, p0 / positions * in_size * chunks, p0 < last ? ((last - 1) / positions + 1) * in_size * chunks : 0, lid)
                           | flawed(FW + FW_off, o0 * kernel_size * chunks, min(cw, o0 + TM) * kernel_size * chunks, lid));
    int strange = 0;
    BARRIER

    // The chunk of each step that this work-item copies, and the tap that it belongs to. The positions that it copies, of images.
    const int step = lid % STEPS_8, row = lid / STEPS_8;
    int c = step, jz = 0, jy = 0, jx = 0, at_z[LOADS_B], at_y[LOADS_B], at_x[LOADS_B], image[LOADS_B];
    _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) {
        const int p = p0 + row + i * ROWS_8, q = p % positions;
        at_z[i] = p < total ? q / plane * z.stride + z.shift : INT_MIN / 2;
        at_y[i] = q % plane / across * y.stride + y.shift;
        at_x[i] = q % across * x.stride + x.shift;
        image[i] = p / positions * in_size;
    }
#define NEXT_TAP                                \
    while (c >= chunks) {                       \
        c -= chunks;                            \
        if (++jx >= x.taps) jx = 0, jy++;       \
        if (jy >= y.taps) jy = 0, jz++;         \
    }
#define COPY(buffer)                                                                                              \
    {                                                                                                             \
        const int is = jz < z.taps, tap = ((z.r + jz * z.rstep) * ky + y.r + jy * y.rstep) * kx + x.r + jx * x.rstep; \
        _Pragma("unroll") for (int i = 0; i < LOADS_A; i++) {                                                     \
            const int r = row + i * ROWS_8, there = is && o0 + r < cw;                                            \
            const int at = there ? ((o0 + r) * kernel_size + tap) * chunks + c : 0;                               \
            if (TM % ROWS_8 == 0 || r < TM) {                                                                     \
                _Pragma("unroll") for (int p = 0; p < PLANES; p++)                                                \
                    copy_chunk(&as[buffer][p * PLANE_A + WHERE(r, step, TK, 0)], from_w + (there ? p * part_w : 0) + at, there); \
            }                                                                                                     \
        }                                                                                                         \
        _Pragma("unroll") for (int i = 0; i < LOADS_B; i++) {                                                     \
            const int r = row + i * ROWS_8, qz = at_z[i] + jz * z.step, qy = at_y[i] + jy * y.step, qx = at_x[i] + jx * x.step; \
            const int there = is && (uint)qz < (uint)rz && (uint)qy < (uint)ry && (uint)qx < (uint)rx;            \
            const int at = there ? (image[i] + (qz * ry + qy) * rx + qx) * chunks + c : 0;                        \
            if (TN % ROWS_8 == 0 || r < TN) {                                                                     \
                _Pragma("unroll") for (int p = 0; p < PLANES; p++)                                                \
                    copy_chunk(&bs[buffer][p * PLANE_B + WHERE(r, step, TK, 0)], from_x + (there ? p * part_x : 0) + at, there); \
            }                                                                                                     \
        }                                                                                                         \
        c += STEPS_8;                                                                                             \
        NEXT_TAP                                                                                                  \
    }
#define ALSO(buffer)

    SUMS
    const int taps = z.taps * y.taps * x.taps;
    if (taps > 0) { NEXT_TAP }
    ACCUMULATE(strange ? 0 : (taps * chunks + STEPS_8 - 1) / STEPS_8, 0)
    if (strange) {
        const int w_read = transposed ? ci * kernel_size : kernel_size, w_written = transposed ? kernel_size : ci * kernel_size;
        _Pragma("unroll 1") for (int k = 0; k < taps * cr; k++) {
            const int channel = k / taps, j = k % taps, jz = j / (y.taps * x.taps), jy = j / x.taps % y.taps, jx = j % x.taps;
            const int tap = ((z.r + jz * z.rstep) * ky + y.r + jy * y.rstep) * kx + x.r + jx * x.rstep;
#define WEIGHT(r) o0 + (r) < cw ? X_FROM(W[W_off + channel * w_read + (o0 + (r)) * w_written + tap]) : 0
#define INPUT(r) input_at(X + X_off, p0 + (r) < total ? p0 + (r) : -1, positions, plane, across, z, y, x, (int3)(jz, jy, jx), (int3)(rz, ry, rx), cr, channel)
            ADD_BY_FMA(WEIGHT, INPUT)
        }
    }

    const int even = (!transposed || sz * sy * sx == 1) && positions % 4 == 0 && Y_off % 4 == 0;
    _Pragma("unroll") for (int n = 0; n < WN / 8; n++) {
        const int j = p0 + tj + 8 * n + COLUMN_4;
        _Pragma("unroll") for (int m = 0; m < WM / 16; m++) {
            const int o = o0 + ti + 16 * m + ROW_4;
            const float4 sum = four_of(acc[m][n], lane);
            if (o >= cw || j >= total) continue;
            const float4 v = sum + (biased ? X_FROM(BIAS[BIAS_off + o]) : 0);
            if (even) { // four positions of one image
                PUT4(Y + Y_off, (j / positions * cw + o) * positions + j % positions, v);
                continue;
            }
            const float each[4] = {v.s0, v.s1, v.s2, v.s3};
            _Pragma("unroll") for (int i = 0; i < 4; i++) {
                if (j + i >= total) continue;
                const int q = (j + i) % positions, qz = q / plane, qy = q % plane / across, qx = q % across;
                const int at = ((j + i) / positions * cw + o) * out_size
                    + ((qz * z.spread + z.first) * wy + qy * y.spread + y.first) * wx + qx * x.spread + x.first;
                PUT(Y + Y_off, at, each[i]);
            }
        }
    }
}
