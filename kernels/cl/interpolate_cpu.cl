// @depends: common, interpolate, memory
// Interpolation for CPUs: see interpolate.cl. A work-item computes rows of the result, in blocks of their columns. Where these lie
// between inputs is computed once for all of its rows.

#define WIDE 256 // outputs that are computed at once, at most

// Where outputs lie.
#define COLUMNS   \
    int at[WIDE]; \
    REAL weight[WIDE];

#define SET_COLUMNS(first, n)                                                     \
    for (int c = 0; c < (n); c++) {                                               \
        const between bx = between_of((first) + c, ix, ox, linear, align);        \
        at[c] = bx.i;                                                             \
        weight[c] = bx.w;                                                         \
    }

// Rows of X are interpolated along their own axis, and kept for the rows of Y that lie between them and others.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_interpolate(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), INTERPOLATE_PARAMS) {
    COLUMNS
    int behind[WIDE];
    REAL kept[4][WIDE]; // row y of plane z is in 2·(z mod 2) + y mod 2
    int row_of[4], block = -1, n = 0;
    const int rows = outer * oz * oy, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)rows * ((ox + WIDE - 1) / WIDE);
    for (long u = units * g / groups; u < units * (g + 1) / groups; u++) {
        if (block != u / rows) {
            block = u / rows;
            n = min(WIDE, ox - block * WIDE);
            SET_COLUMNS(block * WIDE, n)
            for (int c = 0; c < n; c++) behind[c] = at[c] + (weight[c] != 0);
            for (int i = 0; i < 4; i++) row_of[i] = -1;
        }
        const int row = u % rows, image = row / oy / oz;
        const between bz = between_of(row / oy % oz, iz, oz, linear, align), by = between_of(row % oy, iy, oy, linear, align);
        for (int k = 0; k < 4; k++) {
            const int z = k & 2 ? bz.next : bz.i, y = k & 1 ? by.next : by.i, from = (image * iz + z) * iy + y, slot = (z & 1) * 2 + (y & 1);
            if (row_of[slot] == from) continue;
            row_of[slot] = from;
            global const X_MEMORY *x = X + X_off + from * ix;
            if (linear) {
                for (int c = 0; c < n; c++) kept[slot][c] = mixed(weight[c], X_FROM(x[at[c]]), X_FROM(x[behind[c]]));
            } else {
                for (int c = 0; c < n; c++) kept[slot][c] = X_FROM(x[at[c]]);
            }
        }
        const REAL *p = kept[(bz.i & 1) * 2 + (by.i & 1)], *q = kept[(bz.i & 1) * 2 + (by.next & 1)];
        const REAL *r = kept[(bz.next & 1) * 2 + (by.i & 1)], *t = kept[(bz.next & 1) * 2 + (by.next & 1)];
        const REAL wy = by.w, wz = bz.w;
        global Y_MEMORY *to = Y + Y_off + row * ox + block * WIDE;
        if (wz == 0 && wy == 0) {
            for (int c = 0; c < n; c++) to[c] = Y_TO(p[c]);
        } else if (wz == 0) {
            for (int c = 0; c < n; c++) to[c] = Y_TO((1 - wy) * p[c] + wy * q[c]);
        } else {
            for (int c = 0; c < n; c++) to[c] = Y_TO(mixed(wz, mixed(wy, p[c], q[c]), mixed(wy, r[c], t[c])));
        }
    }
}

// D is the sum of G over the outputs that read an input, times what they read of it: rows of G are summed first, and then their
// columns, in their order.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_interpolate_grad(IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, D), INTERPOLATE_PARAMS) {
    COLUMNS
    REAL sums[WIDE];
    const int block = max(1, (int)((long)WIDE * ix / (2 * ((long)ix + ox))));
    const int rows = outer * iz * iy, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)rows * ((ix + block - 1) / block);
    int set = -1; // the first of the columns that are set
    for (long u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int row = u % rows, y = row % iy, z = row / iy % iz, image = row / iy / iz;
        const int first = u / rows * block, past = min(ix, first + block);
        const int2 qz = reading(z, iz, oz, linear, align), qy = reading(y, iy, oy, linear, align);
        const int from = reading(first, ix, ox, linear, align).s0, to = reading(past - 1, ix, ox, linear, align).s1;
        global Y_MEMORY *d = D + D_off + row * ix;
        int x = first - 1; // the input that sum is of; next is of the one behind it
        REAL sum = 0, next = 0;
        for (int start = from; start < to; start += WIDE) {
            const int n = min(WIDE, to - start);
            if (set != start) {
                SET_COLUMNS(start, min(WIDE, ox - start))
                set = start;
            }
            for (int c = 0; c < n; c++) sums[c] = 0;
            for (int a = qz.s0; a < qz.s1; a++) {
                const REAL wa = weight_of(a, z, iz, oz, linear, align);
                for (int b = qy.s0; b < qy.s1; b++) {
                    const REAL w = wa * weight_of(b, y, iy, oy, linear, align);
                    if (w == 0) continue;
                    global const X_MEMORY *in = G + G_off + ((image * oz + a) * oy + b) * ox + start;
                    for (int c = 0; c < n; c++) sums[c] = fma(w, X_FROM(in[c]), sums[c]);
                }
            }
            for (int c = 0; c < n; c++) {
                const int i = at[c];
                const REAL w = weight[c], v = sums[c];
                if (i < first - 1) continue;
                if (i >= past) break;
                for (; x < i; x++) {
                    if (x >= first) d[x] = Y_TO(sum);
                    sum = next;
                    next = 0;
                }
                sum = fma(1 - w, v, sum);
                if (w != 0) next = fma(w, v, next);
            }
        }
        for (; x < past; x++) {
            if (x >= first) d[x] = Y_TO(sum);
            sum = next;
            next = 0;
        }
    }
}
