// @depends: common, epilogue
// Products of a batch of small matrices, for GPUs: C = A·B + C·accumulate.
//
//   A: [a_at + i*a_row + k*a_step]  B: [b_at + k*b_step + j*b_column]  C: [(y*m + i)*n + j]
//   y in 0:batch, i in 0:m, j in 0:n, k in 0:K
//
// A work-item computes an element. The work-items of a group share the few matrices that they read, which stay in the
// first-level cache. Product y = (y0*n1 + y1)*n2 + y2 begins y0*a0 + y1*a1 + y2*a2 elements after the first of A, and
// likewise in B. A sum is over k in ascending order, as in gemm_gpu.cl: with the same bits.

kernel void k_gemm_direct(IN(A), IN(B), OUT(C), int m, int n, int K, int a_row, int a_step, int b_step, int b_column,
                          int accumulate, int batch, int n1, int n2, int a0, int a1, int a2, int b0, int b1, int b2 PUT_PARAMS) {
    const int at = get_global_id(0);
    if (at >= batch * m * n) return;
    const int j = at % n, i = at / n % m, y = at / n / m;
    const int y0 = y / (n1 * n2), y1 = y / n2 % n1, y2 = y % n2;
    global const REAL *a = A + A_off + y0 * a0 + y1 * a1 + y2 * a2 + i * a_row;
    global const REAL *b = B + B_off + y0 * b0 + y1 * b1 + y2 * b2 + j * b_column;
    REAL sum = 0;
    for (int k = 0; k < K; k++) sum = fma(a[k * a_step], b[k * b_step], sum);
    if (accumulate) sum += C[C_off + at];
    PUT(C + C_off, at, sum);
}
