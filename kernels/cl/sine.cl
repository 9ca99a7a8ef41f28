// @depends: common
// Sine and cosine for element-wise kernels. In single precision, up to 8192, by taking off multiples of π/2 in three
// parts (Cody and Waite, "Software Manual for the Elementary Functions", 1980, ch. 8) and Taylor's series of what is
// left, at most π/4. A step of SIREN takes 13 ms with them on two threads of PoCL 3.1, and 20 with the builtins, which
// allow for any argument.

// sin(t + quarter·π/2), for a quarter of 0 or 1.
static REAL sine_of(REAL t, int quarter) {
#ifndef REAL_IS_DOUBLE
    if (fabs(t) < 8192) {
        const float q = rint(t * 0.636619772f);
        const float r = fma(q, -5.390302858e-15f, fma(q, -7.549789416e-8f, fma(q, -1.570796251f, t))), r2 = r * r;
        const float s = fma(r * r2, fma(r2, fma(r2, fma(r2, 2.75573192e-6f, -1.98412698e-4f), 8.33333333e-3f), -1.66666667e-1f), r);
        const float c = fma(r2, fma(r2, fma(r2, fma(r2, fma(r2, -2.75573192e-7f, 2.48015873e-5f), -1.38888889e-3f), 4.16666667e-2f), -0.5f), 1.0f);
        const int n = (int)q + quarter;
        const float v = n & 1 ? c : s;
        return n & 2 ? -v : v;
    }
#endif
    return quarter ? cos(t) : sin(t);
}
