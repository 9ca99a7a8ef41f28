// @depends: whole
// Sine and cosine of πx for element-wise kernels: turn_T(x, quarter) is sin(πx + quarter·π/2), for a quarter of 0 or 1
// and a type T. Whole turns come off exactly, and the nearest quarter. In single precision then by polynomials of an
// eighth of a turn, after Taylor: without branches or calls, so that a CPU runs work-items in the lanes of a vector, or a
// vector by itself. The error is below 2e-7, and below 4 units in the last place near zeros, too.

#ifdef REAL_IS_DOUBLE
#define TURN(T, I)                                                                                  \
    static T turn_##T(T x, int quarter) {                                                           \
        const T t = 0.5 * x, part = t - RINT(t), q = RINT(4 * part);                                \
        const T a = (part - 0.25 * q) * (2 * M_PI);                                                 \
        const T n = q + quarter; /* -2 to 3 */                                                      \
        const T v = n == 1 || n == -1 || n == 3 ? cos(a) : sin(a);                                  \
        return n >= 2 || n < 0 ? -v : v;                                                            \
    }
#else
#define TURN(T, I)                                                                                  \
    static T turn_##T(T x, int quarter) {                                                           \
        const T t = 0.5f * x, part = t - RINT(t), q = RINT(4 * part);                               \
        const T a = (part - 0.25f * q) * 6.28318531f, a2 = a * a;                                   \
        const T s3 = fma(a2, fma(a2, (T)2.75573192e-6f, (T)-1.98412698e-4f), (T)8.33333333e-3f);    \
        const T c4 = fma(a2, fma(a2, (T)2.48015873e-5f, (T)-1.38888889e-3f), (T)4.16666667e-2f);    \
        const T s = a + a * a2 * fma(a2, s3, (T)-1.66666667e-1f);                                   \
        const T c = 1 + a2 * fma(a2, c4, (T)-0.5f);                                                 \
        const I n = convert_##I(q) + quarter;                                                       \
        const T v = (n & 1) != 0 ? c : s;                                                           \
        return (n & 2) != 0 ? -v : v;                                                               \
    }
#endif

TURN(REAL, int)
TURN(REAL2, int2)
TURN(REAL4, int4)
TURN(REAL8, int8)
TURN(REAL16, int16)
