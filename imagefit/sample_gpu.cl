// @depends: common, philox, sincospi
// A batch in one launch, for GPUs: n random pixels of IMAGE [height*width, channels], drawn from the words of counters
// (i/4, call, 0, 0), their colours into V [n, channels], and the sines and cosines of their centres into
// F [n, 2, octaves, 2], which starts at an even offset. A work-group draws SAMPLES pixels into local memory, or
// MOST_SAMPLES if there are MANY. Then its work-items make the rest, neighbours what lies side by side in memory. The colours are on their way meanwhile.

#define SAMPLES 32
#define MOST_SAMPLES 128
#define MANY (1 << 15)
#define MOST_OCTAVES 64
#define MOST_COLOURS 4 // of a work-item, at once

// The local memory: twice the coordinates of the samples, the powers of two of the octaves, and the pixels.
#define SAMPLE_LOCAL (3 * MOST_SAMPLES + MOST_OCTAVES)

static INLINE void sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                                 int seed_lo, int seed_hi, int call, local REAL *t) {
    const int lid = get_local_id(0), items = get_local_size(0), samples = n < MANY ? SAMPLES : MOST_SAMPLES, start = get_group_id(0) * samples;
    const int count = min(samples, n - start);
    if (count <= 0) return;
    local REAL *at = t, *powers = at + 2 * MOST_SAMPLES;
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
    REAL colours[MOST_COLOURS];
#pragma unroll
    for (int k = 0; k < MOST_COLOURS; k++) {
        const int e = lid + k * items;
        colours[k] = e < count * channels ? IMAGE[IMAGE_off + pixels[e / channels] * channels + e % channels] : 0;
    }
    const int pairs = octaves / 2; // a work-item's are the same in all rows
    if (octaves % 2 == 0 && pairs > 0 && items % pairs == 0 && F_off % 4 == 0) {
        const int pair = lid % pairs;
        global REAL4 *f = (global REAL4 *)(F + F_off) + 2 * start * pairs + pair;
#pragma unroll 4
        for (int row = lid / pairs; row < 2 * count; row += items / pairs) {
            const REAL x = at[row] * powers[2 * pair], y = at[row] * powers[2 * pair + 1];
            f[row * pairs] = (REAL4)(turn_REAL(x, 0), turn_REAL(x, 1), turn_REAL(y, 0), turn_REAL(y, 1));
        }
    } else {
        global REAL2 *f = (global REAL2 *)(F + F_off) + 2 * start * octaves;
        int row = lid / octaves, o = lid % octaves; // of element e
        for (int e = lid; e < 2 * count * octaves; e += items) {
            const REAL x = at[row] * powers[o];
            f[e] = (REAL2)(turn_REAL(x, 0), turn_REAL(x, 1));
            row += items / octaves, o += items % octaves;
            if (o >= octaves) row++, o -= octaves;
        }
    }
    global REAL *v = V + V_off + start * channels;
#pragma unroll
    for (int k = 0; k < MOST_COLOURS; k++) {
        const int e = lid + k * items;
        if (e < count * channels) v[e] = colours[k];
    }
    for (int e = lid + MOST_COLOURS * items; e < count * channels; e += items)
        v[e] = IMAGE[IMAGE_off + pixels[e / channels] * channels + e % channels];
}

#ifndef FUNCTIONS
kernel void k_sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                            int seed_lo, int seed_hi, int call) {
    local REAL t[SAMPLE_LOCAL];
    sample_encode(IMAGE, IMAGE_off, F, F_off, V, V_off, n, width, height, channels, octaves, seed_lo, seed_hi, call, t);
}
#endif
