// @depends: common, interpolate, memory
// Interpolation for GPUs, with one work-item per result: see interpolate.cl.

kernel void k_interpolate(IN_OF(X_MEMORY, X), OUT_OF(Y_MEMORY, Y), INTERPOLATE_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ox || row >= outer * oz * oy) return;
    const between bz = between_of(row / oy % oz, iz, oz, linear, align), by = between_of(row % oy, iy, oy, linear, align);
    const between bx = between_of(x, ix, ox, linear, align);
    global const X_MEMORY *in = X + X_off + row / oy / oz * iz * iy * ix;
    if (!linear) {
        Y[Y_off + row * ox + x] = Y_TO(X_FROM(in[(bz.i * iy + by.i) * ix + bx.i]));
        return;
    }
    REAL plane[2];
    for (int a = 0; a < 2; a++) {
        global const X_MEMORY *p = in + (a ? bz.next : bz.i) * iy * ix;
        const REAL first = mixed(bx.w, X_FROM(p[by.i * ix + bx.i]), X_FROM(p[by.i * ix + bx.next]));
        const REAL second = mixed(bx.w, X_FROM(p[by.next * ix + bx.i]), X_FROM(p[by.next * ix + bx.next]));
        plane[a] = mixed(by.w, first, second);
    }
    Y[Y_off + row * ox + x] = Y_TO(mixed(bz.w, plane[0], plane[1]));
}

// D is the sum of G over the outputs that read an input, times what they read of it.
kernel void k_interpolate_grad(IN_OF(X_MEMORY, G), OUT_OF(Y_MEMORY, D), INTERPOLATE_PARAMS) {
    const int x = get_global_id(0), row = get_global_id(1);
    if (x >= ix || row >= outer * iz * iy) return;
    const int y = row % iy, z = row / iy % iz, o = row / iy / iz;
    const int2 qz = reading(z, iz, oz, linear, align), qy = reading(y, iy, oy, linear, align), qx = reading(x, ix, ox, linear, align);
    REAL sum = 0;
    for (int a = qz.s0; a < qz.s1; a++) {
        const REAL wa = weight_of(a, z, iz, oz, linear, align);
        for (int b = qy.s0; b < qy.s1; b++) {
            const REAL wb = wa * weight_of(b, y, iy, oy, linear, align);
            if (wb == 0) continue;
            for (int c = qx.s0; c < qx.s1; c++) {
                const REAL w = wb * weight_of(c, x, ix, ox, linear, align);
                if (w != 0) sum = fma(w, X_FROM(G[G_off + ((o * oz + a) * oy + b) * ox + c]), sum);
            }
        }
    }
    D[D_off + row * ix + x] = Y_TO(sum);
}
