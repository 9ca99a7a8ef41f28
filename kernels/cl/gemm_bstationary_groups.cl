// @depends: groups
// @target: sm_90a
// @then: gemm_bstationary
// Products of gemm_bstationary.cl on the matrix units of NVIDIA's devices of capability 9.0, whose instructions are those of four warps. They read B
// from local memory, once for the four, so that the warps have nothing to load but A. WM is 16.

#ifndef TN
#define TN 64 // no other
#endif
#ifndef TK
#define TK 64
#endif

// Eight columns of a chunk of steps lie next to each other, 16 bytes each, then those of the next chunk, and then the next columns. Column
// 4t + 2h + e of 16 is, for the units, column 8h + 2t + e.
#define COLUMN(x) ((x) / 16 * 16 + (x) / 2 % 2 * 8 + (x) % 16 / 4 * 2 + (x) % 2)
#define HELD_NEXT 32
#if INNER == TF32
#define CHUNK_OF(p, q) ((q) / 4 * 4 + 2 * (p))
#define PLANE_OF(p) 0
#else
#define CHUNK_OF(p, q) ((q) / 4 * 2)
#define PLANE_OF(p) ((p) * TK * TN / 2)
#endif
#define HELD_AT(p, q, x) (PLANE_OF(p) + ((COLUMN(x) / 8 * CHUNKS(TK) + CHUNK_OF(p, q)) * 8 + COLUMN(x) % 8) * 4 + (q) % 4)

#ifdef NVIDIA_PTX
// Where the units find plane p of step s of 16, or of tf32 the p-th half of it.
#define HELD_STEP(p, s) \
    columns_at((uint)(ulong)((local uint *)held + PLANE_OF(p) + CHUNK_OF(p, 4 * (s)) * 32))
static ulong columns_at(uint at) { return (ulong)(at >> 4 & 0x3fff) | (ulong)(128 >> 4) << 16 | (ulong)(CHUNKS(TK) * 128 >> 4) << 32; }

#if INNER == PARTS
#define BY_GROUPS(acc, a, s)                                            \
    {                                                                   \
        float d[TN / 2], *c = acc;                                      \
        const ulong high = HELD_STEP(0, s), middle = HELD_STEP(1, s), low = HELD_STEP(2, s); \
        multiply_from_here();                                           \
        MULTIPLY_LANES(d, a[2], high, 0, STRAIGHT)                      \
        MULTIPLY_LANES(d, a[0], low, 1, STRAIGHT)                       \
        MULTIPLY_LANES(d, a[1], middle, 1, STRAIGHT)                    \
        MULTIPLY_LANES(d, a[1], high, 1, STRAIGHT)                      \
        MULTIPLY_LANES(d, a[0], middle, 1, STRAIGHT)                    \
        MULTIPLY_LANES(d, a[0], high, 1, STRAIGHT)                      \
        multiply_to_here();                                             \
        WAIT_BUT_FOR(0);                                                \
        _Pragma("unroll") for (int e = 0; e < TN / 2; e++) c[e] += d[e]; \
    }
#else
#define BY_GROUPS(acc, a, s)                                                                                       \
    {                                                                                                              \
        float *d = acc;                                                                                            \
        multiply_from_here();                                                                                      \
        _Pragma("unroll") for (int p = 0; p < WORDS; p++) MULTIPLY_LANES(d, a[p], HELD_STEP(p, s), 1, STRAIGHT)    \
        multiply_to_here();                                                                                        \
        WAIT_BUT_FOR(0);                                                                                           \
    }
#endif
#endif
