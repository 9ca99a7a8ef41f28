// @depends: common, pixel, turns
// A batch in one launch, for GPUs: n random pixels of IMAGE [height*width, channels], their colours into
// V [n, channels] and the frequency encoding of their centres, as image.cl defines it, into
// F [n, 4*octaves], which starts at an even offset. A work-item makes the sines and cosines of up to FEW octaves,
// drawing its sample's pixel anew.

#define FEW 4

SINCOS_TURNS(REAL, int)

kernel void k_sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                            int seed_lo, int seed_hi, int call) {
    const int runs = (octaves + FEW - 1) / FEW; // work-items for an axis
    const int i = get_global_id(0) / (2 * runs), item = get_global_id(0) % (2 * runs);
    if (i >= n) return;
    const uint4 four = sampled_pixels(i / 4, width * height, seed_lo, seed_hi, call);
    const int pixel = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    const int axis = item / runs, first = item % runs; // neighbours write neighbours: octaves first, first + runs, …
    REAL turns = (axis == 0 ? centre_x(pixel, width) : centre_y(pixel, width, height)) * (REAL)(1UL << first);
    global REAL2 *f = (global REAL2 *)(F + F_off) + (2 * i + axis) * octaves;
    for (int o = first; o < octaves; o += runs, turns *= (REAL)(1UL << runs)) {
        REAL sine, cosine;
        sincos_turns_REAL(turns, &sine, &cosine);
        f[o] = (REAL2)(sine, cosine);
    }
    for (int k = item; k < channels; k += 2 * runs) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixel * channels + k];
}
