// @depends: atan_parts
// The inverse of the tangent: atan_T(x) of a type T. In single precision on CPUs that of −1/|x| and a quarter of a
// turn where |x| is above 1: at most 2 ulp.

#ifdef POLYNOMIALS
#define ATAN(T, I, AS, AS_INT)                                                               \
    static T atan_##T(T x) {                                                                 \
        const T a = fabs(x), t = (1.0f < a ? (T)-1.0f : a) / (1.0f < a ? a : (T)1.0f);       \
        return copysign(atan_sum_##T(1.0f < a ? (T)1.0f : (T)0.0f, t, atan_more_##T(t)), x); \
    }
EACH_VECTOR(ATAN)
#else
SUBSTITUTE(atan, atan)
#endif
