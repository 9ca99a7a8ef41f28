// @depends: mma, gemm_tail
// Factors that go from memory to the registers of a lane, for products on matrix units that stage none: see gemm_bstationary.cl.
// A lane has four steps of each 16, in the order in which the units take them.

#if INNER == TF32
#define WORDS 2 // of 32 bits that a plane or, of tf32, eight of the steps have
#else
#define WORDS PLANES
#endif

// The words of four steps, those of the first two in front. left and size tell whether they hold the elements: see ORDINARY.
static void words_of(float4 v, uint2 *words, uint *left, float *size) {
#if INNER == TF32
    words[0] = (uint2)(tf32(v.s0), tf32(v.s1));
    words[1] = (uint2)(tf32(v.s2), tf32(v.s3));
#else
    split(v, words, left, size);
#endif
}

#ifdef NVIDIA_PTX
// Whether a lane of the warp says so.
static int any_of_warp(int flag) {
    int r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "r"(flag));
    return r;
}

// What a lane has.
static float from_lane(float v, int lane) {
    float r;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(r) : "f"(v), "r"(lane));
    return r;
}

// Adds the products of 16 steps.
#define MULTIPLY_16(acc, a, b, columns) \
    _Pragma("unroll") for (int p = 0; p < WORDS / PLANES; p++) { MULTIPLY(acc, ((a) + p), ((b) + p), columns) }

#else // ordinary arithmetic

// A factor as the units take it.
static float factor(float x) {
#if INNER == TF32
    return as_float(tf32(x));
#elif INNER == HALVES
    const uint h = two_halves(x, 0);
    return vload_half(0, (const half *)&h);
#elif INNER == BFLOATS
    return as_float(two_bfloats(x, 0) << 16);
#else
    return x;
#endif
}
#endif
