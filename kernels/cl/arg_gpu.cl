// @depends: arg
// Extremes with their index, for devices that run a work-group in lockstep: work-groups as those of moments_gpu.cl.

#ifndef FOLD_GROUP
#define FOLD_GROUP 256
#endif

// Y[(o*shares + s)*inner + i] is the extreme of X[(o*len + k)*inner + i] over k of share s: [s*chunk, min(len, (s+1)*chunk)),
// and I there the first k of it; or, if given is not 0, J where X has it.
kernel __attribute__((reqd_work_group_size(FOLD_GROUP, 1, 1)))
void k_arg(IN(X), IN_INTS(J), OUT(Y), OUT_INTS(I), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int given) {
    local ELEM values[FOLD_GROUP];
    local int places[FOLD_GROUP];
    const int lid = get_local_id(0), lines = FOLD_GROUP / (wide * tall), columns = (inner + wide - 1) / wide;
    const int t = lid / wide % tall, c = get_group_id(0) % columns * wide + lid % wide;
    const int row = get_group_id(0) / columns * lines + lid / (wide * tall), begin = row % shares * chunk;
    const int n = min(len - begin, chunk), here = c < inner && row < outer * shares;
    const int from = (row / shares * len + begin) * inner + c;
    ELEM best = 0;
    int at = INT_MAX; // none
    if (here && t < n) {
        global const ELEM *x = X + X_off + from;
        best = x[t * inner];
        at = t;
        for (int k = t + tall; k < n; k += tall) {
            const ELEM v = x[k * inner];
            if (TAKES(v, best)) {
                best = v;
                at = k;
            }
        }
    }
    values[lid] = best;
    places[lid] = at;
    for (int span = tall / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < span) {
            const ELEM v = values[lid + span * wide];
            const int k = places[lid + span * wide];
            if (k != INT_MAX && (at == INT_MAX || goes_before(v, k, best, at))) {
                best = v;
                at = k;
                values[lid] = v;
                places[lid] = k;
            }
        }
    }
    if (t == 0 && here) {
        Y[Y_off + row * inner + c] = best;
        I[I_off + row * inner + c] = given ? J[J_off + from + at * inner] : begin + at;
    }
}
