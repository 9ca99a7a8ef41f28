// @depends: erfc
// The error function: erf_T(x) of a type T. In single precision on CPUs x·p(x²) for |x| up to 0.95, with a polynomial
// through Chebyshev's nodes, off by 2⁻³⁰ at most, and 1 − erfc beyond: at most 3 ulp.

#ifdef POLYNOMIALS
#define ERF(T, I, AS, AS_INT)                                        \
    static T erf_##T(T x) {                                          \
        const T a = fabs(x), z = x * x;                              \
        T p = fma(z, (T)8.21278053e-5f, (T)-8.10505451e-4f);         \
        p = fma(p, z, (T)5.19768481e-3f);                            \
        p = fma(p, z, (T)-2.68580425e-2f);                           \
        p = fma(p, z, (T)1.1283671e-1f);                             \
        p = fma(p, z, (T)-3.76126322e-1f);                           \
        p = fma(p, z, (T)1.12837917f);                               \
        const T near = x * p, far = copysign(1.0f - erfc_##T(a), x); \
        return a < 0.9486833f ? near : far;                          \
    }
EACH_VECTOR(ERF)
#else
SUBSTITUTE(erf, erf)
#endif
