// @depends: log_parts
// log(1 + x): log1p_T(x) of a type T. In single precision on CPUs the logarithm of the sum u and, over u, what the
// sum has lost: at most 2 ulp. log1p_of_T(x, a) is that for x of at least 0, and log 2a where a is so large that
// nothing else is left of 1 + x.

#ifdef POLYNOMIALS
#define LOG1P(T, I, AS, AS_INT)                                                                      \
    static T log1p_lost_##T(T x, T u) {                                                              \
        const T before = u - x, after = u - 1.0f;                                                    \
        return (1.0f < x ? 1.0f - before : x - after) / u;                                           \
    }                                                                                                \
    static T log1p_##T(T x) {                                                                        \
        const T u = x + 1.0f, y = log_of_##T(u, (T)0.0f, log1p_lost_##T(x, u), u);                   \
        return fabs(x) < 0x1p-25f ? x : y;                                                           \
    }                                                                                                \
    static T log1p_of_##T(T x, T a) {                                                                \
        const T u = x + 1.0f, lost = log1p_lost_##T(x, u), v = 0x1p13f < a ? a : u;                  \
        const T y = log_of_##T(v, 0x1p13f < a ? (T)1.0f : (T)0.0f, 0x1p13f < a ? (T)0.0f : lost, v); \
        return fabs(x) < 0x1p-25f ? x : y;                                                           \
    }
EACH_VECTOR(LOG1P)
#else
SUBSTITUTE(log1p, log1p)
#endif
