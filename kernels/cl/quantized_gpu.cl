// @depends: common, quantized
// Y [m, n] = X [m, k]·W, for a matrix W of quantized.cl, for GPUs. W is read four columns at a time.

// Four elements, the i-th four from p on, in one read.
#if BITS == 16
#define FOUR(p, i) (((global const ushort4 *)(p))[i])
#else
#define FOUR(p, i) as_uchar4(((global const uint *)(p))[i])
#endif

// The entry point k_matmul_quantized, of many rows: a work-group computes 64 rows of 64 columns, a work-item 4 of 4. Tiles of X and of W
// as floats lie in local memory.
#define SIDE 16
#define TILE 64
#define STEPS 16 // of the sum, of a tile: a group has no part of one

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void k_matmul_quantized(IN(X), IN_OF(ELEMENT, W), IN(S), IN(Z), OUT(Y), int m, int n, int k, int group, int zeros) {
    local REAL a[STEPS][TILE + 1], b[STEPS][TILE];
    const int x = get_local_id(0), y = get_local_id(1), id = y * SIDE + x, panel = get_group_id(0);
    const int row = get_group_id(1) * TILE + id / 4, from = id % 4 * 4; // of X, to copy
    const int at = id / SIDE, word = id % SIDE;                        // of W, to copy
    const int i = get_group_id(1) * TILE + 4 * y, j = panel * TILE + 4 * x;
    global const ELEMENT *w = W + W_off + panel * PANEL_ELEMENTS(k);
    REAL4 sum[4] = {0, 0, 0, 0};
    for (int q = 0; q < k; q += STEPS) {
        REAL u[4];
        for (int c = 0; c < 4; c++) u[c] = row < m && q + from + c < k ? X[X_off + row * k + q + from + c] : 0;
        REAL4 v = 0;
        if (q + at < k) {
            const int s = (panel * GROUPS(k, group) + (group ? q / group : 0)) * PANEL + 4 * word;
            v = NUMBERS4(FOUR(w + (q + at) / ROWS_OF_ELEMENT * PANEL, word), at);
            v = SCALED(v, zeros ? vload4(0, Z + Z_off + s) : 0, vload4(0, S + S_off + s));
        }
        barrier(CLK_LOCAL_MEM_FENCE); // the tiles before have been read
        for (int c = 0; c < 4; c++) a[from + c][id / 4] = u[c];
        vstore4(v, word, b[at]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = 0; t < STEPS; t++) {
            const REAL4 f = vload4(x, b[t]);
            for (int r = 0; r < 4; r++) sum[r] += a[t][4 * y + r] * f;
        }
    }
    for (int r = 0; r < 4; r++) {
        REAL each[4];
        vstore4(sum[r], 0, each);
        for (int c = 0; c < 4; c++)
            if (i + r < m && j + c < n) Y[Y_off + (i + r) * n + j + c] = each[c];
    }
}

// The entry point k_matmul_quantized_rows, of few rows: a work-group computes 32 columns of one row. Each of its 32 lanes of 8
// work-items adds up every 32nd block of 32 rows of W, a work-item four columns of them.
#define LANES 32
#define BLOCK 32 // rows of W: a group has no part of one
#define WORDS 8

kernel __attribute__((reqd_work_group_size(WORDS, LANES, 1)))
void k_matmul_quantized_rows(IN(X), IN_OF(ELEMENT, W), IN(S), IN(Z), OUT(Y), int m, int n, int k, int group, int zeros) {
    local REAL sums[LANES][4 * WORDS];
    const int word = get_local_id(0), lane = get_local_id(1), i = get_group_id(1);
    const int j = get_group_id(0) * 4 * WORDS + 4 * word, panel = j / PANEL, at = j % PANEL;
    global const ELEMENT *w = W + W_off + panel * PANEL_ELEMENTS(k) + at;
    global const REAL *x = X + X_off + i * k;
    REAL4 total = 0;
    for (int first = lane * BLOCK; first < k; first += LANES * BLOCK) {
        const int rows = min(BLOCK, k - first);
        REAL4 sum = 0;
        REAL part = 0; // of x, which the zero points count for
        if (rows == BLOCK) {
#pragma unroll
            for (int r = 0; r < BLOCK; r++) {
                const REAL f = x[first + r];
                sum += f * NUMBERS4(FOUR(w + (first + r) / ROWS_OF_ELEMENT * PANEL, 0), r);
                part += f;
            }
        } else {
            for (int r = 0; r < rows; r++) {
                const REAL f = x[first + r];
                sum += f * NUMBERS4(FOUR(w + (first + r) / ROWS_OF_ELEMENT * PANEL, 0), r);
                part += f;
            }
        }
        const int s = (panel * GROUPS(k, group) + (group ? first / group : 0)) * PANEL + at;
        if (zeros) sum -= part * vload4(0, Z + Z_off + s);
        total += sum * vload4(0, S + S_off + s);
    }
    vstore4(total, word, sums[lane]);
    for (int left = LANES / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left) vstore4(vload4(word, sums[lane]) + vload4(word, sums[lane + left]), word, sums[lane]);
    }
    if (lane > 0) return;
    for (int c = 0; c < 4; c++)
        if (j + c < n) Y[Y_off + i * n + j + c] = sums[0][4 * word + c];
}
