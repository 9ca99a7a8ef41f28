// @depends: common, pad
// The gradient of padding, for GPUs, with one work-item per element of the result: see pad.cl.

// D [n0, n1, n2, n3] is the sum of G [m0, m1, m2, m3] over the places to which each element goes, in their order.
kernel void k_pad_grad(IN(G), OUT(D), AXIS_PARAMS) {
    const int j3 = get_global_id(0), row = get_global_id(1);
    if (j3 >= n3 || row >= n0 * n1 * n2) return;
    const pad_places p0 = PLACES(row / n2 / n1, 0), p1 = PLACES(row / n2 % n1, 1), p2 = PLACES(row % n2, 2), p3 = PLACES(j3, 3);
    const int c0 = pad_count(p0), c1 = pad_count(p1), c2 = pad_count(p2), c3 = pad_count(p3);
    REAL sum = 0;
    for (int k0 = 0; k0 < c0; k0++) {
        for (int k1 = 0; k1 < c1; k1++) {
            for (int k2 = 0; k2 < c2; k2++) {
                global const REAL *from = G + G_off + ((pad_place(p0, k0) * m1 + pad_place(p1, k1)) * m2 + pad_place(p2, k2)) * m3;
                for (int k3 = 0; k3 < c3; k3++) sum += from[pad_place(p3, k3)];
            }
        }
    }
    D[D_off + row * n3 + j3] = sum;
}
