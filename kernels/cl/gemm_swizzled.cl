// @depends: tma_copy, gemm_tile
// What products of packed operands share: the operands of gemm_pack.cl, and copies of whole blocks of them to local memory.

#define PACKED_PARAMS , IN_INTS(PA), IN_INTS(FA), IN_INTS(PB), IN_INTS(FB) // of the entry points
#define PLANE_A (TM * TK / CHUNK) // chunks of a staged tile
#define PLANE_B (TN * TK / CHUNK)
#define BYTES_A (PLANES * PLANE_A * 16)
#define BYTES_B (PLANES * PLANE_B * 16)

// The blocks [first, last) of both operands that a tile is the product of, from pa and pb on, and the first of the flaws of all.
#define BLOCKS                                                                                                               \
    const int blocks = (K + TK - 1) / TK, first = k_start / TK, last = (k_end + TK - 1) / TK;                                \
    global const uint4 *pa = (global const uint4 *)(PA + PA_off) + (i0 / TM * blocks + first) * (PLANES * PLANE_A);          \
    global const uint4 *pb = (global const uint4 *)(PB + PB_off) + (j0 / TN * blocks + first) * (PLANES * PLANE_B);          \
    global const int *flaws_a = FA + FA_off + i0 / TM * blocks, *flaws_b = FB + FB_off + j0 / TN * blocks;
#if INNER == PARTS
#define STRANGE_AT(t) (flaws_a[t] | flaws_b[t])
#else
#define STRANGE_AT(t) 0
#endif
