// @depends: common
// The inverse of the error function: erfinv_T(x) of a type T. In single precision on CPUs x·p(w)
// with w = −log(1 − x²), and beyond 5 another p of √w, after Giles, "Approximating the erfinv function", 2010, with
// polynomials of the least relative error: at most 4 ulp on PoCL. Elsewhere from the percentage points of the normal
// distribution: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988, PPND16. Three quotients of polynomials: of
// |x| up to 0.85, and beyond by the root r of −log((1 − |x|)/2), up to 5 and above; in single precision r is less
// than 5.

#if !defined(REAL_IS_DOUBLE) && (defined(__x86_64__) || defined(__aarch64__))
#define ERFINV(T, LANES)                                                                          \
    static T erfinv_##T(T x) {                                                                    \
        const T a = fabs(x), w = -log((1.0f - a) * (1.0f + a)), c = w - 2.5f, r = sqrt(w) - 3.0f; \
        T p = fma(c, (T)2.8530719748e-8f, (T)3.43730227e-7f);                                     \
        p = fma(p, c, (T)-3.52881276e-6f);                                                        \
        p = fma(p, c, (T)-4.39681071e-6f);                                                        \
        p = fma(p, c, (T)2.18602027e-4f);                                                         \
        p = fma(p, c, (T)-1.25370744e-3f);                                                        \
        p = fma(p, c, (T)-4.17770756e-3f);                                                        \
        p = fma(p, c, (T)2.46640726e-1f);                                                         \
        p = fma(p, c, (T)1.50140942f);                                                            \
        T q = fma(r, (T)-1.50350601e-4f, (T)7.59427849e-5f);                                      \
        q = fma(q, r, (T)1.278982700e-3f);                                                        \
        q = fma(q, r, (T)-3.64980708e-3f);                                                        \
        q = fma(q, r, (T)5.77180854e-3f);                                                         \
        q = fma(q, r, (T)-7.62806331e-3f);                                                        \
        q = fma(q, r, (T)9.43404046e-3f);                                                         \
        q = fma(q, r, (T)1.001674330f);                                                           \
        q = fma(q, r, (T)2.832977030f);                                                           \
        return a == 1.0f ? copysign((T)INFINITY, x) : x * (w < 5.0f ? p : q);                     \
    }
#else
#ifdef REAL_IS_DOUBLE
#define ERFINV_NUM(x) x
#else
#define ERFINV_NUM(x) x##f
#endif
#define ERFINV_POLY(r, a, b, c, d, e, f, g, h)                                                                   \
    fma(fma(fma(fma(fma(fma(fma((REAL)ERFINV_NUM(h), r, ERFINV_NUM(g)), r, ERFINV_NUM(f)), r, ERFINV_NUM(e)), r, \
        ERFINV_NUM(d)), r, ERFINV_NUM(c)), r, ERFINV_NUM(b)), r, ERFINV_NUM(a))

static REAL erfinv_of(REAL x) {
    const REAL t = fabs(x), scale = ERFINV_NUM(0.70710678118654752440);
    if (!(t < 1)) return t == 1 ? copysign((REAL)INFINITY, x) : (REAL)NAN;
    if (t <= ERFINV_NUM(0.85)) {
        const REAL r = fma(-x * ERFINV_NUM(0.25), x, ERFINV_NUM(0.180625));
        return x * (scale / 2)
            * ERFINV_POLY(r, 3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
                45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727)
            / ERFINV_POLY(r, 1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
                21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610);
    }
    const REAL root = sqrt(-log((1 - t) / 2));
    if (root <= 5) {
        const REAL r = root - ERFINV_NUM(1.6);
        return copysign(scale, x)
            * ERFINV_POLY(r, 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
                1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4)
            / ERFINV_POLY(r, 1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
                0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9);
    }
    const REAL r = root - 5;
    return copysign(scale, x)
        * ERFINV_POLY(r, 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
            0.0265321895265761230930, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7)
        / ERFINV_POLY(r, 1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
            7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15);
}

#define ERFINV(T, LANES) \
    static T erfinv_##T(T x) { LANES }
#endif

#define LANES(n)                                              \
    REAL each[n];                                             \
    vstore##n(x, 0, each);                                    \
    for (int i = 0; i < n; i++) each[i] = erfinv_of(each[i]); \
    return vload##n(0, each);

ERFINV(REAL, return erfinv_of(x);)
ERFINV(REAL2, LANES(2))
ERFINV(REAL4, LANES(4))
ERFINV(REAL8, LANES(8))
ERFINV(REAL16, LANES(16))
#undef LANES
