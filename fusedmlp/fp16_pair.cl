// @depends: mma
// Factors of float16 for blocks of values that are scaled together: these inner products of mma.cl.
//
// With e the exponent of the largest value of a block,
//
//   SCALED  x·2^(14-e) is rounded to float16: to 2⁻¹¹ of itself, or to 2⁻³⁹ of the largest if that is more
//   PAIRS   it is h + l/2048, to 2⁻²³ of itself, or to 2⁻⁵⁰ of the largest. x·y is h·h + (h·l + l·h)/2048. With X and Y the largest of
//           the blocks, l·l is left out: l/2048 is at most 2⁻¹¹·|x| or 2⁻³⁹·X, whichever is more, and so for y. In all x·y is off by up to
//           2⁻²¹·|x·y| + 2⁻⁴⁹·(X·|y| + |x|·Y) + 2⁻⁷⁸·X·Y
//
// Exponents are those that float32 has, 127 for 1. That of a block of zeros is 127, that of infinities and NaN 255.
// Source: Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
// theoretical peak performance" (2022).

#define INTO_PAIRS(e) as_float((uint)(268 - (e)) << 23)            // what a block is multiplied with
#define OUT_OF_PAIRS(e, f) as_float((uint)((e) + (f) - 155) << 23) // and products of two blocks

// Whether values can be multiplied as pairs: activations and weights, and gradients, which are smaller. Products of any two of
// them have factors OUT_OF_PAIRS that float32 holds, and their sums overflow neither in the units nor after them.
#define VALUES_PAIR(e) ((e) >= 104 && (e) <= 177)
#define GRADIENTS_PAIR(e) ((e) >= 63 && (e) <= 177)

#define EXPONENT(top) ((top) == 0 ? 127 : (int)((top) >> 23)) // of a block, of the bits of its largest size

static float2 halves(uint word) {
#ifdef NVIDIA_PTX
    float2 v;
    asm("{ .reg .f16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y; }" : "=f"(v.x), "=f"(v.y) : "r"(word));
    return v;
#else
    return vload_half2(0, (const half *)&word);
#endif
}

// The words of two neighbours in each plane.
static void pair(float x, float y, float into, uint *words) {
    x *= into, y *= into;
    words[0] = two_halves(x, y);
    const float2 h = halves(words[0]);
    words[1] = two_halves((x - h.x) * 2048, (y - h.y) * 2048);
}

#ifdef NVIDIA_PTX
// The larger of two sizes, NaN if one is.
static float larger(float x, float y) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(fabs(y)));
    return r;
}

// The largest of a warp's words.
static uint largest(uint v) {
    uint r;
    asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
    return r;
}

// Adds the products of 16 rows of A with `columns`/8 blocks of 8 columns of B, in STEP steps of k, times `factor`.
#define MULTIPLY_PAIRS(acc, a, b, columns, factor)                                                                            \
    _Pragma("unroll") for (int j = 0; j < (columns) / 8; j++) {                                                               \
        float high[4], low[4];                                                                                                \
        mma_first(low, a[1], b[0][j]);                                                                                        \
        mma_first(high, a[0], b[0][j]);                                                                                       \
        mma(low, a[0], b[1][j]);                                                                                              \
        _Pragma("unroll") for (int e = 0; e < 4; e++) acc[j][e] = fma(high[e], factor, fma(low[e], (factor) * 0x1p-11f, acc[j][e])); \
    }
#endif
