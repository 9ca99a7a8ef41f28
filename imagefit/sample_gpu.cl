// @depends: common, philox, turn
// A batch in one launch, for GPUs: n random pixels of IMAGE [height*width, channels], drawn from the words of counters
// (i/4, call, 0, 0), their colours into V [n, channels], and the sines and cosines of their centres into
// F [n, 2, octaves, 2], which starts at an even offset. A work-item makes those of up to FEW octaves, drawing its
// sample's pixel anew.

#define FEW 4

kernel void k_sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                            int seed_lo, int seed_hi, int call) {
    const int runs = (octaves + FEW - 1) / FEW; // work-items for an axis
    const int i = get_global_id(0) / (2 * runs), item = get_global_id(0) % (2 * runs);
    if (i >= n) return;
    const uint4 four = philox((uint4)((uint)i / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    const uint word = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    const int pixel = mul_hi(word, (uint)(width * height));
    const int axis = item / runs, first = item % runs; // neighbours write neighbours: octaves first, first + runs, …
    const REAL at = axis == 0 ? ((REAL)(pixel % width) + (REAL)0.5) / width : ((REAL)(pixel / width) + (REAL)0.5) / height;
    REAL x = 2 * at * (REAL)(1UL << first);
    global REAL2 *f = (global REAL2 *)(F + F_off) + (2 * i + axis) * octaves;
    for (int o = first; o < octaves; o += runs, x *= (REAL)(1UL << runs)) f[o] = (REAL2)(turn_REAL(x, 0), turn_REAL(x, 1));
    for (int k = item; k < channels; k += 2 * runs) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixel * channels + k];
}
