// @depends: asin_parts
// The inverse of the sine: asin_T(x) of a type T. In single precision on CPUs at most 2 ulp.

#ifdef POLYNOMIALS
#define ASIN(T, I, AS, AS_INT)                                                                      \
    static T asin_##T(T x) {                                                                        \
        T more;                                                                                     \
        const T s = asin_parts_##T(x, &more), a = fabs(x), back = atan_sum_##T((T)1.0f, -s, -more); \
        return copysign(0.55f < a ? back : s + more, x);                                            \
    }
EACH_VECTOR(ASIN)
#else
SUBSTITUTE(asin, asin)
#endif
