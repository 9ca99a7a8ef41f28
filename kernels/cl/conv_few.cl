// @depends: common, convolution, memory, epilogue
// Convolutions for GPUs that write few channels of a group, as depthwise ones do and gradients of an image's one channel:
// see convolution.cl for what is computed. A tile would be all but empty. A work-item computes ROWS neighbouring rows of
// one column, in FEW channels. Where there are DOWN taps along y that are as far apart as the rows, taps below each other meet
// the same elements, which are read once. get_local_size(1) work-items share the channels that are read, and add their sums up
// in order.

#ifndef FEW
#define FEW 4 // channels that a work-item computes
#endif
#ifndef ROWS
#define ROWS 4 // positions along y
#endif
#ifndef DOWN
#define DOWN 0 // any taps along y
#endif
#ifndef FEW_GROUP
#define FEW_GROUP 256 // work-items
#endif

// Y from X and W, or with `transposed` X from Y and W: then X names what is read, and Y what is written. Dimension 0 counts
// columns of all images, 1 groups and blocks of channels, 2 phases. rows and cols serve the CPU variant only.
kernel void k_conv_few(IN_OF(X_MEMORY, X), IN_OF(X_MEMORY, W), IN_OF(X_MEMORY, BIAS), OUT_OF(Y_MEMORY, Y), CONV_PARAMS, int transposed,
                       int biased, int rows, int cols PUT_PARAMS) {
    local REAL t[ROWS][FEW_GROUP];
    const int phase = get_group_id(2), share = get_local_id(1), shares = get_local_size(1);
    CONV_AXES(phase / (sx * sy), phase / sx % sy, phase % sx)
    CONV_SIZES
    const int cr = transposed ? co : ci, cw = transposed ? ci : co; // channels that are read and written
    const int kernel_size = kz * ky * kx, in_size = rz * ry * rx, out_size = wz * wy * wx;
    const int w_read = transposed ? ci * kernel_size : kernel_size, w_written = transposed ? kernel_size : ci * kernel_size;
    const int blocks = (cw + FEW - 1) / FEW, g = get_group_id(1) / blocks, o = get_group_id(1) % blocks * FEW;
    // A phase may have no position.
    const int across = max(1, x.count), strips = (y.count + ROWS - 1) / ROWS, columns = max(1, z.count * strips * x.count);
    const int id = get_global_id(0), n = id / columns, q = id % columns;
    const int live = n < batch && z.count * y.count * x.count > 0;
    const int qx = q % across, qy = q / across % max(1, strips) * ROWS, qz = q / across / max(1, strips);
    // Taps are visited so that the rows they meet go down the input.
    const int up = y.step < 0;
    const int top = qy * y.stride + y.shift + (up ? (y.taps - 1) * y.step : 0), down = up ? -y.step : y.step;
    const int w_top = y.r + (up ? (y.taps - 1) * y.rstep : 0), w_down = up ? -y.rstep : y.rstep;
    REAL sum[FEW][ROWS];
    _Pragma("unroll") for (int i = 0; i < FEW; i++)
        _Pragma("unroll") for (int r = 0; r < ROWS; r++) sum[i][r] = 0;

    const int from = live ? (int)((long)cr * share / shares) : 0, to = live ? (int)((long)cr * (share + 1) / shares) : 0;
    for (int c = from; c < to; c++) {
        for (int jz = 0; jz < z.taps; jz++) {
            const int fz = qz * z.stride + z.shift + jz * z.step;
            if (fz < 0 || fz >= rz) continue;
            for (int jx = 0; jx < x.taps; jx++) {
                const int fx = qx * x.stride + x.shift + jx * x.step;
                const int height = fx >= 0 && fx < rx ? ry : 0;
                global const X_MEMORY *in = X + X_off + (((n * groups + g) * cr + c) * rz + fz) * ry * rx + fx;
                global const X_MEMORY *w = W + W_off + g * co * ci * kernel_size + o * w_written + c * w_read
                    + ((z.r + jz * z.rstep) * ky + w_top) * kx + x.r + jx * x.rstep;
#if DOWN > 0
                REAL v[ROWS + DOWN - 1], by[FEW][DOWN];
                _Pragma("unroll") for (int r = 0; r < ROWS + DOWN - 1; r++) {
                    const int fy = top + r * y.stride;
                    v[r] = (uint)fy < (uint)height ? X_FROM(in[fy * rx]) : 0;
                }
                _Pragma("unroll") for (int i = 0; i < FEW; i++)
                    _Pragma("unroll") for (int j = 0; j < DOWN; j++) by[i][j] = X_FROM(w[min(i, cw - 1 - o) * w_written + j * w_down * kx]);
                _Pragma("unroll") for (int j = 0; j < DOWN; j++)
                    _Pragma("unroll") for (int i = 0; i < FEW; i++)
                        _Pragma("unroll") for (int r = 0; r < ROWS; r++) sum[i][r] = fma(v[r + j], by[i][j], sum[i][r]);
#else
                for (int jy = 0; jy < y.taps; jy++) {
                    REAL v[ROWS];
                    _Pragma("unroll") for (int r = 0; r < ROWS; r++) {
                        const int fy = top + r * y.stride + jy * down;
                        v[r] = (uint)fy < (uint)height ? X_FROM(in[fy * rx]) : 0;
                    }
                    _Pragma("unroll") for (int i = 0; i < FEW; i++) {
                        const REAL by = X_FROM(w[min(i, cw - 1 - o) * w_written + jy * w_down * kx]);
                        _Pragma("unroll") for (int r = 0; r < ROWS; r++) sum[i][r] = fma(v[r], by, sum[i][r]);
                    }
                }
#endif
            }
        }
    }

    const int lid = get_local_id(0), wide = get_local_size(0);
    _Pragma("unroll") for (int i = 0; i < FEW; i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        _Pragma("unroll") for (int r = 0; r < ROWS; r++) t[r][share * wide + lid] = sum[i][r];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = 1; share == 0 && s < shares; s++) {
            _Pragma("unroll") for (int r = 0; r < ROWS; r++) sum[i][r] += t[r][s * wide + lid];
        }
    }
    _Pragma("unroll") for (int i = 0; i < FEW; i++) {
        _Pragma("unroll") for (int r = 0; r < ROWS; r++) {
            if (share > 0 || !live || o + i >= cw || qy + r >= y.count) continue;
            PUT(Y + Y_off, ((n * groups + g) * cw + o + i) * out_size + ((qz * z.spread + z.first) * wy + (qy + r) * y.spread + y.first) * wx
                + qx * x.spread + x.first, sum[i][r] + (biased ? X_FROM(BIAS[BIAS_off + g * cw + o + i]) : 0));
        }
    }
}
