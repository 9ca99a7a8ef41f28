// @depends: polynomial
// What powers of e are made of, in single precision on CPUs. exp_parts_T(x, &n) returns q for which e^x is (1 +
// q)·2ⁿ: x less the nearest multiple of ln 2 in two parts (Cody and Waite, "Software Manual for the Elementary
// Functions", 1980, ch. 6) by Taylor's series to the seventh power, exp_series_T(r) of what is left. exp_two_T(n) is
// 2ⁿ of whole n from −126 to 127.

#ifdef POLYNOMIALS
#define EXP_PARTS(T, I, AS, AS_INT)                                               \
    static T exp_series_##T(T r) {                                                \
        T p = fma(r, (T)1.98412698e-4f, (T)1.38888889e-3f);                       \
        p = fma(p, r, (T)8.33333333e-3f);                                         \
        p = fma(p, r, (T)4.16666667e-2f);                                         \
        p = fma(p, r, (T)1.66666667e-1f);                                         \
        p = fma(p, r, (T)0.5f);                                                   \
        return fma(r * r, p, r);                                                  \
    }                                                                             \
    static T exp_parts_##T(T x, T *n) {                                           \
        const T near = RINT(x * 1.44269504f);                                     \
        const T r = fma(near, (T)1.90465432e-9f, fma(near, (T)-0.693147182f, x)); \
        *n = near;                                                                \
        return exp_series_##T(r);                                                 \
    }                                                                             \
    static T exp_two_##T(T n) { return AS(AS_INT(n + 12583039.0f) << 23); }
EACH_VECTOR(EXP_PARTS)
#endif
