// @depends: exp_parts
// The hyperbolic tangent: tanh_T(x) of a type T. In single precision on CPUs (e^2x − 1)/(e^2x + 1) of |x|: at most 3
// ulp. It is 1 where 1 is the nearest real, from 13·ln 2 on in single and from 27.5·ln 2 on in double precision.
// Builtins may be off in the last place there, and 1 − tanh(x) times a large x, as in a GELU, is then far from 0.

#ifdef POLYNOMIALS
#define TANH(T, I, AS, AS_INT)                                           \
    static T tanh_##T(T x) {                                             \
        const T twice = fabs(x) * 2.0f;                                  \
        T n;                                                             \
        const T q = exp_parts_##T(80.0f < twice ? (T)80.0f : twice, &n); \
        const T scale = exp_two_##T(n), t = fma(q, scale, scale - 1.0f); \
        return copysign(t / (t + 2.0f), x);                              \
    }
#else
#ifdef REAL_IS_DOUBLE
#define TANH_IS_ONE 19.07
#else
#define TANH_IS_ONE 9.02f
#endif
#define TANH(T, I, AS, AS_INT) \
    static T tanh_##T(T x) { return fabs(x) > (T)TANH_IS_ONE ? copysign((T)1, x) : tanh(x); }
#endif
EACH_VECTOR(TANH)
