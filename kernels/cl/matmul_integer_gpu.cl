// @depends: common
// The products of integers of 8 bits of matmul_integer_cpu.cl, for GPUs: a work-group computes 64 rows of 64 columns, a work-item 4 of 4.
// Tiles of A and B lie in local memory as ints, from which zero points were subtracted.
#define SIDE 16
#define TILE 64
#define STEPS 16 // of the sum, of a tile

// Elements of 8 bits that lie `step` apart, less some numbers; 0 beyond the first n.
static int4 elements(global const uchar *p, int step, int n, uchar flip, int4 less) {
    if (n >= 4 && step == 1) return convert_int4(vload4(0, p) ^ flip) - less;
    int4 v = 0;
    if (n > 0) v.s0 = (p[0] ^ flip) - less.s0;
    if (n > 1) v.s1 = (p[step] ^ flip) - less.s1;
    if (n > 2) v.s2 = (p[2 * step] ^ flip) - less.s2;
    if (n > 3) v.s3 = (p[3 * step] ^ flip) - less.s3;
    return v;
}

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void k_matmul_integer(IN_BYTES(A), IN_BYTES(B), IN_BYTES(ZA), IN_BYTES(ZB), OUT_INTS(C), int m, int n, int k, int lda, int step,
    int column, int nextA, int nextB, int zerosA, int zerosB, int sign) {
    local int a[STEPS][TILE + 1], b[STEPS][TILE];
    const int x = get_local_id(0), y = get_local_id(1), id = y * SIDE + x, z = get_group_id(2);
    const uchar flipA = sign & 1 ? 128 : 0, flipB = sign & 2 ? 128 : 0;
    const int row = get_group_id(1) * TILE + id / 4, from = id % 4 * 4;            // of A, to copy
    const int at = id / SIDE, first = get_group_id(0) * TILE + id % SIDE * 4;      // of B, to copy
    const int i = get_group_id(1) * TILE + 4 * y, j = get_group_id(0) * TILE + 4 * x; // of C
    const int lessA = zerosA > 0 ? ZA[ZA_off + (zerosA > 1 ? min(row, m - 1) : 0)] ^ flipA : flipA;
    int lessB[4];
    for (int c = 0; c < 4; c++) lessB[c] = zerosB > 0 ? ZB[ZB_off + (zerosB > 1 ? min(first + c, n - 1) : 0)] ^ flipB : flipB;
    uint4 sum[4] = {0, 0, 0, 0};
    for (int q = 0; q < k; q += STEPS) {
        const int4 u = elements(A + A_off + z * nextA + row * lda + q + from, 1, row < m ? k - q - from : 0, flipA, lessA);
        const int4 v = elements(B + B_off + z * nextB + (q + at) * step + first * column, column, q + at < k ? n - first : 0, flipB,
            vload4(0, lessB));
        barrier(CLK_LOCAL_MEM_FENCE); // the tiles before have been read
        a[from][id / 4] = u.s0;
        a[from + 1][id / 4] = u.s1;
        a[from + 2][id / 4] = u.s2;
        a[from + 3][id / 4] = u.s3;
        vstore4(v, id % SIDE, b[at]);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = 0; s < STEPS; s++) {
            const uint4 w = as_uint4(vload4(x, b[s]));
            for (int r = 0; r < 4; r++) sum[r] += w * (uint)a[s][4 * y + r];
        }
    }
    for (int r = 0; r < 4; r++) {
        int each[4];
        vstore4(as_int4(sum[r]), 0, each);
        for (int c = 0; c < 4; c++)
            if (i + r < m && j + c < n) C[C_off + (z * m + i + r) * n + j + c] = each[c];
    }
}
