// @depends: common
// Interpolation over 1, 2 or 3 axes: X [outer, iz, iy, ix] to Y [outer, oz, oy, ox]. With fewer axes, the first ones have size 1.
//
// Along an axis, output q lies between inputs: at ⌊q·in/out⌋ if they are not interpolated (`linear` is 0); else at
// (q + ½)·in/out − ½, or, if the corners are aligned, at q·(in − 1)/(out − 1), and not beyond the first and the last. These are
// fractions of integers, and computed as such: no rounding decides which inputs meet.

#define INTERPOLATE_PARAMS int outer, int iz, int iy, int ix, int oz, int oy, int ox, int linear, int align

// ⌊a/b⌋, where neither is below 0. Most are ints, which devices divide in a part of the time.
static int quotient(long a, long b) { return a <= INT_MAX && b <= INT_MAX ? (int)a / (int)b : (int)(a / b); }

// Where output q lies, in units of 1/unit_of.
static long place_of(int q, int in, int out, int linear, int align) {
    if (!linear) return (long)q * in;
    return align ? (long)q * (in - 1) : clamp((2 * (long)q + 1) * in - out, (long)0, 2 * ((long)in - 1) * out);
}
static long unit_of(int out, int linear, int align) { return !linear ? out : align ? max(out - 1, 1) : 2 * (long)out; }

// The inputs of an output: i, and the one behind it with weight w; the same one with weight 0.
typedef struct {
    int i, next;
    REAL w;
} between;

static between between_of(int q, int in, int out, int linear, int align) {
    const long at = place_of(q, in, out, linear, align), unit = unit_of(out, linear, align);
    between b;
    b.i = quotient(at, unit);
    b.w = linear ? (REAL)(at - b.i * unit) / (REAL)unit : 0;
    b.next = b.i + (b.w != 0);
    return b;
}

// The outputs, from s0 to below s1, among which are all that read input i.
static int2 reading(int i, int in, int out, int linear, int align) {
    long from, to;
    if (!linear) {
        from = quotient((long)i * out + in - 1, in), to = quotient((long)(i + 1) * out + in - 1, in);
    } else if (align) {
        from = in > 1 ? quotient(max(i - 1, 0) * ((long)out - 1), in - 1) : 0;
        to = in > 1 ? quotient(((long)i + 1) * (out - 1), in - 1) + (long)1 : out;
    } else {
        from = i == 0 ? 0 : quotient(max((2 * (long)i - 1) * out - in, (long)0), 2 * (long)in);
        to = i == in - 1 ? out : quotient(max((2 * (long)i + 3) * out - in, (long)0), 2 * (long)in) + (long)1;
    }
    return (int2)((int)from, (int)min(to, (long)out));
}

// What an output among those reads of input i.
static REAL weight_of(int q, int i, int in, int out, int linear, int align) {
    if (!linear) return 1;
    const long unit = unit_of(out, linear, align), far = abs_diff(place_of(q, in, out, linear, align), i * unit);
    return far < unit ? (REAL)(unit - far) / (REAL)unit : 0;
}

// Between u and v. What has weight 0 is not read: it may be infinite.
static REAL mixed(REAL w, REAL u, REAL v) { return w == 0 ? u : (1 - w) * u + w * v; }
