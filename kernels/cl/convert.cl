// @depends: halves
// Numbers as elements of other types, for conversions. What a type does not hold becomes the nearest that it holds: fractions
// are cut off, numbers beyond the range of an integer become its end, those beyond float16 or bfloat16 infinite. A NaN is 0
// as an integer.

static int real_as_int(REAL x) {
    if (isnan(x)) return 0;
    return x >= (REAL)0x1p31f ? INT_MAX : x <= -(REAL)0x1p31f ? INT_MIN : (int)x;
}

static uchar real_as_uchar(REAL x) {
    if (isnan(x)) return 0;
    return x >= 255 ? 255 : x <= 0 ? 0 : (uchar)(int)x;
}

// The float between which and x no float16 or bfloat16 lies, nor the middle of two: what a float does not hold is rounded to
// odd, for rounding it twice to nearest would be wrong.
static float real_as_float(REAL x) {
#ifdef REAL_IS_DOUBLE
    const float f = (float)x;
    if ((REAL)f == x || isnan(x) || (as_uint(f) & 1)) return f;
    return as_float(fabs((REAL)f) > fabs(x) ? as_uint(f) - 1 : as_uint(f) + 1);
#else
    return x;
#endif
}

static float int_as_float(int x) {
    const float f = (float)x;
    if ((long)f == x || (as_uint(f) & 1)) return f;
    return as_float(abs_diff((long)f, 0L) > abs_diff((long)x, 0L) ? as_uint(f) - 1 : as_uint(f) + 1);
}
