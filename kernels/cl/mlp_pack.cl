// @depends: mlp, mma
// The weights of a perceptron as mlp_mma.cl takes them, for its products forwards and backwards.
//
//   W: all parameters, as mlp.cl lays them out
//   P: for each layer, of w [k][n] and then of its transpose, for each STEP of k, plane and 16 of n the words of 32 lanes, four
//      each: two for each 8 of n
//   F: for each work-group, whether an element is not what its parts hold
//
// The word q of a lane is of column lane/4 of 8, and of rows 2·(lane%4) + 8q and the next one, or of row 2·(lane%4) + q with
// TF32. A work-item makes four words of each plane.

#define GROUP 256
#define LANES(l) (FAN_IN(l) * WIDTH * 2 / STEP) // of a layer's weights, in one direction

static void mlp_pack(IN(W), OUT_INTS(P), OUT_INTS(F)) {
    if (get_group_id(0) >= 2 * (LANES(0) + (LAYERS - 1) * LANES(1)) / GROUP) return;
    int e = get_global_id(0), l = 0, ordinary = 1;
    global uint4 *to = (global uint4 *)(P + P_off);
    while (e >= 2 * LANES(l)) to += 2 * LANES(l) * PLANES, e -= 2 * LANES(l++);
    const int back = e >= LANES(l), N = back ? FAN_IN(l) : WIDTH;
    if (back) to += LANES(l) * PLANES, e -= LANES(l);
    const int lane = e % 32, pairs = N / 16, j = e / 32 % pairs, k = e / 32 / pairs;
    const int row = back ? 1 : WIDTH, step = back ? WIDTH : 1; // how far neighbours along k and n are apart
    global const float *w = W + W_off + WEIGHTS(l) + (k * STEP + lane % 4 * 2) * row + (16 * j + lane / 4) * step;
    to += k * PLANES * pairs * 32 + j * 32 + lane;
#if INNER == TF32
    to[0] = (uint4)(tf32(w[0]), tf32(w[row]), tf32(w[8 * step]), tf32(w[8 * step + row]));
#else
    uint2 low[PLANES], high[PLANES];
    uint left = 0;
    float size = 0;
    split((float4)(w[0], w[row], w[8 * row], w[9 * row]), low, &left, &size);
    w += 8 * step;
    split((float4)(w[0], w[row], w[8 * row], w[9 * row]), high, &left, &size);
#pragma unroll
    for (int p = 0; p < PLANES; p++) to[p * pairs * 32] = (uint4)(low[p].s0, low[p].s1, high[p].s0, high[p].s1);
    ordinary = ORDINARY(left, size);
#endif
    global int *flawed = F + F_off + get_group_id(0);
    if (get_local_id(0) == 0) *flawed = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (!ordinary) *flawed = 1;
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_mlp_pack(IN(W), OUT_INTS(P), OUT_INTS(F)) {
    mlp_pack(W, W_off, P, P_off, F, F_off);
}
#endif
