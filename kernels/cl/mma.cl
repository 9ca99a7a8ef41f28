// @depends: common
// What kernels on the matrix units of GPUs share: parts of factors, how they lie in local memory, and the instructions.
//
// INNER says what the factors of the inner product are, whose sums are in float32:
//
//   TF32    the elements rounded to 11 bits, of the range of float32
//   HALVES  the elements rounded to float16
//   BFLOATS the elements rounded to bfloat16
//   PARTS   the elements, each as a sum of three bfloat16 x = h + m + l of 8 bits: x·y is h·h + (h·m + m·h) + (m·m + h·l
//           + l·h), and the terms that are left out are below 2⁻²⁵ of it
//
// The units cut sums off where float32 rounds them. With PARTS they add up STEP steps of k at a time, the small terms first,
// and ordinary additions do the rest: the error is no larger than that of a sum by fma. What x is no such sum, as
// infinities, NaN and most denormals are none, or is of size 2⁵⁰ or more, is left to fma.
//
// A staged tile has rows of whole chunks of 16 bytes, plane by plane. They are swizzled, so that the eight rows that a warp
// reads at once lie on different banks.
//
// Without NVIDIA_PTX there are the same parts, for ordinary arithmetic. Sources: the PTX ISA, "Matrix fragments for
// mma.m16n8k16"; Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
// theoretical peak performance" (2022), for sums outside of the units; Henry, Tang and Heinecke, "Leveraging the bfloat16
// Artificial Intelligence Datatype For Higher-Precision Computations" (2019), for three parts.

#define TF32 1
#define HALVES 2
#define PARTS 3
#define PAIRS 4  // these: see fp16_pair.cl
#define SCALED 5
#define BFLOATS 6
#ifndef INNER
#define INNER PARTS
#endif
#if INNER == PARTS
#define PLANES 3
#elif INNER == PAIRS
#define PLANES 2
#else
#define PLANES 1
#endif
#if INNER == TF32
#define CHUNK 4 // elements of 16 bytes
#else
#define CHUNK 8
#endif
#define STEP (2 * CHUNK) // of k, of one instruction

// Where chunk `chunk` of row `row` of a staged tile is, of rows of `length` elements. The lanes of a warp that load elements of
// tf32 along x one by one read four rows of eight; all others read the same chunk of eight rows.
#define CHUNKS(length) ((length) / CHUNK)
#define SWIZZLE(row, length, along_x)               \
    (INNER == TF32 && (along_x) ? ((row) & 3) * 2   \
     : CHUNKS(length) >= 8      ? (row) & 7         \
                                : (row) / (8 / CHUNKS(length)) & (CHUNKS(length) - 1))
#ifdef BRICKS // of packed operands: eight rows of a chunk lie next to each other, which is on different banks, too
#define WHERE(row, chunk, length, along_x) (((row) / 8 * CHUNKS(length) + (chunk)) * 8 + (row) % 8)
#else
#define WHERE(row, chunk, length, along_x) ((row) * CHUNKS(length) + ((chunk) ^ (SWIZZLE(row, length, along_x))))
#endif

// Two neighbours as one word, the first in its lower half.
#ifdef NVIDIA_PTX
static uint two_bfloats(float x, float y) {
    uint r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
}
static uint two_halves(float x, float y) {
    uint r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
}
static uint tf32(float x) {
    uint r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
#else
static uint bfloat(float x) {
    const uint u = as_uint(x);
    return (isnan(x) ? u | 0x400000 : u + 0x7fff + (u >> 16 & 1)) >> 16;
}
static uint two_bfloats(float x, float y) { return bfloat(x) | bfloat(y) << 16; }
static uint two_halves(float x, float y) {
    uint r;
    vstore_half2_rte((float2)(x, y), 0, (half *)&r);
    return r;
}
static uint tf32(float x) { // the nearest, of two the larger
    const uint u = as_uint(x);
    return isfinite(x) ? (u + 0x1000) & 0xffffe000 : u;
}
#endif

// The upper halves of two words as one, that of x in its lower half.
#ifdef NVIDIA_PTX
static uint upper_halves(uint x, uint y) {
    uint r;
    asm("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(r) : "r"(x), "r"(y));
    return r;
}
#else
static uint upper_halves(uint x, uint y) { return x >> 16 | (y & 0xffff0000); }
#endif

// The bfloat16 nearest to four elements, which become what is left of them.
static uint2 next_part(float4 *v) {
    const uint2 w = (uint2)(two_bfloats(v->s0, v->s1), two_bfloats(v->s2, v->s3));
    *v -= (float4)(as_float(w.s0 << 16), as_float(w.s0 & 0xffff0000), as_float(w.s1 << 16), as_float(w.s1 & 0xffff0000));
    return w;
}

// The words of four elements in each plane. Parts tell by `left` and `size` what they do not hold: see ORDINARY.
static void split(float4 v, uint2 *words, uint *left, float *size) {
#if INNER == HALVES
    words[0] = (uint2)(two_halves(v.s0, v.s1), two_halves(v.s2, v.s3));
#elif INNER == BFLOATS
    words[0] = (uint2)(two_bfloats(v.s0, v.s1), two_bfloats(v.s2, v.s3));
#elif INNER == PARTS
    *size = fma(v.s3, v.s3, fma(v.s2, v.s2, fma(v.s1, v.s1, fma(v.s0, v.s0, *size))));
#pragma unroll
    for (int p = 0; p < 2; p++) words[p] = next_part(&v);
    words[2] = (uint2)(upper_halves(as_uint(v.s0), as_uint(v.s1)), upper_halves(as_uint(v.s2), as_uint(v.s3))); // a bfloat16 is a float's upper half
    *left |= as_uint(v.s0) | as_uint(v.s1) | as_uint(v.s2) | as_uint(v.s3);
#endif
}
#define ORDINARY(left, size) (((left) & 0xffff) == 0 && (size) < 0x1p100f) // no part is missing, and all are below 2⁵⁰

#ifdef NVIDIA_PTX
// Four 8×8 tiles of two-byte elements, or 8×4 of four bytes; a lane names a row of one of them.
static void load_rows(uint *r, local const uint4 *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((uint)(ulong)p));
}
static void load_columns(uint *r, local const uint4 *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((uint)(ulong)p));
}

#if INNER == TF32
#define TYPES "m16n8k8.row.col.f32.tf32.tf32.f32"
#elif INNER == HALVES || INNER == PAIRS || INNER == SCALED
#define TYPES "m16n8k16.row.col.f32.f16.f16.f32"
#else
#define TYPES "m16n8k16.row.col.f32.bf16.bf16.f32"
#endif

// c += a·b, and c = a·b.
static void mma(float *c, const uint *a, const uint *b) {
    asm volatile("mma.sync.aligned." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static void mma_first(float *c, const uint *a, const uint *b) {
    asm volatile("mma.sync.aligned." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
                 : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.f));
}

// Adds the products of 16 rows of A with `columns`/8 blocks of 8 columns of B, in STEP steps of k.
#if INNER == PARTS
#define MULTIPLY(acc, a, b, columns)                                    \
    _Pragma("unroll") for (int j = 0; j < (columns) / 8; j++) {         \
        float part[4];                                                  \
        mma_first(part, a[2], b[0][j]);                                 \
        mma(part, a[0], b[2][j]);                                       \
        mma(part, a[1], b[1][j]);                                       \
        mma(part, a[1], b[0][j]);                                       \
        mma(part, a[0], b[1][j]);                                       \
        mma(part, a[0], b[0][j]);                                       \
        _Pragma("unroll") for (int e = 0; e < 4; e++) acc[j][e] += part[e]; \
    }
#else
#define MULTIPLY(acc, a, b, columns) \
    _Pragma("unroll") for (int j = 0; j < (columns) / 8; j++) mma(acc[j], a[0], b[0][j]);
#endif

#define ROW_OF(e) (lane / 4 + (e) / 2 * 8) // of element e of a lane in a 16×8 tile
#define COLUMN_OF(e) (lane % 4 * 2 + (e) % 2)

// A barrier, and whether a work-item was not ordinary.
#if INNER == PARTS
static int barrier_any(int flag) {
    int r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.or.pred p, 0, p; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "r"(flag) : "memory");
    return r;
}
#define BARRIER strange = barrier_any(!ordinary);
#endif

#else // ordinary arithmetic

#define ROW_OF(e) (lane / 4 + lane % 2 * 8)
#define COLUMN_OF(e) (lane % 4 / 2 * 4 + (e))

// A staged element of an operand.
static float staged(local const uint4 *tile, int plane, int where, int at) {
    local const uint4 *p = tile + where;
#if INNER == TF32
    return ((local const float *)p)[at];
#elif INNER == HALVES
    return vload_half(at, (local const half *)p);
#else
    float sum = 0;
    for (int i = PLANES - 1; i >= 0; i--) sum += as_float((uint)((local const ushort *)(p + i * plane))[at] << 16);
    return sum;
#endif
}
#define STAGED(tile, plane, length, along_x, x, k)                             \
    ((along_x) ? staged(tile, plane, WHERE(k, (x) / CHUNK, length, 1), (x) % CHUNK) \
               : staged(tile, plane, WHERE(x, (k) / CHUNK, length, 0), (k) % CHUNK))

#if INNER == PARTS
#define BARRIER                        \
    barrier(CLK_LOCAL_MEM_FENCE);      \
    if (lid == 0) any = 0;             \
    barrier(CLK_LOCAL_MEM_FENCE);      \
    if (!ordinary) atomic_or(&any, 1); \
    barrier(CLK_LOCAL_MEM_FENCE);      \
    strange = any;
#endif
#endif
#ifndef BARRIER
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE);
#endif
