// @depends: exp_parts
// The hyperbolic cosine: cosh_T(x) of a type T. In single precision on CPUs e^|x|/2, which is half_exp_T(x), and a
// quarter of its inverse: at most 2 ulp.

#ifdef POLYNOMIALS
#define COSH(T, I, AS, AS_INT)                                             \
    static T half_exp_##T(T x) {                                           \
        const T a = fabs(x), v = 90.0f < a ? (T)90.0f : a;                 \
        T n;                                                               \
        const T p = exp_parts_##T(v, &n) + 1.0f, half_n = FLOOR(n * 0.5f); \
        return p * exp_two_##T(half_n) * exp_two_##T(n - half_n - 1.0f);   \
    }                                                                      \
    static T cosh_##T(T x) {                                               \
        const T e = half_exp_##T(x);                                       \
        return e + 0.25f / e;                                              \
    }
EACH_VECTOR(COSH)
#else
SUBSTITUTE(cosh, cosh)
#endif
