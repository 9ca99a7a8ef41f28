// @depends: sort
// A pass of a radix sort, and the choice from what was sorted: one work-item per work-group, or per line.

// Y and J are X and I [rows, n] with each block of block elements, the last of a row fewer, sorted by the eight bits of the key
// from shift on. Equal ones keep their order.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sort_digit(IN(X), IN_INTS(I), OUT(Y), OUT_INTS(J), int rows, int n, int block, int shift, int flags) {
    const int blocks = (n + block - 1) / block, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)rows * blocks;
    for (int u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int b = u % blocks, from = u / blocks * n + b * block, m = min(block, n - b * block);
        global const ELEM *x = X + X_off + from;
        int next[256];
        for (int d = 0; d < 256; d++) next[d] = 0;
        for (int k = 0; k < m; k++) next[(int)(sort_key(x[k], flags) >> shift) & 255]++;
        int sum = 0;
        for (int d = 0; d < 256; d++) {
            const int count = next[d];
            next[d] = sum;
            sum += count;
        }
        for (int k = 0; k < m; k++) {
            const ELEM v = x[k];
            const int to = from + next[(int)(sort_key(v, flags) >> shift) & 255]++;
            Y[Y_off + to] = v;
            J[J_off + to] = flags & GIVEN ? I[I_off + from + k] : b * block + k;
        }
    }
}

// Y and J [rows] are the lower median of each row of X [rows, n], which is sorted, and its index; the first NaN, if there is one.
kernel void k_median(IN(X), IN_INTS(I), OUT(Y), OUT_INTS(J), int rows, int n) {
    const int row = get_global_id(0);
    if (row >= rows) return;
    global const ELEM *x = X + X_off + row * n;
    int at = (n - 1) / 2;
    if (x[n - 1] != x[n - 1]) {
        int hi = n - 1;
        for (at = 0; at < hi;) {
            const int mid = (at + hi) / 2;
            if (x[mid] != x[mid]) hi = mid;
            else at = mid + 1;
        }
    }
    Y[Y_off + row] = x[at];
    J[J_off + row] = I[I_off + row * n + at];
}
