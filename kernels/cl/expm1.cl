// @depends: exp_parts
// e^x − 1: expm1_T(x) of a type T. In single precision on CPUs (q·2ʰ + (2ʰ − 2^(h − n)))·2^(n − h), with half of the
// exponent n as h: at most 1 ulp.

#ifdef POLYNOMIALS
#define EXPM1(T, I, AS, AS_INT)                                                          \
    static T expm1_##T(T x) {                                                            \
        const T most = 89.0f < x ? (T)89.0f : x, v = most < -104.0f ? (T)-104.0f : most; \
        T n;                                                                             \
        const T q = exp_parts_##T(v, &n), half_n = FLOOR(n * 0.5f), rest = n - half_n;   \
        const T scale = exp_two_##T(half_n), one = exp_two_##T(-rest);                   \
        return copysign(fma(q, scale, scale - one) * exp_two_##T(rest), x);              \
    }
EACH_VECTOR(EXPM1)
#else
SUBSTITUTE(expm1, expm1)
#endif
