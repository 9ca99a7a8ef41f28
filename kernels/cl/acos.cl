// @depends: asin_parts
// The inverse of the cosine: acos_T(x) of a type T. In single precision on CPUs at most 2 ulp.

#ifdef POLYNOMIALS
#define ACOS(T, I, AS, AS_INT)                                                   \
    static T acos_##T(T x) {                                                     \
        T more;                                                                  \
        const T s = asin_parts_##T(x, &more), a = fabs(x);                       \
        const T base = 0.55f < a ? x < 0 ? (T)2.0f : (T)0.0f : (T)1.0f;          \
        const T side = 0.55f < a ? copysign((T)1.0f, x) : copysign((T)1.0f, -x); \
        return atan_sum_##T(base, s * side, more * side);                        \
    }
EACH_VECTOR(ACOS)
#else
SUBSTITUTE(acos, acos)
#endif
