// @depends: cosh
// The hyperbolic sine: sinh_T(x) of a type T. In single precision on CPUs half of the difference of two powers of e,
// and Taylor's series below 1: at most 2 ulp.

#ifdef POLYNOMIALS
#define SINH(T, I, AS, AS_INT)                                           \
    static T sinh_##T(T x) {                                             \
        const T e = half_exp_##T(x), inverse = 0.25f / e, z = x * x;     \
        T p = fma(z, (T)2.50521084e-8f, (T)2.75573192e-6f);              \
        p = fma(p, z, (T)1.98412698e-4f);                                \
        p = fma(p, z, (T)8.33333333e-3f);                                \
        p = fma(p, z, (T)1.66666667e-1f);                                \
        const T near = fma(x * z, p, x), far = copysign(e - inverse, x); \
        return fabs(x) < 1.0f ? near : far;                              \
    }
EACH_VECTOR(SINH)
#else
SUBSTITUTE(sinh, sinh)
#endif
