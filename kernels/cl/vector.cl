// @depends: common
// Helpers over vectors of sixteen, and of work-items of a CPU.

// The units [from, to) of a launch that a work-item computes.
#define RANGE(units)                                                             \
    const int groups = get_num_groups(0), per = ((units) + groups - 1) / groups; \
    const int from = get_group_id(0) * per, to = min((units), from + per);

// Halves of halves: the fixed tree over a vector.
static REAL sum16(REAL16 v) {
    REAL8 a = v.lo + v.hi;
    REAL4 b = a.lo + a.hi;
    return (b.s0 + b.s2) + (b.s1 + b.s3);
}

// The first `count` of sixteen neighbours from p on, `other` past them.
static REAL16 load16(global const REAL *p, int count, REAL other) {
    if (count >= 16) return vload16(0, p);
    REAL each[16];
    for (int i = 0; i < 16; i++) each[i] = i < count ? p[i] : other;
    return vload16(0, each);
}

// Writes the first `count` elements of v from p on.
static void store16(REAL16 v, global REAL *p, int count) {
    if (count >= 16) {
        vstore16(v, 0, p);
        return;
    }
    REAL each[16];
    vstore16(v, 0, each);
    for (int i = 0; i < count; i++) p[i] = each[i];
}

// The larger of each pair; a NaN of b is passed over.
static REAL16 larger16(REAL16 a, REAL16 b) { return b > a ? b : a; }

static REAL max16(REAL16 v) {
    const REAL8 a = v.lo > v.hi ? v.lo : v.hi;
    const REAL4 b = a.lo > a.hi ? a.lo : a.hi;
    const REAL2 c = b.lo > b.hi ? b.lo : b.hi;
    return c.lo > c.hi ? c.lo : c.hi;
}
