// @depends: common
// Helpers over vectors of sixteen.

// Halves of halves: the fixed tree over a vector.
static REAL sum16(REAL16 v) {
    REAL8 a = v.lo + v.hi;
    REAL4 b = a.lo + a.hi;
    return (b.s0 + b.s2) + (b.s1 + b.s3);
}
