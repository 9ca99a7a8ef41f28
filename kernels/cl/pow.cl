// @depends: whole
// x to the power y: pow_T(x, y) of a type T. In single precision it is 2 to the power y·log₂|x|, of
// which two numbers hold about 40 bits, and of squares and cubes the product: with s = f/(2 + f), log(1 + f) is 2s +
// s³·p(s²) with a polynomial of the least error, off by 2⁻³⁶. At most 2 ulp on PoCL, whose builtin takes fifty times
// as long, and for vectors is wrong beside infinite elements. What is no CPU has one that is faster.

#if defined(REAL_IS_DOUBLE) || !defined(__x86_64__) && !defined(__aarch64__)
#define POW(T, I, AS, AS_INT, LANES) \
    static T pow_##T(T x, T y) { LANES }
#else
#define POW(T, I, AS, AS_INT, LANES)                                                                      \
    static T pow_##T(T x, T y) {                                                                          \
        const T square = x * x;                                                                           \
        if (ALL(y == 2.0f || y == 3.0f)) return y == 2.0f ? square : square * x;                          \
        const T a = fabs(x), v = a < 0x1p-126f ? a * 0x1p23f : a;                                         \
        const I bits = AS_INT(v);                                                                         \
        const T one = AS((bits & 0x7fffff) | 0x3f800000), m = one > 1.41421354f ? one * 0.5f : one;       \
        const T places = AS((bits >> 23) | 0x4b000000) - (a < 0x1p-126f ? (T)8388758.0f : (T)8388735.0f); \
        const T e = one > 1.41421354f ? places + 1.0f : places;                                           \
        /* The logarithm of m. */                                                                         \
        const T f = m - 1.0f, sum = f + 2.0f, s = f / sum;                                                \
        const T s2 = fma(-s, f - (sum - 2.0f), fma(-s, sum, f)) / sum;                                    \
        const T z = s * s, cube = z * s, cube2 = fma(fma(s, s, -z), s, fma(z, s, -cube));                 \
        T p = fma(z, (T)0.23582152f, (T)0.285373085f);                                                    \
        p = fma(p, z, (T)0.40000335f);                                                                    \
        p = fma(p, z, (T)0.666666656f);                                                                   \
        const T t = cube * p, t2 = fma(cube2, p, fma(cube, p, -t)), twice = s + s, more = s2 + s2;        \
        const T h = twice + t, l = (t - (h - twice)) + (fma(z, more, more) + t2);                         \
        /* Over that of 2, with the exponent. */                                                          \
        const T g = h * 1.44269502f, lost = fma(h, (T)1.92596299e-8f, fma(h, (T)1.44269502f, -g));        \
        const T g2 = fma(l, (T)1.44269502f, lost);                                                        \
        const T sure = e + g, low = g2 + (g - (sure - e));                                                \
        const T high = a == 0 ? (T)-INFINITY : a == INFINITY ? a : sure;                                  \
        /* 2 to the power of y times that. */                                                             \
        const T q = y * high, rest = fabs(q) < 160.0f ? fma(y, low, fma(y, high, -q)) : (T)0.0f;          \
        const T near = q < -152.0f ? (T)-152.0f : q > 130.0f ? (T)130.0f : q != q ? (T)0.0f : q;          \
        const T n = RINT(near), r = ((near - n) + rest) * 0.693147182f;                                   \
        T w = fma(r, (T)1.98412698e-4f, (T)1.38888889e-3f);                                               \
        w = fma(w, r, (T)8.33333333e-3f);                                                                 \
        w = fma(w, r, (T)4.16666667e-2f);                                                                 \
        w = fma(w, r, (T)1.66666667e-1f);                                                                 \
        w = fma(w, r, (T)0.5f);                                                                           \
        w = fma(r * r, w, r) + 1.0f;                                                                      \
        const I whole = convert_##I(n), part = whole >> 1;                                                \
        w = w * AS((part + 127) << 23) * AS((whole - part + 127) << 23);                                  \
        w = a == 1.0f ? (T)1.0f : w;                                                                      \
        /* That of a negative number has its sign if y is odd, and is none if y is not whole. */          \
        const T middle = y * 0.5f;                                                                        \
        const T signed_w = RINT(y) == y && FLOOR(middle) != middle ? copysign(w, x) : w;                  \
        const T value = x < 0 && a != INFINITY && RINT(y) != y ? (T)NAN : signed_w;                       \
        const T any = y == 0 || x == 1.0f ? (T)1.0f : x != x || y != y ? (T)NAN : value;                  \
        return y == 2.0f ? square : y == 3.0f ? square * x : any;                                         \
    }
#endif

#define ONE return pow(x, y);
#define LANES(n)                                               \
    REAL each[n], by[n];                                       \
    vstore##n(x, 0, each);                                     \
    vstore##n(y, 0, by);                                       \
    for (int i = 0; i < n; i++) each[i] = pow(each[i], by[i]); \
    return vload##n(0, each);

#define ALL(c) (c)
POW(REAL, int, as_float, as_int, ONE)
#undef ALL
#define ALL(c) all(c)
POW(REAL2, int2, as_float2, as_int2, LANES(2))
POW(REAL4, int4, as_float4, as_int4, LANES(4))
POW(REAL8, int8, as_float8, as_int8, LANES(8))
POW(REAL16, int16, as_float16, as_int16, LANES(16))
#undef ALL
#undef ONE
#undef LANES

// Of ints, modulo 2 to the power of their bits: the product of the squares of x for the bits of y that are 1. Of y below 0
// it is the whole part of the power, which is 0 but for x of 1 and -1.
#define POW_INT(T, U, BITS)                                                               \
    static T pow_##T(T x, T y) {                                                          \
        U square = as_##U(x), value = (U)1;                                               \
        for (int k = 0; k < BITS; k++) {                                                  \
            value = (y >> (T)k & (T)1) != (T)0 ? value * square : value;                  \
            square *= square;                                                             \
        }                                                                                 \
        const T minus = x != (T)-1 ? (T)0 : (y & (T)1) != (T)0 ? x : (T)1;                \
        return y >= (T)0 ? as_##T(value) : x == (T)1 ? x : minus;                         \
    }

POW_INT(int, uint, 32)
POW_INT(int2, uint2, 32)
POW_INT(int4, uint4, 32)
POW_INT(int8, uint8, 32)
POW_INT(int16, uint16, 32)
POW_INT(long, ulong, 64)
POW_INT(long2, ulong2, 64)
POW_INT(long4, ulong4, 64)
POW_INT(long8, ulong8, 64)
POW_INT(long16, ulong16, 64)
POW_INT(ulong, ulong, 64)
POW_INT(ulong2, ulong2, 64)
POW_INT(ulong4, ulong4, 64)
POW_INT(ulong8, ulong8, 64)
POW_INT(ulong16, ulong16, 64)
