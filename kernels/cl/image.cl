// @depends: common, pixel, turns
// Coordinates of pixels, and their encodings as sines and cosines.

// C[i] = the centre of pixel (column + i % cols, row + i / cols) of a width×height picture.
kernel void k_pixel_centres(OUT(C), int n, int column, int row, int cols, int width, int height) {
    const int i = get_global_id(0);
    if (i >= n) return;
    C[C_off + 2 * i] = ((REAL)(column + i % cols) + (REAL)0.5) / width;
    C[C_off + 2 * i + 1] = ((REAL)(row + i / cols) + (REAL)0.5) / height;
}

// n random pixels of IMAGE [height*width, channels], with replacement: their centres into C [n, 2] and their
// colours into V [n, channels]. A work-item draws four.
kernel void k_sample_pixels(IN(IMAGE), OUT(C), OUT(V), int n, int width, int height, int channels,
                            int seed_lo, int seed_hi, int call) {
    const int block = get_global_id(0);
    if (4 * block >= n) return;
    int pixels[4];
    vstore4(convert_int4(sampled_pixels(block, width * height, seed_lo, seed_hi, call)), 0, pixels);
    const int live = min(4, n - 4 * block);
    for (int lane = 0; lane < live; lane++) {
        const int i = 4 * block + lane;
        store_centre(C + C_off + 2 * i, pixels[lane], width, height);
        for (int k = 0; k < channels; k++) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixels[lane] * channels + k];
    }
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

// F[(i*waves + k)*2 + {0, 1}] = sin, cos of 2π·(C[i]·B[:, k]): B [2, waves] holds frequencies in cycles per
// picture. Source: Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low
// Dimensional Domains", NeurIPS 2020, §4.
kernel void k_fourier_encode(IN(C), IN(B), OUT(F), int n, int waves) {
    const int k = get_global_id(0), i = get_global_id(1);
    if (i >= n || k >= waves) return;
    const REAL turns = fma(C[C_off + 2 * i], B[B_off + k], C[C_off + 2 * i + 1] * B[B_off + waves + k]);
    REAL sine, cosine;
    sincos_turns_REAL(turns, &sine, &cosine);
    F[F_off + (i * waves + k) * 2] = sine;
    F[F_off + (i * waves + k) * 2 + 1] = cosine;
}
