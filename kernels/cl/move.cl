// @depends: common
// Kernels that fill memory and move rows by index. All but k_fill are also built with ELEM as int, uchar, ushort or long.

// Y[i] = value
kernel void k_fill(OUT(Y), int n, REAL value) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = value;
}

// Y[i] = value
kernel void k_fill_int(OUT(Y), int n, long value) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = (ELEM)value;
}

// Y[i] = 0
kernel void k_zero(OUT(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = 0;
}

// Y[i*cols + c] = X[I[i]*cols + c], 0 for an index outside [0, rows). Where the grid is one work-item wide, as on CPUs, each
// copies whole rows; elsewhere each copies an element.
kernel void k_gather_rows(IN(X), IN_INTS(I), OUT(Y), int n, int cols, int rows) {
    for (int i = get_global_id(1); i < n; i += get_global_size(1)) {
        const int r = I[I_off + i], inside = r >= 0 && r < rows;
        global const ELEM *from = X + X_off + (inside ? r : 0) * cols;
        global ELEM *to = Y + Y_off + i * cols;
        int c = get_global_id(0);
        if (get_global_size(0) == 1 && inside) {
            for (; c + 16 <= cols; c += 16) vstore16(vload16(0, from + c), 0, to + c);
        }
        for (; c < cols; c += get_global_size(0)) to[c] = inside ? from[c] : (ELEM)0;
    }
}
