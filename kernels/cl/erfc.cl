// @depends: exp_near, polynomial
// The complement of the error function: erfc_T(x) of a type T. In single precision it is e^(−a²)·p(q)/(1 + 2a) of a = |x|,
// q = (a − 2)/(a + 2), with a polynomial p through Chebyshev's nodes, off by 2⁻²⁹ for all a up to 10.5, beyond which erfc is 0;
// and 2 less that of −x where x is negative. The exponential is the square of e^(−a²/2), which is no denormal, and takes what
// a² loses by rounding, too: at most 6 ulp on PoCL. Builtins take longer: that of PoCL 3.1 looks coefficients up for each element of a
// vector.
//
// An exact division takes a GPU longer than steps that end within an ulp of it: from a first guess, the exponent with its sign turned,
// off by an eighth, each leaves the third power of the error.

#ifdef REAL_IS_DOUBLE
#define INVERSE(T, I, AS, AS_INT)
#elif defined(__x86_64__) || defined(__aarch64__)
#define INVERSE(T, I, AS, AS_INT) \
    static T inverse_##T(T x) { return 1.0f / x; }
#else
#define INVERSE(T, I, AS, AS_INT)                  \
    static T inverse_##T(T x) {                    \
        const T g = AS((I)0x7ef311c3 - AS_INT(x)); \
        const T e = fma(-x, g, (T)1.0f);           \
        const T r = fma(g, fma(e, e, e), g);       \
        const T f = fma(-x, r, (T)1.0f);           \
        return fma(r, fma(f, f, f), r);            \
    }
#endif

#ifdef REAL_IS_DOUBLE
#define ERFC(T) \
    static T erfc_##T(T x) { return erfc(x); }
#else
#define ERFC(T)                                                                                        \
    static T erfc_##T(T x) {                                                                           \
        const T a = fabs(x) > 10.25f ? (T)10.25f : fabs(x), square = a * a, lost = fma(a, a, -square); \
        const T e = exp_near_##T(square * -0.5f);                                                      \
        const T sum = a + 2.0f, twice = fma(a, (T)2.0f, (T)1.0f), inverse = inverse_##T(sum * twice);  \
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

INVERSE(REAL, int, as_float, as_int)
INVERSE(REAL2, int2, as_float2, as_int2)
INVERSE(REAL4, int4, as_float4, as_int4)
INVERSE(REAL8, int8, as_float8, as_int8)
INVERSE(REAL16, int16, as_float16, as_int16)
ERFC(REAL)
ERFC(REAL2)
ERFC(REAL4)
ERFC(REAL8)
ERFC(REAL16)
