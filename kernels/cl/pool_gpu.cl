// @depends: common, pool
// Pooling for GPUs: see pool.cl. A work-item computes an element of the result.

#define WINDOWS                                                               \
    const window wz = window_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);         \
    const window wy = window_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);         \
    const window wx = window_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);

#define OUTPUTS                                                               \
    const int2 qz = outputs_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);          \
    const int2 qy = outputs_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);          \
    const int2 qx = outputs_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);

// Y is the largest of a window, and I, if `indices`, its place in [iz, iy, ix]: the first of equal ones; of NaNs, which win,
// the last.
kernel void k_max_pool(IN(X), OUT(Y), OUT_INTS(I), POOL_PARAMS, int indices) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ox || row >= outer * oz * oy) return;
    const int y = row % oy, z = row / oy % oz, o = row / oy / oz;
    WINDOWS
    global const REAL *in = X + X_off + o * iz * iy * ix;
    REAL m = -INFINITY;
    int at = -1;
    for (int jz = 0; jz < wz.taps; jz++) {
        for (int jy = 0; jy < wy.taps; jy++) {
            for (int jx = 0; jx < wx.taps; jx++) {
                const int fz = wz.first + jz * wz.step, fy = wy.first + jy * wy.step, fx = wx.first + jx * wx.step;
                const int inside = fz >= 0 && fz < iz && fy >= 0 && fy < iy && fx >= 0 && fx < ix;
                const int i = inside ? (fz * iy + fy) * ix + fx : 0;
                const REAL v = in[i];
                const int take = inside && (at < 0 || v > m || isnan(v));
                m = take ? v : m;
                at = take ? i : at;
            }
        }
    }
    Y[Y_off + row * ox + x] = m;
    if (indices) I[I_off + row * ox + x] = at;
}

// D is the sum of G over the outputs whose I names the input.
kernel void k_max_pool_grad(IN(G), IN_INTS(I), OUT(D), POOL_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ix || row >= outer * iz * iy) return;
    const int y = row % iy, z = row / iy % iz, o = row / iy / iz, self = row % (iz * iy) * ix + x;
    OUTPUTS
    REAL sum = 0;
    for (int a = qz.s0; a < qz.s1; a++) {
        for (int b = qy.s0; b < qy.s1; b++) {
            for (int c = qx.s0; c < qx.s1; c++) {
                const int q = ((o * oz + a) * oy + b) * ox + c;
                sum += I[I_off + q] == self ? G[G_off + q] : 0;
            }
        }
    }
    D[D_off + row * ix + x] = sum;
}

// What the sum of a window is divided by.
#define DIVISOR (divisor > 0 ? divisor : counted(wz, iz, PZ, padding) * counted(wy, iy, PY, padding) * counted(wx, ix, PX, padding))

// Y is the sum of a window over the divisor, or if that is 0 over the inputs that are counted.
kernel void k_avg_pool(IN(X), OUT(Y), POOL_PARAMS, int padding, int divisor) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ox || row >= outer * oz * oy) return;
    const int y = row % oy, z = row / oy % oz, o = row / oy / oz;
    WINDOWS
    global const REAL *in = X + X_off + o * iz * iy * ix;
    REAL sum = 0;
    for (int jz = 0; jz < wz.taps; jz++) {
        for (int jy = 0; jy < wy.taps; jy++) {
            for (int jx = 0; jx < wx.taps; jx++) {
                const int fz = wz.first + jz, fy = wy.first + jy, fx = wx.first + jx;
                const int inside = fz >= 0 && fz < iz && fy >= 0 && fy < iy && fx >= 0 && fx < ix;
                const REAL v = in[inside ? (fz * iy + fy) * ix + fx : 0];
                sum += inside ? v : 0;
            }
        }
    }
    Y[Y_off + row * ox + x] = sum / DIVISOR;
}

// D is the sum of G over the divisors of the outputs in whose windows the input is.
kernel void k_avg_pool_grad(IN(G), OUT(D), POOL_PARAMS, int padding, int divisor) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= ix || row >= outer * iz * iy) return;
    const int o = row / iy / iz;
    REAL sum = 0;
    int2 qz, qy, qx;
    {
        const int x = column, y = row % iy, z = row / iy % iz;
        qz = outputs_of(z, iz, oz, KZ, SZ, DZ, PZ, ADAPTIVE);
        qy = outputs_of(y, iy, oy, KY, SY, DY, PY, ADAPTIVE);
        qx = outputs_of(x, ix, ox, KX, SX, DX, PX, ADAPTIVE);
    }
    for (int z = qz.s0; z < qz.s1; z++) {
        for (int y = qy.s0; y < qy.s1; y++) {
            for (int x = qx.s0; x < qx.s1; x++) {
                WINDOWS
                sum += G[G_off + ((o * oz + z) * oy + y) * ox + x] / DIVISOR;
            }
        }
    }
    D[D_off + row * ix + column] = sum;
}
