// @depends: halves
// Numbers as elements of other types, for maps that convert. As integers fractions are cut off, what is beyond the range becomes
// its end, and a NaN is 0. There is a function for each width of the kernels of maps.
#define WIDTHS(name, T, X)                                                                                                   \
    static T##4 name##_4(X##4 x) { return (T##4)(name(x.s0), name(x.s1), name(x.s2), name(x.s3)); }                            \
    static T##16 name##_16(X##16 x) {                                                                                        \
        return (T##16)(name(x.s0), name(x.s1), name(x.s2), name(x.s3), name(x.s4), name(x.s5), name(x.s6), name(x.s7), name(x.s8), \
                       name(x.s9), name(x.sa), name(x.sb), name(x.sc), name(x.sd), name(x.se), name(x.sf));                   \
    }

#define TO_INTEGER(T, LEAST, MOST, END)                                     \
    static T real_as_##T(REAL x) {                                          \
        if (isnan(x)) return 0;                                             \
        return x >= (REAL)END ? MOST : x <= (REAL)LEAST ? LEAST : (T)x;     \
    }                                                                       \
    WIDTHS(real_as_##T, T, REAL)
TO_INTEGER(char, CHAR_MIN, CHAR_MAX, 0x1p7f)
TO_INTEGER(short, SHRT_MIN, SHRT_MAX, 0x1p15f)
TO_INTEGER(int, INT_MIN, INT_MAX, 0x1p31f)
TO_INTEGER(long, LONG_MIN, LONG_MAX, 0x1p63f)
TO_INTEGER(uchar, 0, UCHAR_MAX, 0x1p8f)
TO_INTEGER(ushort, 0, USHRT_MAX, 0x1p16f)
TO_INTEGER(uint, 0, UINT_MAX, 0x1p32f)
TO_INTEGER(ulong, 0, ULONG_MAX, 0x1p64f)

// The float between which and x no float16 or bfloat16 lies, nor the middle of two: what a float does not hold is rounded to
// odd, for rounding it twice to nearest would be wrong. From 2¹²⁸ on it is infinite.
static float real_as_float(REAL x) {
#ifdef REAL_IS_DOUBLE
    const float f = (float)x;
    if ((REAL)f == x || isnan(x) || (as_uint(f) & 1) || fabs(x) >= 0x1p128) return f;
    return as_float(fabs((REAL)f) > fabs(x) ? as_uint(f) - 1 : as_uint(f) + 1);
#else
    return x;
#endif
}
#ifdef REAL_IS_DOUBLE
WIDTHS(real_as_float, float, REAL)
#else
#define real_as_float_4(x) (x)
#define real_as_float_16(x) (x)
#endif

static float odd_ulong(ulong x) {
    const int drop = max(0, 40 - (int)clz(x)); // bits beyond the 24 of a float
    const ulong top = x >> drop;
    return ldexp((float)(top << drop == x ? top : top | 1), drop);
}

static float odd_long(long x) { return x < 0 ? -odd_ulong(0 - (ulong)x) : odd_ulong(x); }
static float odd_int(int x) { return odd_long(x); }
static float odd_uint(uint x) { return odd_ulong(x); }
WIDTHS(odd_int, float, int)
WIDTHS(odd_uint, float, uint)
WIDTHS(odd_long, float, long)
WIDTHS(odd_ulong, float, ulong)
