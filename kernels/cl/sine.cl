// @depends: common
// Sine and cosine for element-wise kernels: sine_T(t, quarter) is sin(t + quarter·π/2), for a quarter of 0 or 1 and a
// type T. In single precision, up to 8192, by taking off multiples of π/2 in three parts (Cody and Waite, "Software
// Manual for the Elementary Functions", 1980, ch. 8) and Taylor's series of what is left, at most π/4. Builtins allow
// for any argument, and take half as long again on two threads of PoCL 3.1.

#ifdef REAL_IS_DOUBLE
#define SINE(T, I, HUGE) \
    static T sine_##T(T t, int quarter) { return quarter ? cos(t) : sin(t); }
#else
#define SINE(T, I, HUGE)                                                                                                \
    static T sine_##T(T t, int quarter) {                                                                               \
        HUGE                                                                                                            \
        const T q = rint(t * 0.636619772f);                                                                             \
        const T r = fma(q, (T)-5.390302858e-15f, fma(q, (T)-7.549789416e-8f, fma(q, (T)-1.570796251f, t))), r2 = r * r; \
        const T s4 = fma(r2, (T)2.75573192e-6f, (T)-1.98412698e-4f);                                                    \
        const T near = fma(r * r2, fma(r2, fma(r2, s4, (T)8.33333333e-3f), (T)-1.66666667e-1f), r);                     \
        const T s = t == 0 ? t : near; /* of -0, which the differences have lost */                                     \
        const T c5 = fma(r2, (T)-2.75573192e-7f, (T)2.48015873e-5f);                                                    \
        const T c = fma(r2, fma(r2, fma(r2, fma(r2, c5, (T)-1.38888889e-3f), (T)4.16666667e-2f), (T)-0.5f), (T)1.0f);   \
        const I n = convert_##I(q) + quarter;                                                                           \
        const T v = (n & 1) != 0 ? c : s;                                                                               \
        return (n & 2) != 0 ? -v : v;                                                                                   \
    }
#endif

// What is done with arguments of 8192 and more, and NaN: vectors take them one by one, for the builtin of vectors of
// PoCL 3.1 is wrong in the elements that are small beside one that is huge: sin(2e-42) is 0.0078.
#define ONE if (!(fabs(t) < 8192)) return quarter ? cos(t) : sin(t);
#define LANES(n)                                                            \
    if (!all(fabs(t) < 8192)) {                                             \
        REAL each[n];                                                       \
        vstore##n(t, 0, each);                                              \
        for (int i = 0; i < n; i++) each[i] = sine_REAL(each[i], quarter);  \
        return vload##n(0, each);                                           \
    }

SINE(REAL, int, ONE)
SINE(REAL2, int2, LANES(2))
SINE(REAL4, int4, LANES(4))
SINE(REAL8, int8, LANES(8))
SINE(REAL16, int16, LANES(16))
