// @depends: common
// C [batch, m, n] = (A − ZA)·(B − ZB) of integers of 8 bits, for CPUs: one work-item per work-group for 4 rows of 16 columns, which are
// a vector. Element (i, q) of A is i·lda + q, element (q, j) of B is q·step + j·column; nextA and nextB are from one matrix of the
// batch to the next. There are zerosA zero points: none, one, or one for each row; and zerosB. Bit 0 of `sign` says that A is signed,
// bit 1 that B is.
#define ROWS 4
#define COLUMNS 16

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_matmul_integer(IN_BYTES(A), IN_BYTES(B), IN_BYTES(ZA), IN_BYTES(ZB), OUT_INTS(C), int m, int n, int k, int lda, int step,
    int column, int nextA, int nextB, int zerosA, int zerosB, int sign) {
    const int j = get_group_id(0) * COLUMNS, i = get_group_id(1) * ROWS, z = get_group_id(2);
    const int rows = min(ROWS, m - i), columns = min(COLUMNS, n - j);
    const uchar flipA = sign & 1 ? 128 : 0, flipB = sign & 2 ? 128 : 0; // the byte of v is v + 128 then, as if it had no sign
    global const uchar *a[ROWS], *b = B + B_off + z * nextB + j * column;
    int lessA[ROWS], lessB[COLUMNS];
    uint16 sum[ROWS];
    for (int r = 0; r < ROWS; r++) {
        const int row = i + min(r, rows - 1);
        a[r] = A + A_off + z * nextA + row * lda;
        lessA[r] = zerosA > 0 ? ZA[ZA_off + (zerosA > 1 ? row : 0)] ^ flipA : flipA;
        sum[r] = 0;
    }
    for (int c = 0; c < COLUMNS; c++)
        lessB[c] = zerosB > 0 ? ZB[ZB_off + (zerosB > 1 ? min(j + c, n - 1) : 0)] ^ flipB : flipB;
    const int16 less = vload16(0, lessB);
    for (int q = 0; q < k; q++, b += step) {
        uchar16 v;
        if (columns == COLUMNS && column == 1) {
            v = vload16(0, b);
        } else {
            uchar each[COLUMNS];
            for (int c = 0; c < COLUMNS; c++) each[c] = b[min(c, columns - 1) * column];
            v = vload16(0, each);
        }
        const uint16 w = as_uint16(convert_int16(v ^ flipB) - less);
        for (int r = 0; r < ROWS; r++) sum[r] += w * (uint)((a[r][q] ^ flipA) - lessA[r]);
    }
    for (int r = 0; r < rows; r++) {
        global int *to = C + C_off + (z * m + i + r) * n + j;
        int each[COLUMNS];
        vstore16(as_int16(sum[r]), 0, each);
        if (columns == COLUMNS) vstore16(as_int16(sum[r]), 0, to);
        else for (int c = 0; c < columns; c++) to[c] = each[c];
    }
}
