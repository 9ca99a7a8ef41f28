// @depends: atan_parts
// What the inverse functions of sine and cosine are made of, in single precision on CPUs: asin_parts_T(x, &more)
// returns s and what asin s adds to it, by a polynomial of the least relative error, of s = |x| up to 0.55, and
// beyond of sin((π/2 − asin |x|)/2), of which both are twice as large then.

#ifdef POLYNOMIALS
#define ASIN_PARTS(T, I, AS, AS_INT)                                                    \
    static T asin_parts_##T(T x, T *more) {                                             \
        const T a = fabs(x), z = 0.55f < a ? (1.0f - a) * 0.5f : a * a, root = sqrt(z); \
        const T s = 0.55f < a ? root + root : a;                                        \
        T p = fma(z, (T)4.5158117e-2f, (T)8.69146896e-3f);                              \
        p = fma(p, z, (T)3.34082661e-2f);                                               \
        p = fma(p, z, (T)4.43158605e-2f);                                               \
        p = fma(p, z, (T)7.50159773e-2f);                                               \
        p = fma(p, z, (T)1.66666409e-1f);                                               \
        *more = s * z * p;                                                              \
        return s;                                                                       \
    }
EACH_VECTOR(ASIN_PARTS)
#endif
