// @depends: common, convolution
// The convolutions of integers of 8 bits of conv_integer_cpu.cl, for GPUs: a work-item computes one position of CHANNELS channels.
#define CHANNELS 4

kernel void k_conv_integer(IN_BYTES(X), IN_BYTES(W), IN_BYTES(ZX), IN_BYTES(ZW), OUT_INTS(Y), CONV_PARAMS, int zerosX, int zerosW,
    int sign) {
    const int size = oz * oy * ox, blocks = (co + CHANNELS - 1) / CHANNELS, at = get_global_id(0), outer = get_global_id(1);
    if (at >= size || outer >= batch * groups * blocks) return;
    const int ng = outer / blocks, g = ng % groups, o = outer % blocks * CHANNELS, live = min(CHANNELS, co - o);
    const uchar flipX = sign & 1 ? 128 : 0, flipW = sign & 2 ? 128 : 0; // the byte of v is v + 128 then, as if it had no sign
    const int lessX = zerosX ? ZX[ZX_off] ^ flipX : flipX, taps = kz * ky * kx, sum = ci * taps;
    const axis az = axis_forward(oz, kz, sz, dz, pz), ay = axis_forward(oy, ky, sy, dy, py), ax = axis_forward(ox, kx, sx, dx, px);
    const int z0 = at / (oy * ox), y0 = at / ox % oy, x0 = at % ox;
    const int2 tz = axis_within(az, z0, iz), ty = axis_within(ay, y0, iy), tx = axis_within(ax, x0, ix);
    global const uchar *w[CHANNELS];
    int lessW[CHANNELS];
    uint total[CHANNELS]; // wraps around
    for (int i = 0; i < CHANNELS; i++) {
        const int channel = g * co + o + min(i, live - 1); // one that is there
        w[i] = W + W_off + channel * sum;
        lessW[i] = zerosW ? ZW[ZW_off + (zerosW > 1 ? channel : 0)] ^ flipW : flipW;
        total[i] = 0;
    }
    for (int c = 0; c < ci; c++) {
        for (int jz = tz.s0; jz < tz.s1; jz++) {
            for (int jy = ty.s0; jy < ty.s1; jy++) {
                const int row = ((ng * ci + c) * iz + z0 * sz - pz + jz * dz) * iy + y0 * sy - py + jy * dy;
                global const uchar *x = X + X_off + row * ix + x0 * sx - px;
                const int tap = c * taps + (jz * ky + jy) * kx;
                for (int jx = tx.s0; jx < tx.s1; jx++) {
                    const int v = (x[jx * dx] ^ flipX) - lessX;
                    for (int i = 0; i < CHANNELS; i++) total[i] += (uint)(v * ((w[i][tap + jx] ^ flipW) - lessW[i]));
                }
            }
        }
    }
    for (int i = 0; i < live; i++) Y[Y_off + (ng * co + o + i) * size + at] = (int)total[i];
}
