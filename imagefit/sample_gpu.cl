// @depends: common, philox, turn
// A batch in one launch, for GPUs: n random pixels of IMAGE [height*width, channels], drawn from the words of counters
// (i/4, call, 0, 0), their colours into V [n, channels], and the sines and cosines of their centres into
// F [n, 2, octaves, 2], which starts at an even offset. A work-group draws SAMPLES pixels into local memory. Then its
// work-items make the rest, neighbours what lies side by side in memory.

#define SAMPLES 32
#define MOST_OCTAVES 64

// The local memory: twice the coordinates of the samples, the powers of two of the octaves, and the pixels.
#define SAMPLE_LOCAL (3 * SAMPLES + MOST_OCTAVES)

static INLINE void sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                                 int seed_lo, int seed_hi, int call, local REAL *t) {
    const int lid = get_local_id(0), items = get_local_size(0), start = get_group_id(0) * SAMPLES;
    const int count = min(SAMPLES, n - start);
    if (count <= 0) return;
    local REAL *at = t, *powers = at + 2 * SAMPLES;
    local int *pixels = (local int *)(powers + MOST_OCTAVES);
    for (int s = lid; s < count; s += items) {
        const int i = start + s;
        const uint4 four = philox((uint4)((uint)i / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
        const uint word = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
        const int pixel = mul_hi(word, (uint)(width * height));
        pixels[s] = pixel;
        at[2 * s] = 2 * (((REAL)(pixel % width) + (REAL)0.5) / width);
        at[2 * s + 1] = 2 * (((REAL)(pixel / width) + (REAL)0.5) / height);
    }
    for (int o = lid; o < octaves; o += items) powers[o] = (REAL)(1UL << o);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = lid; e < count * channels; e += items)
        V[V_off + start * channels + e] = IMAGE[IMAGE_off + pixels[e / channels] * channels + e % channels];
    global REAL2 *f = (global REAL2 *)(F + F_off) + 2 * start * octaves;
    int row = lid / octaves, o = lid % octaves; // of element e
    for (int e = lid; e < 2 * count * octaves; e += items) {
        const REAL x = at[row] * powers[o];
        f[e] = (REAL2)(turn_REAL(x, 0), turn_REAL(x, 1));
        row += items / octaves, o += items % octaves;
        if (o >= octaves) row++, o -= octaves;
    }
}

#ifndef FUNCTIONS
kernel void k_sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                            int seed_lo, int seed_hi, int call) {
    local REAL t[SAMPLE_LOCAL];
    sample_encode(IMAGE, IMAGE_off, F, F_off, V, V_off, n, width, height, channels, octaves, seed_lo, seed_hi, call, t);
}
#endif
