// @depends: common, tile_cpu
// C [batch, m, n] = (A − ZA)·(B − ZB) of integers of 8 bits, for CPUs: one work-item per work-group for 16 rows of 32 columns. Element
// (i, q) of A is i·lda + q, element (q, j) of B is q·step + j·column; nextA and nextB are from one matrix of the batch to the next.
// There are zerosA zero points: none, one, or one for each row; and zerosB. Bit 0 of `sign` says that A is signed, bit 1 that B is.
//
// Products are added up as floats, which is exact: they are of two numbers from −255 to 255, and STEPS of them are less than 2²⁴.
#define ROWS 16
#define STEPS 128

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_matmul_integer(IN_BYTES(A), IN_BYTES(B), IN_BYTES(ZA), IN_BYTES(ZB), OUT_INTS(C), int m, int n, int k, int lda, int step,
    int column, int nextA, int nextB, int zerosA, int zerosB, int sign) {
    const int j = get_group_id(0) * TILE_COLUMNS, i = get_group_id(1) * ROWS, z = get_group_id(2);
    const int rows = min(ROWS, m - i), columns = min(TILE_COLUMNS, n - j);
    const uchar flipA = sign & 1 ? 128 : 0, flipB = sign & 2 ? 128 : 0; // the byte of v is v + 128 then, as if it had no sign
    float16 tile[STEPS][2];
    float a[ROWS][STEPS];
    int16 total[ROWS][2];
    int each[TILE_COLUMNS];
    for (int c = 0; c < TILE_COLUMNS; c++)
        each[c] = zerosB > 0 ? ZB[ZB_off + (zerosB > 1 ? min(j + c, n - 1) : 0)] ^ flipB : flipB;
    const int16 less0 = vload16(0, each), less1 = vload16(1, each);
    for (int r = 0; r < ROWS; r++) total[r][0] = total[r][1] = 0;
    for (int first = 0; first < k; first += STEPS) {
        const int steps = min(STEPS, k - first);
        for (int q = 0; q < steps; q++) {
            global const uchar *b = B + B_off + z * nextB + (first + q) * step + j * column;
            uchar16 b0, b1;
            if (columns == TILE_COLUMNS && column == 1) {
                b0 = vload16(0, b);
                b1 = vload16(1, b);
            } else {
                uchar bytes[TILE_COLUMNS];
                for (int c = 0; c < TILE_COLUMNS; c++) bytes[c] = b[min(c, columns - 1) * column];
                b0 = vload16(0, bytes);
                b1 = vload16(1, bytes);
            }
            tile[q][0] = convert_float16(convert_int16(b0 ^ flipB) - less0);
            tile[q][1] = convert_float16(convert_int16(b1 ^ flipB) - less1);
        }
        for (int r = 0; r < ROWS; r++) {
            const int row = i + min(r, rows - 1), less = zerosA > 0 ? ZA[ZA_off + (zerosA > 1 ? row : 0)] ^ flipA : flipA;
            global const uchar *from = A + A_off + z * nextA + row * lda + first;
            for (int q = 0; q < steps; q++) a[r][q] = (from[q] ^ flipA) - less;
        }
        for (int r = 0; r < rows; r += 4) {
            float16 sum[4][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
            const float *four[4] = {a[r], a[r + 1], a[r + 2], a[r + 3]};
            ADD_TILE(sum, four, tile, steps)
            for (int s = 0; s < 4; s++) {
                total[r + s][0] = as_int16(as_uint16(total[r + s][0]) + as_uint16(convert_int16(sum[s][0]))); // wraps around
                total[r + s][1] = as_int16(as_uint16(total[r + s][1]) + as_uint16(convert_int16(sum[s][1])));
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        global int *to = C + C_off + (z * m + i + r) * n + j;
        if (columns == TILE_COLUMNS) {
            vstore16(total[r][0], 0, to);
            vstore16(total[r][1], 1, to);
            continue;
        }
        vstore16(total[r][0], 0, each);
        vstore16(total[r][1], 1, each);
        for (int c = 0; c < columns; c++) to[c] = each[c];
    }
}
