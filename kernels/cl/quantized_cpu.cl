// @depends: common, quantized, tile_cpu
// Y [m, n] = X [m, k]·W, for a matrix W of quantized.cl, for CPUs: one work-item per work-group for 32 columns.

// Sixteen elements from p on.
#if BITS == 16
#define SIXTEEN(p) IN_MEMORY(global const, ushort16, p)
#else
#define SIXTEEN(p) vload16(0, p)
#endif

// Rows [first, end) of W as floats, 32 columns from j on. They are of one group.
static void unpack(REAL16 (*tile)[2], global const ELEMENT *W, global const REAL *S, global const REAL *Z, int j, int first, int end, int k,
    int group, int zeros) {
    const int panel = j / PANEL, at = j % PANEL, s = (panel * GROUPS(k, group) + (group ? first / group : 0)) * PANEL + at;
    global const ELEMENT *w = W + panel * PANEL_ELEMENTS(k) + at;
    const REAL16 s0 = vload16(0, S + s), s1 = vload16(1, S + s);
    REAL16 z0 = 0, z1 = 0;
    if (zeros) {
        z0 = vload16(0, Z + s);
        z1 = vload16(1, Z + s);
    }
    for (int q = first; q < end; q++) {
        global const ELEMENT *row = w + q / ROWS_OF_ELEMENT * PANEL;
        tile[q - first][0] = SCALED(NUMBERS16(SIXTEEN(row), q), z0, s0);
        tile[q - first][1] = SCALED(NUMBERS16(SIXTEEN(row + 16), q), z1, s1);
    }
}

static void store(global REAL *y, REAL16 y0, REAL16 y1, int columns) {
    if (columns == TILE_COLUMNS) {
        vstore16(y0, 0, y);
        vstore16(y1, 1, y);
        return;
    }
    REAL each[TILE_COLUMNS];
    vstore16(y0, 0, each);
    vstore16(y1, 1, each);
    for (int c = 0; c < columns; c++) y[c] = each[c];
}

// The entry point k_matmul_quantized computes 32 rows: W is unpacked once for them.
#define ROWS 32
#define STEPS 64

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_matmul_quantized(IN(X), IN_OF(ELEMENT, W), IN(S), IN(Z), OUT(Y), int m, int n, int k, int group, int zeros) {
    const int j = get_group_id(0) * TILE_COLUMNS, i = get_group_id(1) * ROWS, rows = min(ROWS, m - i);
    REAL16 tile[STEPS][2], sums[ROWS / 4][4][2];
    for (int r = 0; r < ROWS; r += 4)
        for (int s = 0; s < 4; s++) sums[r / 4][s][0] = sums[r / 4][s][1] = 0;
    for (int first = 0; first < k;) {
        const int end = min(min(k, first + STEPS), group ? (first / group + 1) * group : k);
        unpack(tile, W + W_off, S + S_off, Z + Z_off, j, first, end, k, group, zeros);
        for (int r = 0; r < rows; r += 4) {
            global const REAL *x[4];
            REAL16 sum[4][2];
            for (int s = 0; s < 4; s++) {
                x[s] = X + X_off + (i + min(r + s, rows - 1)) * k + first;
                sum[s][0] = sums[r / 4][s][0];
                sum[s][1] = sums[r / 4][s][1];
            }
            ADD_TILE(sum, x, tile, end - first)
            for (int s = 0; s < 4; s++) {
                sums[r / 4][s][0] = sum[s][0];
                sums[r / 4][s][1] = sum[s][1];
            }
        }
        first = end;
    }
    for (int r = 0; r < rows; r++)
        store(Y + Y_off + (i + r) * n + j, sums[r / 4][r % 4][0], sums[r / 4][r % 4][1], min(TILE_COLUMNS, n - j));
}

// The entry point k_matmul_quantized_rows computes the columns of a panel, of one row.
#define VECTORS (PANEL / 16)

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_matmul_quantized_rows(IN(X), IN_OF(ELEMENT, W), IN(S), IN(Z), OUT(Y), int m, int n, int k, int group, int zeros) {
    const int panel = get_group_id(0), i = get_group_id(1), j = panel * PANEL, count = group ? group : k;
    global const ELEMENT *w = W + W_off + panel * PANEL_ELEMENTS(k);
    global const REAL *x = X + X_off + i * k;
    REAL16 y[VECTORS] = {0, 0, 0, 0}, scale[VECTORS], zero[VECTORS] = {0, 0, 0, 0};
    int s = panel * GROUPS(k, group) * PANEL;
    for (int first = 0; first < k; first += count, s += PANEL) {
        const int end = min(count, k - first) + first;
        for (int v = 0; v < VECTORS; v++) {
            scale[v] = vload16(v, S + S_off + s);
            if (zeros) zero[v] = vload16(v, Z + Z_off + s);
        }
        for (int q = first; q < end; q++) {
            global const ELEMENT *row = w + q / ROWS_OF_ELEMENT * PANEL;
#pragma unroll
            for (int v = 0; v < VECTORS; v++) y[v] += x[q] * SCALED(NUMBERS16(SIXTEEN(row + 16 * v), q), zero[v], scale[v]);
        }
    }
    for (int c = 0; c < PANEL && j + c < n; c += TILE_COLUMNS)
        store(Y + Y_off + i * n + j + c, y[c / 16], y[c / 16 + 1], min(TILE_COLUMNS, n - j - c));
}
