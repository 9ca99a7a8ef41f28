// @depends: rows_cpu, halves
// What generated kernels of rows load and store floats of 16 bits with on CPUs, as those of rows_cpu.cl and vector.cl do floats.

#define HALF_ROWS(T)                                                                                                       \
    static float16 load16_##T(global const ushort *p, int count, float other) {                                            \
        if (count >= 16) return from_##T##_16(vload16(0, p));                                                              \
        float each[16];                                                                                                    \
        for (int i = 0; i < 16; i++) each[i] = i < count ? from_##T(p[i]) : other;                                         \
        return vload16(0, each);                                                                                           \
    }                                                                                                                      \
    static void store16_##T(float16 v, global ushort *p, int count) {                                                      \
        const ushort16 h = to_##T##_16(v);                                                                                 \
        if (count >= 16) {                                                                                                 \
            vstore16(h, 0, p);                                                                                             \
            return;                                                                                                        \
        }                                                                                                                  \
        ushort each[16];                                                                                                   \
        vstore16(h, 0, each);                                                                                              \
        for (int i = 0; i < count; i++) p[i] = each[i];                                                                    \
    }                                                                                                                      \
    static float16 channel16_##T(global const ushort *p, int k, int count, int span, int c, int next) {                    \
        if (span == 1) return load16_##T(p + k, count, 0);                                                                 \
        if (k + 16 <= next || k + count <= next) return from_##T(p[c]);                                                    \
        float each[16];                                                                                                    \
        for (int i = 0; i < 16; i++) each[i] = i < count ? from_##T(p[(k + i) / span]) : 0;                                \
        return vload16(0, each);                                                                                           \
    }                                                                                                                      \
    static float16 pick16_##T(global const ushort *p, int16 at, int len, int step, int apart, int width) {                 \
        int index[16];                                                                                                     \
        float each[16];                                                                                                    \
        vstore16(at, 0, index);                                                                                            \
        for (int i = 0; i < 16; i++)                                                                                       \
            each[i] = i < width && 0 <= index[i] && index[i] < len ? from_##T(p[index[i] * step + i * apart]) : 0;         \
        return vload16(0, each);                                                                                           \
    }
HALF_ROWS(float16)
HALF_ROWS(bfloat16)
