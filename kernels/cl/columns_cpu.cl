// @depends: common
// The sums of the columns of runs of rows, for CPUs: what columns_gpu.cl says, by one work-item per work-group for 16 columns of a
// run, which are a vector.

static void column_sums(IN(X), OUT(P), int rows, int cols, int run) {
    const int c = get_group_id(0) * 16, z = get_group_id(1), end = min(rows, (z + 1) * run);
    if (c >= cols || z * run >= rows) return;
    global const REAL *x = X + X_off + c;
    global REAL *p = P + P_off + z * cols + c;
    if (c + 16 <= cols) {
        REAL16 sum = 0;
        for (int r = z * run; r < end; r++) sum += vload16(0, x + r * cols);
        vstore16(sum, 0, p);
        return;
    }
    for (int j = 0; j < cols - c; j++) {
        REAL sum = 0;
        for (int r = z * run; r < end; r++) sum += x[r * cols + j];
        p[j] = sum;
    }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_column_sums(IN(X), OUT(P), int rows, int cols, int run) { column_sums(X, X_off, P, P_off, rows, cols, run); }
