// @depends: common
// What the kernels of pooling over 1, 2 or 3 axes share: X [outer, iz, iy, ix] to Y [outer, oz, oy, ox]. With fewer axes, the first ones have size 1.
//
// Along each axis, output q has a window of inputs: q·s − p + j·d for j below k, as far as they lie within X; if the pooling
// is adaptive, those from ⌊q·in/out⌋ to below ⌈(q + 1)·in/out⌉. The numbers of a window may be constants, KZ to PX, which lets
// the compiler unroll it.

#define POOL_PARAMS int outer, int iz, int iy, int ix, int oz, int oy, int ox, int kz, int ky, int kx, int sz, int sy, int sx, int dz, int dy, int dx, int pz, int py, int px, int adaptive
#ifndef KX
#define KZ kz
#define KY ky
#define KX kx
#define SZ sz
#define SY sy
#define SX sx
#define DZ dz
#define DY dy
#define DX dx
#define PZ pz
#define PY py
#define PX px
#define ADAPTIVE adaptive
#else
#define ADAPTIVE 0
#endif

// Inputs first + j·step, j below taps, are the window of output q along an axis; some may lie outside of X.
typedef struct {
    int first, taps, step;
} window;

static window window_of(int q, int in, int out, int k, int s, int d, int p, int adaptive) {
    window w = {q * s - p, k, d};
    if (adaptive) {
        w.first = (long)q * in / out;
        w.taps = ((long)(q + 1) * in + out - 1) / out - w.first;
        w.step = 1;
    }
    return w;
}

// The outputs, from s0 to below s1, of whose windows input i may be one.
static int2 outputs_of(int i, int in, int out, int k, int s, int d, int p, int adaptive) {
    if (adaptive) return (int2)((int)((long)i * out / in), (int)(((long)(i + 1) * out + in - 1) / in));
    const int least = i + p - (k - 1) * d;
    return (int2)(least > 0 ? (least + s - 1) / s : 0, min(out, (i + p) / s + 1));
}

// How many inputs of a window along an axis a mean counts: those within X, or, if it `counts` the padding, within that. The
// number of a whole window, a product of these, may be no int where it is nearly all padding.
static REAL counted(window w, int in, int p, int counts) {
    return counts ? min(w.first + w.taps, in + p) - w.first : min(w.first + w.taps, in) - max(w.first, 0);
}
