// @depends: convert
// A number or a vector x of a type T rounded to a float of 16 bits, ties to even, as a T: in_float16_T(x), in_bfloat16_T(x).

static REAL in_float16_REAL(REAL x) { return from_float16(to_float16(real_as_float(x))); }
static REAL in_bfloat16_REAL(REAL x) { return from_bfloat16(to_bfloat16(real_as_float(x))); }

// A vector of two others.
#define ROUNDED_BY_HALVES(name, T, half_of_T) \
    static T name##_##T(T x) { return (T)(name##_##half_of_T(x.lo), name##_##half_of_T(x.hi)); }

ROUNDED_BY_HALVES(in_float16, REAL2, REAL)
ROUNDED_BY_HALVES(in_bfloat16, REAL2, REAL)
#ifdef REAL_IS_DOUBLE
ROUNDED_BY_HALVES(in_float16, REAL4, REAL2)
ROUNDED_BY_HALVES(in_bfloat16, REAL4, REAL2)
#else
static REAL4 in_float16_REAL4(REAL4 x) { return from_float16_4(to_float16_4(x)); }
static REAL4 in_bfloat16_REAL4(REAL4 x) { return from_bfloat16_4(to_bfloat16_4(x)); }
#endif
ROUNDED_BY_HALVES(in_float16, REAL8, REAL4)
ROUNDED_BY_HALVES(in_bfloat16, REAL8, REAL4)
#ifdef REAL_IS_DOUBLE
ROUNDED_BY_HALVES(in_float16, REAL16, REAL8)
ROUNDED_BY_HALVES(in_bfloat16, REAL16, REAL8)
#else
static REAL16 in_float16_REAL16(REAL16 x) { return from_float16_16(to_float16_16(x)); }
static REAL16 in_bfloat16_REAL16(REAL16 x) { return from_bfloat16_16(to_bfloat16_16(x)); }
#endif
