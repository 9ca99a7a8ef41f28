// @depends: mma, memory
// An operand of a convolution as conv_mma.cl takes it: channels next to each other, each element as a sum of three bfloat16.
//
//   S: [image*row + c*step + q], q in 0:size, c in 0:channels
//   P: for each part [image][q][c], channels zero-padded to a multiple of 8
//   F: for each work-group, whether an element is not what its parts hold
//
// A work-item takes the 8 channels of a chunk.

#define PACK_GROUP 128
#ifndef OWN_PARAMS // of the entry point
#define OWN_PARAMS IN_OF(X_MEMORY, S), OUT_INTS(P), OUT_INTS(F), int images, int size, int channels, int row, int step
#endif
#ifndef GROUP_PROLOGUE // which chunks a work-group packs
#define GROUP_PROLOGUE const int block = get_group_id(0);
#endif

kernel __attribute__((reqd_work_group_size(PACK_GROUP, 1, 1)))
void k_conv_pack(OWN_PARAMS) {
#ifndef NVIDIA_PTX
    local int any;
#endif
    GROUP_PROLOGUE
    const int lid = get_local_id(0), chunks = (channels + CHUNK - 1) / CHUNK, n = images * size * chunks, at = block * PACK_GROUP + lid;
    int ordinary = 1, strange = 0;
    if (at < n) {
        const int c = at % chunks * CHUNK, p = at / chunks;
        global const X_MEMORY *s = S + S_off + p / size * row + p % size + c * step;
        global uint4 *to = (global uint4 *)(P + P_off) + at;
        float v[CHUNK];
#pragma unroll
        for (int e = 0; e < CHUNK; e++) v[e] = c + e < channels ? X_FROM(s[e * step]) : 0;
        uint2 first[PLANES], second[PLANES];
        uint left = 0;
        float squares = 0;
        split((float4)(v[0], v[1], v[2], v[3]), first, &left, &squares);
        split((float4)(v[4], v[5], v[6], v[7]), second, &left, &squares);
#pragma unroll
        for (int part = 0; part < PLANES; part++) to[part * n] = (uint4)(first[part].s0, first[part].s1, second[part].s0, second[part].s1);
        ordinary = ORDINARY(left, squares);
    }
    BARRIER
    if (lid == 0) F[F_off + block] = strange;
}
