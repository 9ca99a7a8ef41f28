// @depends: common
// Kernels that write or move elements without computing on them. All but k_fill and k_scatter_add_rows are also built
// with ELEM as int, uchar, or ushort for the bits of a float16.

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

// Y[i] = X[i]
kernel void k_copy(IN(X), OUT(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = X[X_off + i];
}

// Y[r*cols + c] = X[c]: one row over the whole batch.
kernel void k_broadcast_rows(IN(X), OUT(Y), int rows, int cols) {
    const int c = get_global_id(0), r = get_global_id(1);
    if (c < cols && r < rows) Y[Y_off + r * cols + c] = X[X_off + c];
}

// Y[c*rows + r] = X[r*cols + c], through a tile of local memory so that reads and writes both run
// along rows. Work-groups are TILE×TILE; the column of padding keeps a column of the tile in
// different banks.
#ifndef TILE
#define TILE 16
#endif
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void k_transpose(IN(X), OUT(Y), int rows, int cols) {
    local ELEM tile[TILE][TILE + 1];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int c = get_group_id(0) * TILE + tx, r = get_group_id(1) * TILE + ty;
    if (c < cols && r < rows) tile[ty][tx] = X[X_off + r * cols + c];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int yc = get_group_id(1) * TILE + tx, yr = get_group_id(0) * TILE + ty;
    if (yc < rows && yr < cols) Y[Y_off + yr * rows + yc] = tile[tx][ty];
}

// Where element i of a view lies: Σ_k index_k·s_k, where (index_0 … index_5) are the row-major indices of i in a
// tensor of dimensions (…, d1, d2, d3, d4, d5). A stride of 0 repeats. Unused leading dimensions are 1.
static int in_view(int i, int d1, int d2, int d3, int d4, int d5, int s0, int s1, int s2, int s3, int s4, int s5) {
    int rest = i, at = 0;
    at += rest % d5 * s5;
    rest /= d5;
    at += rest % d4 * s4;
    rest /= d4;
    at += rest % d3 * s3;
    rest /= d3;
    at += rest % d2 * s2;
    rest /= d2;
    at += rest % d1 * s1;
    rest /= d1;
    return at + rest * s0;
}

// Y[i] = X[in_view(i)]
kernel void k_strided_copy(IN(X), OUT(Y), int n, int d1, int d2, int d3, int d4, int d5,
                           int s0, int s1, int s2, int s3, int s4, int s5) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = X[X_off + in_view(i, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5)];
}

// Y[in_view(i)] = X[i]; no two i may have one place.
kernel void k_strided_store(IN(X), OUT(Y), int n, int d1, int d2, int d3, int d4, int d5,
                            int s0, int s1, int s2, int s3, int s4, int s5) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + in_view(i, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5)] = X[X_off + i];
}

// Y[i*cols + c] = X[I[i]*cols + c], 0 for an index outside [0, rows)
kernel void k_gather_rows(IN(X), IN_INTS(I), OUT(Y), int n, int cols, int rows) {
    const int c = get_global_id(0), i = get_global_id(1);
    if (c >= cols || i >= n) return;
    const int r = I[I_off + i];
    Y[Y_off + i * cols + c] = r >= 0 && r < rows ? X[X_off + r * cols + c] : (ELEM)0;
}

// Y[I[i]*cols + c] += G[i*cols + c], for indices in [0, rows). One work-item owns a column and adds in the order of
// i, so that repeated indices neither race nor reorder the sum.
kernel void k_scatter_add_rows(IN(G), IN_INTS(I), OUT(Y), int n, int cols, int rows) {
    const int c = get_global_id(0);
    if (c >= cols) return;
    for (int i = 0; i < n; i++) {
        const int r = I[I_off + i];
        if (r >= 0 && r < rows) Y[Y_off + r * cols + c] += G[G_off + i * cols + c];
    }
}
