// @depends: whole
// e^x of a type T where its result is a normal number: exp_near_T(x) of |x| ≤ 87. In single precision, x less the nearest multiple
// of ln 2 in two parts (Cody and Waite, "Software Manual for the Elementary Functions", 1980, ch. 6)
// and Taylor's series of what is left, at most ln 2/2 large, to the seventh power: below 2 ulp. What is no CPU
// has a builtin that is faster.

#ifdef REAL_IS_DOUBLE
#define EXP_NEAR(T, I, AS)
#elif !defined(__x86_64__) && !defined(__aarch64__)
#define EXP_NEAR(T, I, AS) \
    static T exp_near_##T(T x) { return exp(x); }
#else
#define EXP_NEAR(T, I, AS)                                                  \
    static T exp_near_##T(T x) {                                            \
        const T n = RINT(x * 1.44269504f);                                  \
        const T r = fma(n, (T)1.90465432e-9f, fma(n, (T)-0.693147182f, x)); \
        T p = fma(r, (T)1.98412698e-4f, (T)1.38888889e-3f);                 \
        p = fma(p, r, (T)8.33333333e-3f);                                   \
        p = fma(p, r, (T)4.16666667e-2f);                                   \
        p = fma(p, r, (T)1.66666667e-1f);                                   \
        p = fma(p, r, (T)0.5f);                                             \
        p = fma(p, r, (T)1.0f);                                             \
        p = fma(p, r, (T)1.0f);                                             \
        return p * AS((convert_##I(n) + 127) << 23);                        \
    }
#endif

EXP_NEAR(REAL, int, as_float)
EXP_NEAR(REAL2, int2, as_float2)
EXP_NEAR(REAL4, int4, as_float4)
EXP_NEAR(REAL8, int8, as_float8)
EXP_NEAR(REAL16, int16, as_float16)
