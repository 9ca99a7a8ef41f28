// @depends: polynomial
// What logarithms are made of, in single precision on CPUs, of an x above 0 that is v·2ⁿ with a normal v:
//
//   log_normal_T(x, &n) is v
//   log_parts_T(v, n, &f, &h, &s, &rest) is e, x being (1 + f)·2ᵉ with 1 + f from √½ to √2; log(1 + f) is f − (h − s·rest)
//   log_ends_T(y, x) is y, a logarithm, and where x is no positive number, what that of x is
//   log_of_T(v, n, more, x) is log v + n·log 2 + more, with these ends
//
// With s = f/(2 + f), log(1 + f) is 2s + 2s³/3 + 2s⁵/5 …, and 2s is f − h + s·h, h being f²/2.

#ifdef POLYNOMIALS
#define LOG_PARTS(T, I, AS, AS_INT)                                                                    \
    static T log_normal_##T(T x, T *n) {                                                               \
        *n = x < 0x1p-125f ? (T)-23.0f : (T)0.0f;                                                      \
        return x < 0x1p-125f ? x * 0x1p23f : x;                                                        \
    }                                                                                                  \
    static T log_parts_##T(T v, T n, T *f, T *h, T *s, T *rest) {                                      \
        const I bits = AS_INT(v);                                                                      \
        const T one = AS((bits & 0x7fffff) | 0x3f800000);                                              \
        const T places = AS((bits >> 23) | 0x4b000000) - 8388735.0f;                                   \
        const T m = one > 1.41421354f ? one * 0.5f : one, d = m - 1.0f, q = d / (d + 2.0f), z = q * q; \
        const T half_square = d * d * 0.5f;                                                            \
        T p = fma(z, (T)1.81818187e-1f, (T)2.22222224e-1f);                                            \
        p = fma(p, z, (T)2.85714298e-1f);                                                              \
        p = fma(p, z, (T)4.00000006e-1f);                                                              \
        p = fma(p, z, (T)6.66666687e-1f);                                                              \
        *f = d;                                                                                        \
        *h = half_square;                                                                              \
        *s = q;                                                                                        \
        *rest = fma(z, p, half_square);                                                                \
        return (one > 1.41421354f ? places + 1.0f : places) + n;                                       \
    }                                                                                                  \
    static T log_ends_##T(T y, T x) {                                                                  \
        const T below = x == 0 ? (T)-INFINITY : (T)NAN;                                                \
        return x > 0 ? x == INFINITY ? x : y : x != x ? x : below;                                     \
    }                                                                                                  \
    static T log_of_##T(T v, T n, T more, T x) {                                                       \
        T f, h, s, rest;                                                                               \
        const T e = log_parts_##T(v, n, &f, &h, &s, &rest);                                            \
        const T least = fma(s, rest, fma(e, (T)-1.90465432e-9f, more));                                \
        return log_ends_##T(fma(e, (T)0.693147182f, f - (h - least)), x);                              \
    }
EACH_VECTOR(LOG_PARTS)
#endif
