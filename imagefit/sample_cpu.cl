// @depends: common, philox, sincospi
// A batch in one launch, for CPUs: what sample_gpu.cl says, by one work-item per work-group for SAMPLES samples,
// 16 octaves in a vector.

#define SAMPLES 32 // a multiple of 4

// f[2*o] and f[2*o + 1]: sine and cosine of 2^(o+1)·π·at, for o in 0:octaves.
static void encode(global REAL *f, REAL at, int octaves) {
    const REAL16 powers = (REAL16)(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536);
    for (int o = 0; o < octaves; o += 16, f += 32) {
        const REAL16 x = at * (REAL)(1UL << o) * powers, s = turn_REAL16(x, 0), c = turn_REAL16(x, 1);
        const REAL16 low = (REAL16)(s.s0, c.s0, s.s1, c.s1, s.s2, c.s2, s.s3, c.s3, s.s4, c.s4, s.s5, c.s5, s.s6, c.s6, s.s7, c.s7);
        const REAL16 high = (REAL16)(s.s8, c.s8, s.s9, c.s9, s.sa, c.sa, s.sb, c.sb, s.sc, c.sc, s.sd, c.sd, s.se, c.se, s.sf, c.sf);
        if (o + 16 <= octaves) {
            vstore16(low, 0, f);
            vstore16(high, 1, f);
        } else {
            REAL part[32];
            vstore16(low, 0, part);
            vstore16(high, 1, part);
            for (int k = 0; k < 2 * (octaves - o); k++) f[k] = part[k];
        }
    }
}

static void sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                          int seed_lo, int seed_hi, int call) {
    const int from = get_group_id(0) * SAMPLES, to = min(n, from + SAMPLES);
    int pixels[SAMPLES];
    for (int i = 0; i < SAMPLES; i += 4) {
        const uint4 four = philox((uint4)((uint)(from + i) / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
        vstore4(convert_int4(mul_hi(four, (uint4)(uint)(width * height))), 0, pixels + i);
    }
    for (int i = from; i < to; i++) { // apart from the encoding, so that cache misses overlap
        for (int k = 0; k < channels; k++) V[V_off + i * channels + k] = IMAGE[IMAGE_off + pixels[i - from] * channels + k];
    }
    for (int i = from; i < to; i++) {
        const int pixel = pixels[i - from];
        global REAL *f = F + F_off + 4 * octaves * i;
        encode(f, ((REAL)(pixel % width) + (REAL)0.5) / width, octaves);
        encode(f + 2 * octaves, ((REAL)(pixel / width) + (REAL)0.5) / height, octaves);
    }
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sample_encode(IN(IMAGE), OUT(F), OUT(V), int n, int width, int height, int channels, int octaves,
                     int seed_lo, int seed_hi, int call) {
    sample_encode(IMAGE, IMAGE_off, F, F_off, V, V_off, n, width, height, channels, octaves, seed_lo, seed_hi, call);
}
#endif
