// @depends: angle
// The tangent for element-wise kernels: tan_T(t) of a type T. In single precision the quotient of sine and cosine by
// angle.cl up to 8192, beyond which vectors take elements one by one, as in sine.cl: at most 4 ulp.

#ifdef REAL_IS_DOUBLE
#define TAN(T, HUGE) \
    static T tan_##T(T t) { return sin(t) / cos(t); }
#else
#define TAN(T, HUGE)                                          \
    static T tan_##T(T t) {                                   \
        HUGE                                                  \
        T s, c;                                               \
        const T q = angle_##T(t, &s, &c), half_q = q * 0.5f;  \
        const T v = FLOOR(half_q) != half_q ? -c / s : s / c; \
        return t == 0 ? t : v;                                \
    }
#endif

#define ONE if (!(fabs(t) < 8192)) return sin(t) / cos(t);
#define LANES(n)                                                 \
    if (!all(fabs(t) < 8192)) {                                  \
        REAL each[n];                                            \
        vstore##n(t, 0, each);                                   \
        for (int i = 0; i < n; i++) each[i] = tan_REAL(each[i]); \
        return vload##n(0, each);                                \
    }

TAN(REAL, ONE)
TAN(REAL2, LANES(2))
TAN(REAL4, LANES(4))
TAN(REAL8, LANES(8))
TAN(REAL16, LANES(16))
#undef ONE
#undef LANES
