// @depends: common
// The exponential for rows and attention: exp_T(x) of a type T for x ≤ 0, −∞ and NaN. In single precision, x less the
// nearest multiple of ln 2 in two parts (Cody and Waite, "Software Manual for the Elementary Functions", 1980, ch. 6)
// and Taylor's series of what is left, at most ln 2/2 large, to the seventh power: below 2 ulp. Results below the least
// normal number are 0. The builtin takes any argument.

#ifdef REAL_IS_DOUBLE
#define EXP(T, I, AS) \
    static T exp_##T(T x) { return exp(x); }
#else
#define EXP(T, I, AS)                                                                     \
    static T exp_##T(T x) {                                                               \
        const T q = rint((x < -88.0f ? (T)-88.0f : x) * 1.44269504f);                     \
        const T r = fma(q, (T)1.90465432e-9f, fma(q, (T)-0.693147182f, x));               \
        T p = fma(r, (T)1.98412698e-4f, (T)1.38888889e-3f);                               \
        p = fma(p, r, (T)8.33333333e-3f);                                                 \
        p = fma(p, r, (T)4.16666667e-2f);                                                 \
        p = fma(p, r, (T)1.66666667e-1f);                                                 \
        p = fma(p, r, (T)0.5f);                                                           \
        p = fma(p, r, (T)1.0f);                                                           \
        p = fma(p, r, (T)1.0f);                                                           \
        return x < -87.3365f ? (T)0.0f : p * AS((convert_##I(q) + 127) << 23);            \
    }
#endif

EXP(REAL, int, as_float)
EXP(REAL16, int16, as_float16)
