// @depends: common
// The inverse of the error function, from the percentage points of the normal distribution: Wichura, "Algorithm AS 241",
// Applied Statistics 37, 1988, PPND16. Three quotients of polynomials: of |x| up to 0.85, and beyond by the root r of
// −log((1 − |x|)/2), up to 5 and above; in single precision r is less than 5.

#ifdef REAL_IS_DOUBLE
#define ERFINV_NUM(x) x
#else
#define ERFINV_NUM(x) x##f
#endif
#define ERFINV_POLY(r, a, b, c, d, e, f, g, h)                                                                           \
    fma(fma(fma(fma(fma(fma(fma((REAL)ERFINV_NUM(h), r, ERFINV_NUM(g)), r, ERFINV_NUM(f)), r, ERFINV_NUM(e)), r,         \
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
