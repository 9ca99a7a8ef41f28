// @depends: polynomial
// What inverse functions of angles are made of, in single precision on CPUs: atan_more_T(t) is what atan t adds to t
// of |t| up to 1, by a polynomial of the least relative error, off by 2⁻²⁸ of atan t at most; and atan_sum_T(base, v,
// more) is base·π/2 + v + more, of whole base up to 2.

#ifdef POLYNOMIALS
#define ATAN_PARTS(T, I, AS, AS_INT)                                             \
    static T atan_more_##T(T t) {                                                \
        const T z = t * t;                                                       \
        T p = fma(z, (T)-1.79361246e-3f, (T)1.09145643e-2f);                     \
        p = fma(p, z, (T)-3.11777687e-2f);                                       \
        p = fma(p, z, (T)5.79575161e-2f);                                        \
        p = fma(p, z, (T)-8.40344581e-2f);                                       \
        p = fma(p, z, (T)1.09521842e-1f);                                        \
        p = fma(p, z, (T)-1.42642414e-1f);                                       \
        p = fma(p, z, (T)1.99985483e-1f);                                        \
        p = fma(p, z, (T)-3.33332991e-1f);                                       \
        return t * z * p;                                                        \
    }                                                                            \
    static T atan_sum_##T(T base, T v, T more) {                                 \
        return fma(base, (T)1.57079637f, v + fma(base, (T)-4.371139e-8f, more)); \
    }
EACH_VECTOR(ATAN_PARTS)
#endif
