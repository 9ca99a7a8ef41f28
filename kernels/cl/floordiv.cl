// @depends: whole
// What is left over of the quotient of two numbers rounded towards 0, and the quotient rounded down,
// as Python's // has it: fmod_T(x, y) and floordiv_T(x, y) of a type T. In single precision, of a quotient below 2²⁴,
// a fused product and sum has the rest exactly, or less by y where the quotient was rounded up to a whole number.
// Builtins go bit by bit, and take others one by one: that of PoCL 3.1 for vectors is wrong in elements beside an
// infinite one.

#if defined(REAL_IS_DOUBLE) || !defined(__x86_64__) && !defined(__aarch64__)
#define FMOD(T, REST) \
    static T fmod_##T(T x, T y) { REST }
#else
#define FMOD(T, REST)                                                             \
    static T fmod_##T(T x, T y) {                                                 \
        const T a = fabs(x), b = fabs(y), q = a / b, near = fma(-TRUNC(q), b, a); \
        if (!ALL(q < 0x1p24f)) { REST }                                           \
        return copysign(a < b ? a : near < 0 ? near + b : near, x);               \
    }
#endif

// What is left over is taken off first, so that the quotient is near a whole number.
#define FLOORDIV(T)                                                              \
    static T floordiv_##T(T x, T y) {                                            \
        const T rest = fmod_##T(x, y), near = (x - rest) / y;                    \
        const T down = rest < 0 && y > 0 || rest > 0 && y < 0 ? near - 1 : near; \
        return y == 0 ? x / y : down == 0 ? copysign((T)0, x / y) : RINT(down);  \
    }

#define ONE return fmod(x, y);
#define LANES(n)                                                \
    REAL each[n], by[n];                                        \
    vstore##n(x, 0, each);                                      \
    vstore##n(y, 0, by);                                        \
    for (int i = 0; i < n; i++) each[i] = fmod(each[i], by[i]); \
    return vload##n(0, each);

#define ALL(c) (c)
FMOD(REAL, ONE)
#undef ALL
#define ALL(c) all(c)
FMOD(REAL2, LANES(2))
FMOD(REAL4, LANES(4))
FMOD(REAL8, LANES(8))
FMOD(REAL16, LANES(16))
#undef ALL
#undef ONE
#undef LANES
FLOORDIV(REAL)
FLOORDIV(REAL2)
FLOORDIV(REAL4)
FLOORDIV(REAL8)
FLOORDIV(REAL16)

// Of ints, 0 where y is 0. The division is by 1 where it could trap.
#define FLOORDIV_INT(T, U)                                                        \
    static T fmod_##T(T x, T y) { return x % (y == 0 || y == -1 ? (T)1 : y); }    \
    static T floordiv_##T(T x, T y) {                                             \
        const T by = y == 0 || y == -1 ? (T)1 : y, q = x / by, rest = x - q * by; \
        const T down = rest != 0 && (rest ^ by) < 0 ? q - 1 : q;                  \
        return y == 0 ? (T)0 : y == -1 ? as_##T(0 - as_##U(x)) : down;            \
    }

FLOORDIV_INT(int, uint)
FLOORDIV_INT(int2, uint2)
FLOORDIV_INT(int4, uint4)
FLOORDIV_INT(int8, uint8)
FLOORDIV_INT(int16, uint16)
FLOORDIV_INT(long, ulong)
FLOORDIV_INT(long2, ulong2)
FLOORDIV_INT(long4, ulong4)
FLOORDIV_INT(long8, ulong8)
FLOORDIV_INT(long16, ulong16)

#define FLOORDIV_UNSIGNED(T)                                          \
    static T fmod_##T(T x, T y) { return x % (y == 0 ? (T)1 : y); }   \
    static T floordiv_##T(T x, T y) { return y == 0 ? (T)0 : x / (y == 0 ? (T)1 : y); }

FLOORDIV_UNSIGNED(ulong)
FLOORDIV_UNSIGNED(ulong2)
FLOORDIV_UNSIGNED(ulong4)
FLOORDIV_UNSIGNED(ulong8)
FLOORDIV_UNSIGNED(ulong16)
