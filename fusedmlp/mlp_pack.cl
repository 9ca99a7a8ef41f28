// @depends: mlp, fp16_pair
// The weights of a perceptron as mlp_mma.cl takes them, for its products forwards and backwards.
//
//   W: all parameters, as mlp.cl lays them out
//   P: for each layer, of w [k][n] and then of its transpose, for each STEP of k, plane and 16 of n the words of 32 lanes, four
//      each: two for each 8 of n
//   F: for each layer, with PAIRS, the exponent of its weights
//
// The word q of a lane is of column lane/4 of 8, and of rows 2·(lane%4) + 8q and the next one, or of row 2·(lane%4) + q with
// TF32. Rows of the first layer are in the order of INPUT. A work-item makes four words of each plane.

#define GROUP 256
#define LANES(l) (FAN_IN(l) * WIDTH * 2 / STEP) // of a layer's weights, in one direction

#if INNER != TF32 && INNER != HALVES
// The exponent of a layer's weights, of which the lanes of a warp look at a share each.
static int exponent_of(global const float *w, int length) {
    uint top = 0;
#ifdef NVIDIA_PTX
    const int lane = get_local_id(0) % 32;
    float most = 0;
#pragma unroll 8
    for (int i = 4 * lane; i < length; i += 128) {
        const float4 v = *(global const float4 *)(w + i);
        most = larger(larger(larger(larger(most, v.s0), v.s1), v.s2), v.s3);
    }
    top = largest(as_uint(most));
#else
    for (int i = 0; i < length; i++) top = max(top, as_uint(w[i]) & 0x7fffffff);
#endif
    return EXPONENT(top);
}
#endif

static void mlp_pack(IN(W), OUT_INTS(P), OUT_INTS(F)) {
    if (get_group_id(0) >= 2 * (LANES(0) + (LAYERS - 1) * LANES(1)) / GROUP) return;
    int e = get_global_id(0), l = 0;
    global uint4 *to = (global uint4 *)(P + P_off);
    while (e >= 2 * LANES(l)) to += 2 * LANES(l) * PLANES, e -= 2 * LANES(l++);
    const int back = e >= LANES(l), N = back ? FAN_IN(l) : WIDTH;
    if (back) to += LANES(l) * PLANES, e -= LANES(l);
    const int lane = e % 32, pairs = N / 16, j = e / 32 % pairs, k = e / 32 / pairs;
    const int row = back ? 1 : WIDTH, step = back ? WIDTH : 1; // how far neighbours along k and n are apart
    global const float *w = W + W_off + WEIGHTS(l);
#if INNER != TF32 && INNER != HALVES
    const int exponent = exponent_of(w, FAN_IN(l) * WIDTH);
    const float into = VALUES_PAIR(exponent) ? INTO_PAIRS(exponent) : 0;
#else
    const int exponent = 127;
#endif
    if (e == 0 && !back) F[F_off + l] = exponent;
    to += k * PLANES * pairs * 32 + j * 32 + lane;
#define PACKED_UNIT(i, of_inputs) (l == 0 && (of_inputs) ? INPUT(i) : (i))
#define PACKED_WEIGHT(dk, dn) w[PACKED_UNIT(k * STEP + lane % 4 * 2 + (dk), !back) * row + PACKED_UNIT(16 * j + lane / 4 + (dn), back) * step]
#if INNER == TF32
    to[0] = (uint4)(tf32(PACKED_WEIGHT(0, 0)), tf32(PACKED_WEIGHT(1, 0)), tf32(PACKED_WEIGHT(0, 8)), tf32(PACKED_WEIGHT(1, 8)));
#else
    uint words[4][PLANES];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float x = PACKED_WEIGHT(i % 2 * 8, i / 2 * 8), y = PACKED_WEIGHT(i % 2 * 8 + 1, i / 2 * 8);
#if INNER == HALVES
        words[i][0] = two_halves(x, y);
#else
        pair(into != 0 ? x : 0, into != 0 ? y : 0, into, words[i]);
#endif
    }
#pragma unroll
    for (int p = 0; p < PLANES; p++) to[p * pairs * 32] = (uint4)(words[0][p], words[1][p], words[2][p], words[3][p]);
#endif
}

#ifndef FUNCTIONS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void k_mlp_pack(IN(W), OUT_INTS(P), OUT_INTS(F)) {
    mlp_pack(W, W_off, P, P_off, F, F_off);
}
#endif
