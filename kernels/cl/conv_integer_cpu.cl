// @depends: common, convolution, tile_cpu
// Y = (X − ZX) ∗ (W − ZW) of integers of 8 bits: see convolution.cl for what is computed; padding counts as 0 after the subtraction. For
// CPUs: one work-item per work-group for 32 positions of ROWS channels of an image and group. There are zerosX zero points: none or one;
// and zerosW: none, one, or one for each channel of Y. Bit 0 of `sign` says that X is signed, bit 1 that W is.
//
// Products are added up as floats, which is exact: they are of two numbers from −255 to 255, and STEPS of them are less than 2²⁴.
#define ROWS 64
#define STEPS 128
#define TAPS 64 // of which it is kept what they meet: with more, it is worked out anew for each channel

// The elements of a channel that a tap meets at 16 positions, −1 beyond the edges. z, y and x are where the tap is.
static int16 places(int16 z, int16 y, int16 x, int iz, int iy, int ix) {
    const int16 inside = (z >= 0) & (z < iz) & (y >= 0) & (y < iy) & (x >= 0) & (x < ix);
    return select((int16)-1, (z * iy + y) * ix + x, inside);
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_conv_integer(IN_BYTES(X), IN_BYTES(W), IN_BYTES(ZX), IN_BYTES(ZW), OUT_INTS(Y), CONV_PARAMS, int zerosX, int zerosW, int sign) {
    const int size = oz * oy * ox, begin = get_group_id(0) * TILE_COLUMNS, columns = min(TILE_COLUMNS, size - begin);
    const int o = get_group_id(1) * ROWS, rows = min(ROWS, co - o), ng = get_group_id(2), channel = ng % groups * co + o;
    const int taps = kz * ky * kx, sum = ci * taps;
    const uchar flipX = sign & 1 ? 128 : 0, flipW = sign & 2 ? 128 : 0; // the byte of v is v + 128 then, as if it had no sign
    const int lessX = zerosX ? ZX[ZX_off] ^ flipX : flipX;
    global const uchar *x = X + X_off + ng * ci * iz * iy * ix, *w = W + W_off + channel * sum;
    const int16 lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int16 from[3][2]; // where tap 0 is at the positions
    int each[3][TILE_COLUMNS];
    int at[TAPS][TILE_COLUMNS], neighbours[TAPS];
    float16 tile[STEPS][2];
    float a[ROWS][STEPS];
    int16 total[ROWS][2];
    for (int c = 0, z = begin / (oy * ox), y = begin / ox % oy, f = begin % ox; c < TILE_COLUMNS; c++) {
        each[0][c] = z * sz - pz;
        each[1][c] = y * sy - py;
        each[2][c] = f * sx - px;
        if (c >= columns - 1 || ++f < ox) continue; // those behind the last are the last
        f = 0;
        if (++y < oy) continue;
        y = 0;
        z++;
    }
    for (int d = 0; d < 3; d++) {
        from[d][0] = vload16(0, each[d]);
        from[d][1] = vload16(1, each[d]);
    }
    for (int r = 0; r < rows; r++) total[r][0] = total[r][1] = 0;
    int c = 0, tap = 0;
    for (int first = 0; first < sum; first += STEPS) {
        const int steps = min(STEPS, sum - first);
        for (int q = 0; q < steps; q++) {
            const int slot = taps > TAPS ? 0 : tap;
            if (c == 0 || taps > TAPS) {
                const int z = tap / (ky * kx) * dz, y = tap / kx % ky * dy, f = tap % kx * dx;
                const int16 p0 = places(from[0][0] + z, from[1][0] + y, from[2][0] + f, iz, iy, ix);
                const int16 p1 = places(from[0][1] + z, from[1][1] + y, from[2][1] + f, iz, iy, ix);
                neighbours[slot] = p0.s0 >= 0 && all(p0 == p0.s0 + lanes) && all(p1 == p0.s0 + 16 + lanes);
                vstore16(p0, 0, at[slot]);
                vstore16(p1, 1, at[slot]);
            }
            global const uchar *plane = x + c * iz * iy * ix;
            int16 v0, v1;
            if (neighbours[slot]) {
                v0 = convert_int16(vload16(0, plane + at[slot][0]) ^ flipX) - lessX;
                v1 = convert_int16(vload16(1, plane + at[slot][0]) ^ flipX) - lessX;
            } else {
                uchar bytes[TILE_COLUMNS];
                for (int i = 0; i < TILE_COLUMNS; i++) bytes[i] = plane[max(at[slot][i], 0)];
                const int16 p0 = vload16(0, at[slot]), p1 = vload16(1, at[slot]);
                v0 = select((int16)0, convert_int16(vload16(0, bytes) ^ flipX) - lessX, p0 >= 0);
                v1 = select((int16)0, convert_int16(vload16(1, bytes) ^ flipX) - lessX, p1 >= 0);
            }
            tile[q][0] = convert_float16(v0);
            tile[q][1] = convert_float16(v1);
            if (++tap == taps) {
                tap = 0;
                c++;
            }
        }
        for (int r = 0; r < (rows + 3) / 4 * 4; r++) {
            const int row = min(r, rows - 1), less = zerosW ? ZW[ZW_off + (zerosW > 1 ? channel + row : 0)] ^ flipW : flipW;
            for (int q = 0; q < steps; q++) a[r][q] = (w[row * sum + first + q] ^ flipW) - less;
        }
        for (int r = 0; r < rows; r += 4) {
            float16 four[4][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
            const float *by[4] = {a[r], a[r + 1], a[r + 2], a[r + 3]};
            ADD_TILE(four, by, tile, steps)
            for (int s = 0; s < 4; s++) {
                total[r + s][0] = as_int16(as_uint16(total[r + s][0]) + as_uint16(convert_int16(four[s][0]))); // wraps around
                total[r + s][1] = as_int16(as_uint16(total[r + s][1]) + as_uint16(convert_int16(four[s][1])));
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        global int *to = Y + Y_off + (ng * co + o + r) * size + begin;
        if (columns == TILE_COLUMNS) {
            vstore16(total[r][0], 0, to);
            vstore16(total[r][1], 1, to);
            continue;
        }
        vstore16(total[r][0], 0, each[0]);
        vstore16(total[r][1], 1, each[0]);
        for (int i = 0; i < columns; i++) to[i] = each[0][i];
    }
}
