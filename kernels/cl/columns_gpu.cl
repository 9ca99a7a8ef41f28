// @depends: common
// The sums of the columns of runs of rows, for GPUs.
//
// P[z*cols + c] = Σ_r X[r*cols + c] over the run [z*run, min(rows, (z+1)*run)) of its rows, one after the other: the shares that
// linear_gpu.cl makes beside the gradient. A work-item takes one column of one run: neighbours read neighbours.

static void column_sums(IN(X), OUT(P), int rows, int cols, int run) {
    const int c = get_global_id(0), z = get_global_id(1), end = min(rows, (z + 1) * run);
    if (c >= cols || z * run >= rows) return;
    global const REAL *x = X + X_off + c;
    REAL sum = 0;
    int r = z * run;
    for (; r + 8 <= end; r += 8) { // eight are on their way together
        REAL v[8];
        _Pragma("unroll") for (int j = 0; j < 8; j++) v[j] = x[(r + j) * cols];
        _Pragma("unroll") for (int j = 0; j < 8; j++) sum += v[j];
    }
    for (; r < end; r++) sum += x[r * cols];
    P[P_off + z * cols + c] = sum;
}

kernel void k_column_sums(IN(X), OUT(P), int rows, int cols, int run) { column_sums(X, X_off, P, P_off, rows, cols, run); }
