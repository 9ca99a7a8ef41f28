// @depends: mma
// An operand of a matrix product as gemm_mma.cl takes it with PACKED: what a tile stages, made once for all tiles.
//
//   S: [x*row + k*step], x in 0:n, k in 0:K; `row` or `step` is 1
//   P: for each block of WIDTH x by TK k a staged tile with rows along k, zero-padded past the edges
//   F: for each block, whether an element is not what its parts hold
//
// Blocks go along k first. A work-group makes one, in local memory. A work-item takes four k of one x at a time, neighbours
// those that are neighbours in memory.

#ifndef WIDTH
#define WIDTH 128 // a multiple of 64
#endif
#ifndef TK
#define TK 16
#endif
#define GROUP 128
#define BLOCK (WIDTH * TK / CHUNK) // chunks of a plane

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_gemm_pack(IN(S), OUT_INTS(P), OUT_INTS(F), int n, int K, int row, int step) {
#if INNER == PARTS && !defined(NVIDIA_PTX)
    local int any;
#endif
    local uint4 tile[PLANES * BLOCK] __attribute__((aligned(16)));
    const int lid = get_local_id(0), blocks = (K + TK - 1) / TK, block = get_group_id(1) * blocks + get_group_id(0);
    global uint4 *to = (global uint4 *)(P + P_off) + block * PLANES * BLOCK;
    const int even = step == 1 && (S_off | row) % 4 == 0;
    int ordinary = 1, strange = 0;
#pragma unroll
    for (int v = 0; v < WIDTH * TK / 4 / GROUP; v++) {
        const int e = lid + v * GROUP, r = step == 1 ? e / (TK / 4) : e % WIDTH, q = step == 1 ? e % (TK / 4) : e / WIDTH;
        const int x = get_group_id(1) * WIDTH + r, k = get_group_id(0) * TK + 4 * q;
        global const float *s = S + S_off + x * row + k * step;
        float4 four = 0;
        if (x < n && k + 4 <= K) four = even ? *(global const float4 *)s : (float4)(s[0], s[step], s[2 * step], s[3 * step]);
        else if (x < n) {
            if (k < K) four.s0 = s[0];
            if (k + 1 < K) four.s1 = s[step];
            if (k + 2 < K) four.s2 = s[2 * step];
        }
#if INNER == TF32
        tile[WHERE(r, q, TK, 0)] = (uint4)(tf32(four.s0), tf32(four.s1), tf32(four.s2), tf32(four.s3));
#else
        uint2 words[PLANES];
        uint left = 0;
        float size = 0;
        split(four, words, &left, &size);
#pragma unroll
        for (int p = 0; p < PLANES; p++) ((local uint2 *)(tile + p * BLOCK + WHERE(r, q / 2, TK, 0)))[q & 1] = words[p];
        if (!ORDINARY(left, size)) ordinary = 0;
#endif
    }
    BARRIER
    for (int c = lid; c < PLANES * BLOCK; c += GROUP) to[c] = tile[c];
    if (lid == 0) F[F_off + block] = strange;
}
