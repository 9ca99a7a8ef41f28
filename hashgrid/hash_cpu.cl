// @depends: common, vector, philox
// A multi-resolution hash grid, for CPUs: what hash_gpu.cl says, with one work-item per work-group, which finds the corners of
// sixteen samples at a time.

#ifndef FEATURES
#define FEATURES 2 // of an entry
#endif

#ifdef REAL_IS_DOUBLE
#define TO_REAL16 convert_double16
#else
#define TO_REAL16 convert_float16
#endif

#define LEVEL 6     // ints of a level in LEVELS
#define SAMPLES 128 // of a work-item that encodes
#define PARTS 64    // of the entries of a level, for work-items to share

// The entries at the corners of the cells around the first count of sixteen positions, and their weights, by corner.
static void corners16(global const REAL *C, int count, global const int *level, int *entry, REAL *weight) {
    const int across = level[1], down = level[2], mask = level[3];
    const REAL16 a = load16(C, 2 * count, 0), b = load16(C + 16, 2 * count - 16, 0);
    const REAL16 x = fma((REAL16)(a.even, b.even), (REAL16)across, (REAL16)0.5);
    const REAL16 y = fma((REAL16)(a.odd, b.odd), (REAL16)down, (REAL16)0.5);
    // Cut off as reals: what an int does not hold becomes anything.
    const int16 column = convert_int16(fmin(fmax(x, (REAL16)0), (REAL16)across));
    const int16 row = convert_int16(fmin(fmax(y, (REAL16)0), (REAL16)down));
    const REAL16 right = x - TO_REAL16(column), below = y - TO_REAL16(row), left = 1 - right, above = 1 - below;
    vstore16(left * above, 0, weight);
    vstore16(right * above, 1, weight);
    vstore16(left * below, 2, weight);
    vstore16(right * below, 3, weight);
    for (int k = 0; k < 4; k++) {
        const uint16 c = as_uint16(column) + (uint)(k % 2), r = as_uint16(row) + (uint)(k / 2);
        const uint16 e = mask != 0 ? (c ^ r * 2654435761u) & (uint)mask : r * (uint)(across + 2) + c;
        vstore16(level[0] + as_int16(e), k, entry);
    }
}

// F[i][l] = Σ_corner weight·TABLE[corner] of samples from to below to, level by level.
static void encode(global const REAL *c, global const REAL *t, global const int *level, global REAL *f, int from, int to, int levels) {
    for (int l = 0; l < levels; l++, level += LEVEL) {
        for (int i = from; i < to; i += 16) {
            int entry[64];
            REAL weight[64];
            corners16(c + 2 * i, to - i, level, entry, weight);
            for (int s = 0; s < min(16, to - i); s++) {
                REAL sum[FEATURES];
                for (int k = 0; k < FEATURES; k++) sum[k] = weight[s] * t[entry[s] * FEATURES + k];
                for (int j = s + 16; j < 64; j += 16) {
                    for (int k = 0; k < FEATURES; k++) sum[k] = fma(weight[j], t[entry[j] * FEATURES + k], sum[k]);
                }
                for (int k = 0; k < FEATURES; k++) f[((i + s) * levels + l) * FEATURES + k] = sum[k];
            }
        }
    }
}

// A work-item has SAMPLES samples.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_hash_encode(IN(C), IN(TABLE), IN_INTS(LEVELS), OUT(F), int n, int levels) {
    const int from = get_group_id(0) * SAMPLES, to = min(n, from + SAMPLES);
    encode(C + C_off, TABLE + TABLE_off, LEVELS + LEVELS_off, F + F_off, from, to, levels);
}

// The same of random pixels: hash_gpu.cl.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_hash_draw(IN(IMAGE), IN(TABLE), IN_INTS(LEVELS), OUT(F), OUT(C), OUT(V), int n, int levels, int width, int height,
                 int channels, int seed_lo, int seed_hi, int call) {
    const int from = get_group_id(0) * SAMPLES, to = min(n, from + SAMPLES);
    int pixels[SAMPLES];
    for (int i = 0; i < SAMPLES; i += 4) {
        const uint4 four = philox((uint4)((uint)(from + i) / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
        vstore4(convert_int4(mul_hi(four, (uint4)(uint)(width * height))), 0, pixels + i);
    }
    for (int i = from; i < to; i++) {
        const int pixel = pixels[i - from];
        C[C_off + 2 * i] = ((REAL)(pixel % width) + (REAL)0.5) / width;
        C[C_off + 2 * i + 1] = ((REAL)(pixel / width) + (REAL)0.5) / height;
        for (int k = 0; k < channels; k++) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixel * channels + k];
    }
    encode(C + C_off, TABLE + TABLE_off, LEVELS + LEVELS_off, F + F_off, from, to, levels);
}

// D[corner] = Σ_i weight·G[i][l]: the gradient of TABLE. A work-item owns some of the PARTS of the levels' entries, goes over all
// samples in their order and adds what falls there: the bits do not depend on how many work-items there are. entries is that of
// the whole table.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_hash_grad(IN(C), IN(G), IN_INTS(LEVELS), OUT(D), int n, int levels, int entries) {
    const int g = get_group_id(0), groups = get_num_groups(0);
    const int from = (long)levels * PARTS * g / groups, to = (long)levels * PARTS * (g + 1) / groups;
    global REAL *d = D + D_off;
    for (int l = from / PARTS; l * PARTS < to; l++) {
        global const int *level = LEVELS + LEVELS_off + l * LEVEL;
        const long size = (l + 1 < levels ? level[LEVEL] : entries) - level[0];
        const int first = level[0] + size * max(from - l * PARTS, 0) / PARTS, end = level[0] + size * min(to - l * PARTS, PARTS) / PARTS;
        for (int e = first * FEATURES; e < end * FEATURES; e++) d[e] = 0;
        if (first == end) continue;
        for (int i = 0; i < n; i += 16) {
            int entry[64];
            REAL weight[64];
            corners16(C + C_off + 2 * i, n - i, level, entry, weight);
            for (int s = 0; s < min(16, n - i); s++) {
                global const REAL *up = G + G_off + ((i + s) * levels + l) * FEATURES;
                REAL part[FEATURES];
                for (int k = 0; k < FEATURES; k++) part[k] = up[k];
                for (int c = 0; c < 64; c += 16) {
                    const int e = entry[c + s];
                    if (e < first || e >= end) continue;
                    for (int k = 0; k < FEATURES; k++) d[e * FEATURES + k] += weight[c + s] * part[k];
                }
            }
        }
    }
}
