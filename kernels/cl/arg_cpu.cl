// @depends: arg
// Extremes with their index, for CPUs: one work-item per work-group, which takes a run of results, sixteen elements of a row
// or sixteen columns at a time.

static int arg_row(global const ELEM *x, int n, ELEM *value) {
    ELEM best = x[0];
    int at = 0, k = 1;
    if (n >= 32) {
        const PLACE16 lanes = (PLACE16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        ELEM16 a = vload16(0, x);
        PLACE16 where = lanes;
        for (k = 16; k + 16 <= n; k += 16) {
            const ELEM16 v = vload16(0, x + k);
            const PLACE16 takes = TAKES(v, a);
            a = takes ? v : a;
            where = takes ? lanes + (PLACE16)k : where;
        }
        ELEM values[16];
        PLACE places[16];
        vstore16(a, 0, values);
        vstore16(where, 0, places);
        best = values[0];
        at = places[0];
        for (int lane = 1; lane < 16; lane++) {
            if (goes_before(values[lane], places[lane], best, at)) {
                best = values[lane];
                at = places[lane];
            }
        }
    }
    for (; k < n; k++) {
        const ELEM v = x[k];
        if (TAKES(v, best)) {
            best = v;
            at = k;
        }
    }
    *value = best;
    return at;
}

// Y[(o*shares + s)*inner + i] is the extreme of X[(o*len + k)*inner + i] over k of share s: [s*chunk, min(len, (s+1)*chunk)),
// and I there the first k of it; or, if given is not 0, J where X has it.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_arg(IN(X), IN_INTS(J), OUT(Y), OUT_INTS(I), int outer, int len, int inner, int chunk, int shares, int wide, int tall, int given) {
    const int columns = (inner + 15) / 16, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)outer * shares * columns;
    for (int u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int row = u / columns, c = u % columns * 16, begin = row % shares * chunk, n = min(len - begin, chunk);
        const int from = (row / shares * len + begin) * inner + c, to = row * inner + c;
        global const ELEM *x = X + X_off + from;
        ELEM values[16];
        PLACE places[16];
        const int w = min(16, inner - c);
        if (inner == 1) {
            places[0] = arg_row(x, n, values);
        } else if (w == 16) {
            ELEM16 a = vload16(0, x);
            PLACE16 where = 0;
            for (int k = 1; k < n; k++) {
                const ELEM16 v = vload16(0, x + k * inner);
                const PLACE16 takes = TAKES(v, a);
                a = takes ? v : a;
                where = takes ? (PLACE16)k : where;
            }
            vstore16(a, 0, values);
            vstore16(where, 0, places);
        } else {
            for (int j = 0; j < w; j++) {
                ELEM best = x[j];
                int at = 0;
                for (int k = 1; k < n; k++) {
                    const ELEM v = x[k * inner + j];
                    if (TAKES(v, best)) {
                        best = v;
                        at = k;
                    }
                }
                values[j] = best;
                places[j] = at;
            }
        }
        for (int j = 0; j < w; j++) {
            Y[Y_off + to + j] = values[j];
            I[I_off + to + j] = given ? J[J_off + from + (int)places[j] * inner + j] : begin + (int)places[j];
        }
    }
}
