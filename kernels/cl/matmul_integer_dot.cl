// @depends: common
// The products of integers of 8 bits of matmul_integer_cpu.cl by the integer dot product: a work-group computes 64 rows of 64 columns,
// a work-item 4 of 4. Tiles of A and B lie in local memory as words of four bytes along the sum, without a sign. Zero points come in
// at the end:
//
//   Σ (a − za)·(b − zb) = Σ a·b − za·Σ b − zb·Σ a + k·za·zb
#define SIDE 16
#define TILE 64
#define WORDS 8 // of the sum, of a tile

// c plus the products of the four bytes of two words
#if defined(cl_khr_integer_dot_product) || defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define DOT(a, b, c) (dot_4x8packed_uu_uint(a, b) + (c))
#else
static uint dot_bytes(uint a, uint b) {
    const uint4 v = convert_uint4(as_uchar4(a)) * convert_uint4(as_uchar4(b));
    return v.s0 + v.s1 + v.s2 + v.s3;
}
#define DOT(a, b, c) (dot_bytes(a, b) + (c))
#endif

// Four bytes that lie `step` apart, 0 beyond the first n.
static uint word(global const uchar *p, int step, int n, uchar flip) {
    uchar4 v = 0;
    if (n >= 4 && step == 1) return as_uint((uchar4)(vload4(0, p) ^ flip));
    if (n > 0) v.s0 = p[0] ^ flip;
    if (n > 1) v.s1 = p[step] ^ flip;
    if (n > 2) v.s2 = p[2 * step] ^ flip;
    if (n > 3) v.s3 = p[3 * step] ^ flip;
    return as_uint(v);
}

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void k_matmul_integer_dot(IN_BYTES(A), IN_BYTES(B), IN_BYTES(ZA), IN_BYTES(ZB), OUT_INTS(C), int m, int n, int k, int lda, int step,
    int column, int nextA, int nextB, int zerosA, int zerosB, int sign) {
    local uint a[WORDS][TILE + 1], b[WORDS][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1), id = y * SIDE + x, z = get_group_id(2);
    const uchar flipA = sign & 1 ? 128 : 0, flipB = sign & 2 ? 128 : 0; // the byte of v is v + 128 then, as if it had no sign
    const int i = get_group_id(1) * TILE, j = get_group_id(0) * TILE;   // of the tile of C
    const uint ones = 0x01010101;
    uint sum[4][4], ofA[4] = {0, 0, 0, 0}, ofB[4] = {0, 0, 0, 0};
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) sum[r][c] = 0;
    }
    for (int q = 0; q < k; q += 4 * WORDS) {
        barrier(CLK_LOCAL_MEM_FENCE); // the tiles before have been read
        for (int t = id; t < WORDS * TILE; t += SIDE * SIDE) {
            const int row = t / WORDS, w = t % WORDS, at = q + 4 * w;
            a[w][row] = word(A + A_off + z * nextA + (i + row) * lda + at, 1, i + row < m ? k - at : 0, flipA);
            const int col = column == 1 ? t % TILE : row, v = column == 1 ? t / TILE : w, from = q + 4 * v; // neighbours in memory
            b[v][col] = word(B + B_off + z * nextB + from * step + (j + col) * column, step, j + col < n ? k - from : 0, flipB);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int w = 0; w < WORDS; w++) {
            uint u[4], v[4];
            for (int r = 0; r < 4; r++) {
                u[r] = a[w][y + r * SIDE];
                v[r] = b[w][x + r * SIDE];
                ofA[r] = DOT(u[r], ones, ofA[r]);
                ofB[r] = DOT(v[r], ones, ofB[r]);
            }
            for (int r = 0; r < 4; r++) {
                for (int c = 0; c < 4; c++) sum[r][c] = DOT(u[r], v[c], sum[r][c]);
            }
        }
    }
    for (int r = 0; r < 4; r++) {
        const int row = i + y + r * SIDE;
        const uint lessA = zerosA > 0 ? ZA[ZA_off + (zerosA > 1 ? min(row, m - 1) : 0)] ^ flipA : flipA;
        for (int c = 0; c < 4; c++) {
            const int at = j + x + c * SIDE;
            const uint lessB = zerosB > 0 ? ZB[ZB_off + (zerosB > 1 ? min(at, n - 1) : 0)] ^ flipB : flipB;
            if (row < m && at < n)
                C[C_off + (z * m + row) * n + at] = as_int(sum[r][c] - lessA * ofB[c] - lessB * ofA[r] + (uint)k * lessA * lessB);
        }
    }
}
