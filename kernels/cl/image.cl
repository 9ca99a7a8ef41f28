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

// F[i, (d*octaves + o)*2 + {0, 1}] = sin, cos of 2^(o+1)·π·C[i, d], for d in {0, 1} and o < octaves.
// Source: Mildenhall et al., "NeRF", ECCV 2020, eq. 4, one octave higher. Multiplying by a power of two
// and dropping whole turns are exact, so high octaves lose nothing but what C itself lacks.
kernel void k_frequency_encode(IN(C), OUT(F), int n, int octaves) {
    const int j = get_global_id(0), i = get_global_id(1); // j = d*octaves + o
    if (i >= n || j >= 2 * octaves) return;
    const REAL turns = ldexp(C[C_off + 2 * i + j / octaves], j % octaves);
    const REAL t = 2 * (turns - floor(turns));
    F[F_off + (i * 2 * octaves + j) * 2] = sinpi(t);
    F[F_off + (i * 2 * octaves + j) * 2 + 1] = cospi(t);
}
