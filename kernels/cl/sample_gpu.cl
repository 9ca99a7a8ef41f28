// @depends: common, pixel, turns
// A batch in one launch, for GPUs: n random pixels of IMAGE [height*width, channels], their colours into
// V [n, channels] and the frequency encoding of their centres, as image.cl defines it, into
// F [n, 4*octaves]. A work-item makes one sine and cosine, drawing its sample's pixel anew, and neighbours
// write neighbours.

SINCOS_TURNS(REAL, int)

kernel void k_sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                            int seed_lo, int seed_hi, int call) {
    const int e = get_global_id(0), i = e / (2 * octaves), r = e % (2 * octaves);
    if (i >= n) return;
    const uint4 four = sampled_pixels(i / 4, width * height, seed_lo, seed_hi, call);
    const int pixel = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    const REAL at = r < octaves ? centre_x(pixel, width) : centre_y(pixel, width, height);
    REAL sine, cosine;
    sincos_turns_REAL(at * (REAL)(1UL << r % octaves), &sine, &cosine);
    F[F_off + 2 * e] = sine;
    F[F_off + 2 * e + 1] = cosine;
    for (int k = r; k < channels; k += 2 * octaves) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixel * channels + k];
}
