// @depends: common
// Kernels that fill memory and move rows by index. All but k_fill are also built with ELEM as int, uchar, or ushort for
// the bits of a float16.

// Y[i] = value
kernel void k_fill(OUT(Y), int n, REAL value) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = value;
}

// Y[i] = value
kernel void k_fill_int(OUT(Y), int n, int value) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = (ELEM)value;
}

// Y[i] = 0
kernel void k_zero(OUT(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = 0;
}

// Y[i*cols + c] = X[I[i]*cols + c], 0 for an index outside [0, rows)
kernel void k_gather_rows(IN(X), IN_INTS(I), OUT(Y), int n, int cols, int rows) {
    const int c = get_global_id(0), i = get_global_id(1);
    if (c >= cols || i >= n) return;
    const int r = I[I_off + i];
    Y[Y_off + i * cols + c] = r >= 0 && r < rows ? X[X_off + r * cols + c] : (ELEM)0;
}
