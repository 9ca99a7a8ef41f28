// @depends: common, memory
// The second stage of the gradient of a convolution's weights, for GPUs: the parts of k_conv_weight
// D[((s*groups + g)*(weights + biased) + k)*co + o] are summed up over s, and turned to W[(g*co + o)*weights + k], and the
// last k to BIAS[g*co + o] if `biased` is 1. Work-groups are lx channels o of one k by ly parts s, up to PARTS_GROUP: an item
// adds every ly-th part, then a tree those of the items.

#ifndef PARTS_GROUP
#define PARTS_GROUP 1024
#endif

kernel void k_conv_parts(IN(D), OUT_OF(Y_MEMORY, W), OUT_OF(Y_MEMORY, BIAS), int slices, int groups, int weights, int co, int biased) {
    local REAL t[PARTS_GROUP];
    const int lx = get_local_size(0), tx = get_local_id(0), ty = get_local_id(1), lid = ty * lx + tx;
    const int o = get_global_id(0), row = get_group_id(1), g = row / (weights + biased), k = row % (weights + biased);
    REAL sum = 0;
    if (o < co) {
#pragma unroll 4
        for (int s = ty; s < slices; s += get_local_size(1)) sum += D[D_off + (s * groups * (weights + biased) + row) * co + o];
    }
    t[lid] = sum;
    for (int span = lx * get_local_size(1) / 2; span >= lx; span >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < span) t[lid] += t[lid + span];
    }
    if (ty > 0 || o >= co) return;
    if (k < weights) W[W_off + (g * co + o) * weights + k] = Y_TO(t[tx]);
    else BIAS[BIAS_off + g * co + o] = Y_TO(t[tx]);
}
