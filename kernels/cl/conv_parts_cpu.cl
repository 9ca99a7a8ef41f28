// @depends: common, memory
// The second stage of the gradient of a convolution's weights, for CPUs: the parts of k_conv_weight
// D[((s*groups + g)*(weights + biased) + k)*co + o] are summed up over s in ascending order, and turned to
// W[(g*co + o)*weights + k], and the last k to BIAS[g*co + o] if `biased` is 1. A work-item takes 16 weights of a group.

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_conv_parts(IN(D), OUT_OF(Y_MEMORY, W), OUT_OF(Y_MEMORY, BIAS), int slices, int groups, int weights, int co, int biased) {
    const int k0 = get_group_id(0) * 16, g = get_group_id(1), rows = weights + biased, live = min(16, rows - k0);
    const int next = groups * rows * co;
    for (int o = 0; o < co; o += 16) {
        const int wide = min(16, co - o);
        REAL t[16][16];
        for (int k = 0; k < live; k++) {
            global const REAL *part = D + D_off + (g * rows + k0 + k) * co + o;
            if (wide == 16) {
                REAL16 sum = vload16(0, part);
                for (int s = 1; s < slices; s++) sum += vload16(0, part + s * next);
                vstore16(sum, 0, t[k]);
                continue;
            }
            for (int i = 0; i < wide; i++) {
                REAL sum = part[i];
                for (int s = 1; s < slices; s++) sum += part[s * next + i];
                t[k][i] = sum;
            }
        }
        for (int i = 0; i < wide; i++) {
            global Y_MEMORY *to = W + W_off + (g * co + o + i) * weights + k0;
            for (int k = 0; k < min(live, weights - k0); k++) to[k] = Y_TO(t[k][i]);
            if (k0 + live > weights) BIAS[BIAS_off + g * co + o + i] = Y_TO(t[live - 1][i]);
        }
    }
}
