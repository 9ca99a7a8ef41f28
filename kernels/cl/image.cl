// @depends: common, pixel, turns
// Coordinates of pixels, and their frequency encoding.

// C[i] = the centre of pixel first + i, in row-major order.
kernel void k_pixel_centres(OUT(C), int n, int first, int width, int height) {
    const int i = get_global_id(0);
    if (i < n) store_centre(C + C_off + 2 * i, first + i, width, height);
}

SINCOS_TURNS(REAL, int)

// F[(r*octaves + o)*2 + {0, 1}] = sin, cos of 2^(o+1)·π·C[r], for the coordinates r in 0:2n (x and y of each
// position) and o in 0:octaves. Source: Mildenhall et al., "NeRF", ECCV 2020, eq. 4, one octave higher.
// Multiplying by a power of two and dropping whole turns are exact, so high octaves lose nothing but what C
// itself lacks.
kernel void k_frequency_encode(IN(C), OUT(F), int n, int octaves) {
    const int o = get_global_id(0), r = get_global_id(1);
    if (r >= 2 * n || o >= octaves) return;
    const REAL turns = C[C_off + r] * (REAL)(1UL << o);
    REAL sine, cosine;
    sincos_turns_REAL(turns, &sine, &cosine);
    F[F_off + (r * octaves + o) * 2] = sine;
    F[F_off + (r * octaves + o) * 2 + 1] = cosine;
}
