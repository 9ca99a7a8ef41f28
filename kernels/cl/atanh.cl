// @depends: log1p
// The inverse of the hyperbolic tangent: atanh_T(x) of a type T. In single precision on CPUs half of log(1 + 2a/(1 −
// a)) of a = |x|: at most 3 ulp.

#ifdef POLYNOMIALS
#define ATANH(T, I, AS, AS_INT)                                          \
    static T atanh_##T(T x) {                                            \
        const T a = fabs(x), y = log1p_##T((a + a) / (1.0f - a)) * 0.5f; \
        return copysign(y, x);                                           \
    }
EACH_VECTOR(ATANH)
#else
SUBSTITUTE(atanh, atanh)
#endif
