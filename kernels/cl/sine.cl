// @depends: angle
// Sine and cosine for element-wise kernels: sine_T(t, quarter) is sin(t + quarter·π/2), for a quarter of 0 or 1 and a
// type T. In single precision by angle.cl up to 8192. Builtins allow for any argument, and take half as long again on
// two threads of PoCL 3.1.

#ifdef REAL_IS_DOUBLE
#define SINE(T, I, HUGE) \
    static T sine_##T(T t, int quarter) { return quarter ? cos(t) : sin(t); }
#else
#define SINE(T, I, HUGE)                                                            \
    static T sine_##T(T t, int quarter) {                                           \
        HUGE                                                                        \
        T near, c;                                                                  \
        const I n = convert_##I(angle_##T(t, &near, &c)) + quarter;                 \
        const T s = t == 0 ? t : near; /* of -0, which the differences have lost */ \
        const T v = (n & 1) != 0 ? c : s;                                           \
        return (n & 2) != 0 ? -v : v;                                               \
    }
#endif

// What is done with arguments of 8192 and more, and NaN: vectors take them one by one, for the builtin of vectors of
// PoCL 3.1 is wrong in the elements that are small beside one that is huge: sin(2e-42) is 0.0078.
#define ONE if (!(fabs(t) < 8192)) return quarter ? cos(t) : sin(t);
#define LANES(n)                                                           \
    if (!all(fabs(t) < 8192)) {                                            \
        REAL each[n];                                                      \
        vstore##n(t, 0, each);                                             \
        for (int i = 0; i < n; i++) each[i] = sine_REAL(each[i], quarter); \
        return vload##n(0, each);                                          \
    }

SINE(REAL, int, ONE)
SINE(REAL2, int2, LANES(2))
SINE(REAL4, int4, LANES(4))
SINE(REAL8, int8, LANES(8))
SINE(REAL16, int16, LANES(16))
#undef ONE
#undef LANES
