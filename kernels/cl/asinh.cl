// @depends: log1p
// The inverse of the hyperbolic sine: asinh_T(x) of a type T. In single precision on CPUs log(1 + a + a²/(1 + √(1 +
// a²))) of a = |x|: at most 3 ulp.

#ifdef POLYNOMIALS
#define ASINH(T, I, AS, AS_INT)                                          \
    static T asinh_##T(T x) {                                            \
        const T a = fabs(x), square = a * a, root = sqrt(square + 1.0f); \
        return copysign(log1p_of_##T(a + square / (root + 1.0f), a), x); \
    }
EACH_VECTOR(ASINH)
#else
SUBSTITUTE(asinh, asinh)
#endif
