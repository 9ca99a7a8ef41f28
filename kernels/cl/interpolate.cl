// @depends: common
// Interpolation over 1, 2 or 3 axes: X [outer, iz, iy, ix] to Y [outer, oz, oy, ox]. With fewer axes, the first ones have size 1.
//
// Along an axis, output q lies between inputs: at ⌊q·in/out⌋ if they are not interpolated (`linear` is 0); else at
// (q + ½)·in/out − ½, or, if the corners are aligned, at q·(in − 1)/(out − 1), and not beyond the first and the last. These are
// fractions of integers, and computed as such: no rounding decides which inputs meet.

#define INTERPOLATE_PARAMS int outer, int iz, int iy, int ix, int oz, int oy, int ox, int linear, int align

// The inputs of an output: i, and the one behind it with weight w.
typedef struct {
    int i, next;
    REAL w;
} between;

static between between_of(int q, int in, int out, int linear, int align) {
    between b = {0, 0, 0};
    if (!linear) {
        b.i = b.next = (long)q * in / out;
        return b;
    }
    const long at = align ? (long)q * (in - 1) : max((2 * (long)q + 1) * in - out, (long)0);
    const long unit = align ? max(out - 1, 1) : 2 * (long)out;
    b.i = min((int)(at / unit), in - 1);
    b.next = min(b.i + 1, in - 1);
    b.w = (REAL)(at - b.i * unit) / (REAL)unit;
    return b;
}

// The outputs, from s0 to below s1, among which are all that read input i.
static int2 reading(int i, int in, int out, int linear, int align) {
    long from, to;
    if (!linear) {
        from = ((long)i * out + in - 1) / in, to = ((long)(i + 1) * out + in - 1) / in;
    } else if (align) {
        from = in > 1 ? (long)(i - 1) * (out - 1) / (in - 1) : 0, to = in > 1 ? (long)(i + 1) * (out - 1) / (in - 1) + 2 : out;
    } else {
        from = ((2 * (long)i - 1) * out - in) / (2 * in) - 1, to = ((2 * (long)i + 3) * out - in) / (2 * in) + 2;
    }
    return (int2)((int)max(from, (long)0), (int)min(to, (long)out));
}

// What output q reads of input i.
static REAL weight_of(int q, int i, int in, int out, int linear, int align) {
    const between b = between_of(q, in, out, linear, align);
    return (b.i == i ? 1 - b.w : 0) + (b.next == i ? b.w : 0);
}

// Between u and v. What has weight 0 is not read: it may be infinite.
static REAL mixed(REAL w, REAL u, REAL v) { return w == 0 ? u : (1 - w) * u + w * v; }

kernel void k_interpolate(IN(X), OUT(Y), INTERPOLATE_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ox || row >= outer * oz * oy) return;
    const between bz = between_of(row / oy % oz, iz, oz, linear, align), by = between_of(row % oy, iy, oy, linear, align);
    const between bx = between_of(x, ix, ox, linear, align);
    global const REAL *in = X + X_off + row / oy / oz * iz * iy * ix;
    if (!linear) {
        Y[Y_off + row * ox + x] = in[(bz.i * iy + by.i) * ix + bx.i];
        return;
    }
    REAL plane[2];
    for (int a = 0; a < 2; a++) {
        global const REAL *p = in + (a ? bz.next : bz.i) * iy * ix;
        const REAL first = mixed(bx.w, p[by.i * ix + bx.i], p[by.i * ix + bx.next]);
        const REAL second = mixed(bx.w, p[by.next * ix + bx.i], p[by.next * ix + bx.next]);
        plane[a] = mixed(by.w, first, second);
    }
    Y[Y_off + row * ox + x] = mixed(bz.w, plane[0], plane[1]);
}

// D is the sum of G over the outputs that read an input, times what they read of it.
kernel void k_interpolate_grad(IN(G), OUT(D), INTERPOLATE_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ix || row >= outer * iz * iy) return;
    const int y = row % iy, z = row / iy % iz, o = row / iy / iz;
    const int2 qz = reading(z, iz, oz, linear, align), qy = reading(y, iy, oy, linear, align), qx = reading(x, ix, ox, linear, align);
    REAL sum = 0;
    for (int a = qz.s0; a < qz.s1; a++) {
        const REAL wa = weight_of(a, z, iz, oz, linear, align);
        for (int b = qy.s0; b < qy.s1; b++) {
            const REAL wb = wa * weight_of(b, y, iy, oy, linear, align);
            for (int c = qx.s0; c < qx.s1; c++) {
                const REAL w = wb * weight_of(c, x, ix, ox, linear, align);
                if (w != 0) sum = fma(w, G[G_off + ((o * oz + a) * oy + b) * ox + c], sum);
            }
        }
    }
    D[D_off + row * ix + x] = sum;
}
