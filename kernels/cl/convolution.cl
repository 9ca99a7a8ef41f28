// @depends: common
// What the kernels of convolutions share: their numbers, and which elements meet in a sum.
//
// A convolution of 1, 2 or 3 axes joins X [batch, groups·ci, iz, iy, ix], W [groups·co, ci, kz, ky, kx] and
// Y [batch, groups·co, oz, oy, ox]. Along each axis, position q of Y meets tap r of W at position q·s − p + r·d of X. With
// fewer axes, the first ones have size 1. A position outside of X holds 0.

#define CONV_PARAMS int batch, int groups, int ci, int co, int iz, int iy, int ix, int oz, int oy, int ox, int kz, int ky, int kx, int sz, int sy, int sx, int dz, int dy, int dx, int pz, int py, int px

// What is summed up along one axis for an output. There are `count` positions q, of which each lies at q·spread + first
// of the output. Tap j < taps reads element r + j·rstep of the weights, and of the input position q·stride + shift + j·step.
typedef struct {
    int count, spread, first;
    int taps, r, rstep;
    int stride, shift, step;
} axis;

// The axis of Y from X. k, s, d, p are the size of the weights, stride, dilation and padding.
static axis axis_forward(int out, int k, int s, int d, int p) {
    const axis a = {out, 1, 0, k, 0, 1, s, -p, d};
    return a;
}

// The axis of X from Y, for the positions i = q·s + phase of X: taps r with i + p − r·d a multiple of s are every
// s/gcd(s, d)-th, from the first one on.
static axis axis_backward(int in, int k, int s, int d, int p, int phase) {
    int r = 0, rstep = s, rest = d;
    while (rest != 0) {
        const int t = rstep % rest;
        rstep = rest, rest = t;
    }
    rstep = s / rstep;
    while (r < k && r < rstep && (phase + p - r * d) % s != 0) r++;
    const int taps = r < k && r < rstep ? (k - r + rstep - 1) / rstep : 0;
    const axis a = {(in - phase + s - 1) / s, s, phase, taps, r, rstep, 1, (phase + p - r * d) / s, -(rstep * d / s)};
    return a;
}

// The axes of Y from X, or with `transposed` of X from Y, where the positions have these phases.
#define CONV_AXES(phase_z, phase_y, phase_x)                                                                   \
    const axis z = transposed ? axis_backward(iz, kz, sz, dz, pz, phase_z) : axis_forward(oz, kz, sz, dz, pz); \
    const axis y = transposed ? axis_backward(iy, ky, sy, dy, py, phase_y) : axis_forward(oy, ky, sy, dy, py); \
    const axis x = transposed ? axis_backward(ix, kx, sx, dx, px, phase_x) : axis_forward(ox, kx, sx, dx, px);

// The sizes of what is read, and of what is written.
#define CONV_SIZES                                                                             \
    const int rz = transposed ? oz : iz, ry = transposed ? oy : iy, rx = transposed ? ox : ix; \
    const int wz = transposed ? iz : oz, wy = transposed ? iy : oy, wx = transposed ? ix : ox;

// Stores four neighbours of the gradient of the weights, or as many as there are: at once if all rows begin at `even` places.
static void store_weights(global REAL *to, REAL4 v, int there, int even) {
    if (even) {
        *(global REAL4 *)to = v;
        return;
    }
    to[0] = v.s0;
    if (there > 1) to[1] = v.s1;
    if (there > 2) to[2] = v.s2;
    if (there > 3) to[3] = v.s3;
}

// The taps j in [from, to) of an axis that lie within a size at position q. They are neighbours.
static int2 axis_within(axis a, int q, int size) {
    const int at = q * a.stride + a.shift;
    int from = 0, to = a.taps;
    while (from < to && (at + from * a.step < 0 || at + from * a.step >= size)) from++;
    while (to > from && (at + (to - 1) * a.step < 0 || at + (to - 1) * a.step >= size)) to--;
    return (int2)(from, to);
}
