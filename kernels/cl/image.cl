// @depends: common, philox
// Coordinates of pixels, samples of an image, and the frequency encoding of coordinates.
//
// Pixel (c, r) of a width×height image has its centre at ((c + ½)/width, (r + ½)/height): the same
// place in the picture at every size.

static void store_centre(global REAL *c, int pixel, int width, int height) {
    c[0] = ((REAL)(pixel % width) + (REAL)0.5) / width;
    c[1] = ((REAL)(pixel / width) + (REAL)0.5) / height;
}

// C[i] = the centre of pixel first + i, in row-major order.
kernel void k_pixel_centres(OUT(C), int n, int first, int width, int height) {
    const int i = get_global_id(0);
    if (i < n) store_centre(C + C_off + 2 * i, first + i, width, height);
}

// n random pixels of IMAGE [height*width, channels], with replacement: their centres into C [n, 2] and
// their colours into V [n, channels]. Sample i takes word i%4 of counter (i/4, call, 0, 0).
kernel void k_sample_pixels(IN(IMAGE), OUT(C), OUT(V), int n, int width, int height, int channels,
                            int seed_lo, int seed_hi, int call) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const uint4 w = philox((uint4)((uint)i / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    const uint word = i % 4 == 0 ? w.x : i % 4 == 1 ? w.y : i % 4 == 2 ? w.z : w.w;
    const int pixel = mul_hi(word, (uint)(width * height));
    store_centre(C + C_off + 2 * i, pixel, width, height);
    for (int k = 0; k < channels; k++) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixel * channels + k];
}

// Sine and cosine of t turns, t in [0, 1). In single precision by polynomials of an eighth of a turn, after
// Taylor: without branches or calls, so that a CPU runs work-items in the lanes of a vector. The error is
// below 2e-7.
static void sincos_turns(REAL t, REAL *sine, REAL *cosine) {
#ifdef REAL_IS_DOUBLE
    *sine = sinpi(2 * t);
    *cosine = cospi(2 * t);
#else
    const float q = rint(4 * t);
    const float a = (t - 0.25f * q) * 6.28318531f, a2 = a * a;
    const float s = a + a * a2 * fma(a2, fma(a2, fma(a2, 2.75573192e-6f, -1.98412698e-4f), 8.33333333e-3f), -1.66666667e-1f);
    const float c = 1 + a2 * fma(a2, fma(a2, fma(a2, 2.48015873e-5f, -1.38888889e-3f), 4.16666667e-2f), -0.5f);
    const int quarter = (int)q;
    const float x = quarter & 1 ? c : s, y = quarter & 1 ? s : c;
    *sine = quarter & 2 ? -x : x;
    *cosine = (quarter + 1) & 2 ? -y : y;
#endif
}

// F[(r*octaves + o)*2 + {0, 1}] = sin, cos of 2^(o+1)·π·C[r], for the coordinates r in 0:2n (x and y of each
// position) and o in 0:octaves. Source: Mildenhall et al., "NeRF", ECCV 2020, eq. 4, one octave higher.
// Multiplying by a power of two and dropping whole turns are exact, so high octaves lose nothing but what C
// itself lacks.
kernel void k_frequency_encode(IN(C), OUT(F), int n, int octaves) {
    const int o = get_global_id(0), r = get_global_id(1);
    if (r >= 2 * n || o >= octaves) return;
    const REAL turns = C[C_off + r] * (REAL)(1UL << o);
    REAL sine, cosine;
    sincos_turns(turns - floor(turns), &sine, &cosine);
    F[F_off + (r * octaves + o) * 2] = sine;
    F[F_off + (r * octaves + o) * 2 + 1] = cosine;
}
