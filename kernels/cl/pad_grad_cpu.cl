// @depends: common, pad
// The gradient of padding, for CPUs: see pad.cl.

// D [n0, n1, n2, n3] is the sum of G [m0, m1, m2, m3] over the places to which each element goes: a row of G after the other, in their
// order, and of each the elements that lie where D's do before those outside.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_pad_grad(IN(G), OUT(D), AXIS_PARAMS) {
    const int rows = n0 * n1 * n2, g = get_group_id(0), groups = get_num_groups(0);
    const int lo = clamp(before3, 0, m3), hi = max(lo, min(m3, before3 + n3));
    for (int r = (long)rows * g / groups; r < (long)rows * (g + 1) / groups; r++) {
        const pad_places p0 = PLACES(r / n2 / n1, 0), p1 = PLACES(r / n2 % n1, 1), p2 = PLACES(r % n2, 2);
        const int c0 = pad_count(p0), c1 = pad_count(p1), c2 = pad_count(p2);
        global REAL *d = D + D_off + r * n3;
        if (c0 * c1 * c2 != 1 || hi - lo < n3) {
            for (int j = 0; j < n3; j++) d[j] = 0;
        }
        for (int k0 = 0; k0 < c0; k0++) {
            for (int k1 = 0; k1 < c1; k1++) {
                for (int k2 = 0; k2 < c2; k2++) {
                    global const REAL *from = G + G_off + ((pad_place(p0, k0) * m1 + pad_place(p1, k1)) * m2 + pad_place(p2, k2)) * m3;
                    if (c0 * c1 * c2 == 1) {
                        for (int i = lo; i < hi; i++) d[i - before3] = from[i];
                    } else {
                        for (int i = lo; i < hi; i++) d[i - before3] += from[i];
                    }
                    if (mode3 == 0) continue;
                    for (int i = 0; i < lo; i++) d[pad_source(i - before3, n3, mode3)] += from[i];
                    for (int i = hi; i < m3; i++) d[pad_source(i - before3, n3, mode3)] += from[i];
                }
            }
        }
    }
}
