// @depends: common, quantized
// Y [m, n] = X [m, k]·W, for a matrix W of quantized.cl, for CPUs: one work-item per work-group for 32 columns of one row, or of 4.
#define COLUMNS 32

// The products of up to `most` rows, a constant.
INLINE static void multiply(const int most, global const REAL *X, global const uchar *W, global const REAL *S, global const REAL *Z,
    global REAL *Y, int m, int n, int k, int group, int zeros) {
    const int j = get_group_id(0) * COLUMNS, i = get_group_id(1) * most, rows = min(most, m - i), columns = min(COLUMNS, n - j);
    const int panel = j / PANEL, at = j % PANEL, count = group ? group : k;
    global const char *w = (global const char *)W + panel * PANEL_BYTES(k) + at;
    global const REAL *x[4];
    REAL16 sum[4][2];
#pragma unroll
    for (int r = 0; r < most; r++) {
        x[r] = X + (i + min(r, rows - 1)) * k;
        sum[r][0] = sum[r][1] = 0;
    }
    int s = panel * GROUPS(k, group) * PANEL + at;
    for (int first = 0; first < k; first += count, s += PANEL) {
        const int end = min(count, k - first) + first;
        const REAL16 s0 = vload16(0, S + s), s1 = vload16(1, S + s);
        REAL16 z0 = 0, z1 = 0;
        if (zeros) {
            z0 = vload16(0, Z + s);
            z1 = vload16(1, Z + s);
        }
        for (int q = first; q < end; q++) {
            global const char *row = w + q / ROWS_OF_BYTE * PANEL;
            const REAL16 w0 = (convert_float16(INTEGER(int16, vload16(0, row), q)) - z0) * s0;
            const REAL16 w1 = (convert_float16(INTEGER(int16, vload16(1, row), q)) - z1) * s1;
#pragma unroll
            for (int r = 0; r < most; r++) {
                sum[r][0] += x[r][q] * w0;
                sum[r][1] += x[r][q] * w1;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < most; r++) {
        if (r >= rows) break;
        global REAL *y = Y + (i + r) * n + j;
        if (columns == COLUMNS) {
            vstore16(sum[r][0], 0, y);
            vstore16(sum[r][1], 1, y);
            continue;
        }
        REAL each[COLUMNS];
        vstore16(sum[r][0], 0, each);
        vstore16(sum[r][1], 1, each);
        for (int c = 0; c < columns; c++) y[c] = each[c];
    }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_matmul_quantized(IN(X), IN_BYTES(W), IN(S), IN(Z), OUT(Y), int m, int n, int k, int group, int zeros) {
    multiply(4, X + X_off, W + W_off, S + S_off, Z + Z_off, Y + Y_off, m, n, k, group, zeros);
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_matmul_quantized_rows(IN(X), IN_BYTES(W), IN(S), IN(Z), OUT(Y), int m, int n, int k, int group, int zeros) {
    multiply(1, X + X_off, W + W_off, S + S_off, Z + Z_off, Y + Y_off, m, n, k, group, zeros);
}
