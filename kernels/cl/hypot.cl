// @depends: polynomial
// The length of (x, y): hypot_T(x, y) of a type T. In single precision on CPUs the root of the squares of numbers
// that are scaled so that no square is too large or too small: at most 1 ulp.

#ifdef POLYNOMIALS
#define HYPOT(T, I, AS, AS_INT)                                                                    \
    static T hypot_##T(T x, T y) {                                                                 \
        const T ax = fabs(x), ay = fabs(y), most = ax < ay ? ay : ax, least = ax < ay ? ax : ay;   \
        const T by = 0x1p62f < most ? (T)0x1p-70f : most < 0x1p-40f ? (T)0x1p90f : (T)1.0f;        \
        const T back = 0x1p62f < most ? (T)0x1p70f : most < 0x1p-40f ? (T)0x1p-90f : (T)1.0f;      \
        const T a = most * by, b = least * by, square = b * b, r = sqrt(fma(a, a, square)) * back; \
        return ax == INFINITY ? ax : ay == INFINITY ? ay : x != x || y != y ? (T)NAN : r;          \
    }
#else
#define HYPOT(T, I, AS, AS_INT) \
    static T hypot_##T(T x, T y) { return hypot(x, y); }
#endif
EACH_VECTOR(HYPOT)
