// @depends: polynomial
// What sine, cosine and tangent are made of, in single precision: angle_T(t, &s, &c) takes multiples of π/2 in three
// parts off t, up to 8192 (Cody and Waite, "Software Manual for the Elementary Functions", 1980, ch. 8), and returns
// how many, and sine and cosine of what is left, at most π/4, by Taylor's series.

#ifndef REAL_IS_DOUBLE
#define ANGLE(T, I, AS, AS_INT)                                                                                \
    static T angle_##T(T t, T *s, T *c) {                                                                      \
        const T q = RINT(t * 0.636619772f);                                                                    \
        const T r = fma(q, (T)-5.390302858e-15f, fma(q, (T)-7.549789416e-8f, fma(q, (T)-1.570796251f, t)));    \
        const T r2 = r * r, s4 = fma(r2, (T)2.75573192e-6f, (T)-1.98412698e-4f);                               \
        *s = fma(r * r2, fma(r2, fma(r2, s4, (T)8.33333333e-3f), (T)-1.66666667e-1f), r);                      \
        const T c5 = fma(r2, (T)-2.75573192e-7f, (T)2.48015873e-5f);                                           \
        *c = fma(r2, fma(r2, fma(r2, fma(r2, c5, (T)-1.38888889e-3f), (T)4.16666667e-2f), (T)-0.5f), (T)1.0f); \
        return q;                                                                                              \
    }
EACH_VECTOR(ANGLE)
#endif
