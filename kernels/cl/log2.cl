// @depends: log_parts
// The logarithm to base 2: log2_T(x) of a type T, exact where it is whole. In single precision on CPUs at most 2 ulp.

#ifdef POLYNOMIALS
#define LOG2(T, I, AS, AS_INT)                                                         \
    static T log2_##T(T x) {                                                           \
        T n, f, h, s, rest;                                                            \
        const T v = log_normal_##T(x, &n), e = log_parts_##T(v, n, &f, &h, &s, &rest); \
        const T product = s * rest, l = f - (h - product);                             \
        return log_ends_##T(fma(l, (T)1.44269502f, fma(l, (T)1.92596299e-8f, e)), x);  \
    }
EACH_VECTOR(LOG2)
#else
SUBSTITUTE(log2, log2)
#endif
