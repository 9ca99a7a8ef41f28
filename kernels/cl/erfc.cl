// @depends: common
// The complement of the error function: erfc_T(x) of a type T. In single precision it is e^(−a²)·p(q)/(1 + 2a) of a = |x|,
// q = (a − 2)/(a + 2), with a polynomial p through Chebyshev's nodes, off by 2⁻²⁹ for all a up to 10.5, beyond which erfc is 0;
// and 2 less that of −x where x is negative. The exponential is the square of e^(−a²/2), which is no denormal, and takes what
// a² loses by rounding, too: at most 6 ulp on PoCL. Builtins take longer: that of PoCL 3.1 looks coefficients up for each element of a
// vector.

#ifdef REAL_IS_DOUBLE
#define ERFC_EXP(T, I, AS)
#elif defined(__x86_64__) || defined(__aarch64__) // as exp.cl does
#define ERFC_EXP(T, I, AS)                                                  \
    static T erfc_exp_##T(T x) {                                            \
        const T n = rint(x * 1.44269504f);                                  \
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
#else
#define ERFC_EXP(T, I, AS) \
    static T erfc_exp_##T(T x) { return exp(x); }
#endif

#ifdef REAL_IS_DOUBLE
#define ERFC(T, I, AS) \
    static T erfc_##T(T x) { return erfc(x); }
#else
#define ERFC(T, I, AS)                                                                                 \
    static T erfc_##T(T x) {                                                                           \
        const T a = fabs(x) > 10.25f ? (T)10.25f : fabs(x), square = a * a, lost = fma(a, a, -square); \
        const T e = erfc_exp_##T(square * -0.5f);                                                      \
        const T sum = a + 2.0f, twice = fma(a, (T)2.0f, (T)1.0f), inverse = 1.0f / (sum * twice);      \
        const T q = (a - 2.0f) * (twice * inverse);                                                    \
        T p = fma(q, (T)8.3838182124330982e-5f, (T)1.778078076999818e-4f);                             \
        p = fma(p, q, (T)-4.0183451642194527e-4f);                                                     \
        p = fma(p, q, (T)-1.4301499271922352e-3f);                                                     \
        p = fma(p, q, (T)1.2506210333167137e-3f);                                                      \
        p = fma(p, q, (T)8.712785678741647e-3f);                                                       \
        p = fma(p, q, (T)-8.0297842599010608e-3f);                                                     \
        p = fma(p, q, (T)-5.421843722837164e-2f);                                                      \
        p = fma(p, q, (T)1.6405087960761196e-1f);                                                      \
        p = fma(p, q, (T)-1.6603048495117275e-1f);                                                     \
        p = fma(p, q, (T)-9.2763814822355805e-2f);                                                     \
        p = fma(p, q, (T)1.2769783823067076f);                                                         \
        const T v = fma(-e, lost, e) * (p * (sum * inverse)) * e;                                      \
        return x < 0 ? 2.0f - v : v;                                                                   \
    }
#endif

ERFC_EXP(REAL, int, as_float)
ERFC(REAL, int, as_float)
ERFC_EXP(REAL2, int2, as_float2)
ERFC(REAL2, int2, as_float2)
ERFC_EXP(REAL4, int4, as_float4)
ERFC(REAL4, int4, as_float4)
ERFC_EXP(REAL8, int8, as_float8)
ERFC(REAL8, int8, as_float8)
ERFC_EXP(REAL16, int16, as_float16)
ERFC(REAL16, int16, as_float16)
