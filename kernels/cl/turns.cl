// @depends: common
// Sine and cosine of t ≥ 0 turns. Dropping whole turns is exact. In single precision then by polynomials of an
// eighth of a turn, after Taylor: without branches or calls, so that a CPU runs work-items in the lanes of a
// vector, or a vector by itself. The error is below 2e-7.

#ifdef REAL_IS_DOUBLE
#define SINCOS_TURNS(T, I)                                                                          \
    static void sincos_turns_##T(T t, T *sine, T *cosine) {                                         \
        const T part = t - floor(t);                                                                \
        *sine = sinpi(2 * part);                                                                    \
        *cosine = cospi(2 * part);                                                                  \
    }
#else
#define SINCOS_TURNS(T, I)                                                                          \
    static void sincos_turns_##T(T t, T *sine, T *cosine) {                                         \
        const T part = t - floor(t), q = rint(4 * part);                                            \
        const T a = (part - 0.25f * q) * 6.28318531f, a2 = a * a;                                   \
        const T s3 = fma(a2, fma(a2, (T)2.75573192e-6f, (T)-1.98412698e-4f), (T)8.33333333e-3f);    \
        const T c4 = fma(a2, fma(a2, (T)2.48015873e-5f, (T)-1.38888889e-3f), (T)4.16666667e-2f);    \
        const T s = a + a * a2 * fma(a2, s3, (T)-1.66666667e-1f);                                   \
        const T c = 1 + a2 * fma(a2, c4, (T)-0.5f);                                                 \
        const I quarter = convert_##I(q);                                                           \
        const T x = select(s, c, (quarter & 1) != 0), y = select(c, s, (quarter & 1) != 0);         \
        *sine = select(x, -x, (quarter & 2) != 0);                                                  \
        *cosine = select(y, -y, ((quarter + 1) & 2) != 0);                                          \
    }
#endif
