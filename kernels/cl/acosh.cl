// @depends: log1p
// The inverse of the hyperbolic cosine: acosh_T(x) of a type T. In single precision on CPUs log(1 + t + √(t·(t + 2)))
// of t = x − 1: at most 3 ulp.

#ifdef POLYNOMIALS
#define ACOSH(T, I, AS, AS_INT)                                              \
    static T acosh_##T(T x) {                                                \
        const T t = x - 1.0f, y = log1p_of_##T(t + sqrt(t * (t + 2.0f)), x); \
        return x < 1.0f ? (T)NAN : y;                                        \
    }
EACH_VECTOR(ACOSH)
#else
SUBSTITUTE(acosh, acosh)
#endif
