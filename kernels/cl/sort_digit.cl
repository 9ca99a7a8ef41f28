// @depends: sort
// The passes of sorts on CPUs, by a digit and of runs that are joined, with one work-item per work-group, and the choice from what
// was sorted, with one per line. Source: Green, McColl, Bader, "GPU Merge Path", ICS 2012.

#define MOST_BITS 11 // SortBits of internal/ops

// Y and J are X and I [rows, n] with each block of block elements, the last of a row fewer, sorted by so many bits of
// the key, at most MOST_BITS, from shift on. Equal ones keep their order.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sort_digit(IN(X), IN_INTS(I), OUT(Y), OUT_OF(INDEX, J), int rows, int n, int block, int shift, int bits,
                  int flags) {
    const int mask = (1 << bits) - 1, blocks = (n + block - 1) / block, g = get_group_id(0), groups = get_num_groups(0);
    const long units = (long)rows * blocks;
    for (int u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int b = u % blocks, from = u / blocks * n + b * block, m = min(block, n - b * block);
        global const ELEM *x = X + X_off + from;
        int next[1 << MOST_BITS];
        for (int d = 0; d <= mask; d++) next[d] = 0;
        for (int k = 0; k < m; k++) next[(int)(sort_key(x[k], flags) >> shift) & mask]++;
        int sum = 0;
        for (int d = 0; d <= mask; d++) {
            const int count = next[d];
            next[d] = sum;
            sum += count;
        }
        for (int k = 0; k < m; k++) {
            const ELEM v = x[k];
            const int to = from + next[(int)(sort_key(v, flags) >> shift) & mask]++;
            Y[Y_off + to] = v;
            J[J_off + to] = flags & GIVEN ? I[I_off + from + k] : b * block + k;
        }
    }
}

// How many of the first diagonal elements of two sorted runs joined are from a.
static int from_first(global const ELEM *a, int na, global const ELEM *b, int nb, int diagonal, int flags) {
    int lo = max(0, diagonal - nb), hi = min(diagonal, na);
    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (sort_key(a[mid], flags) <= sort_key(b[diagonal - 1 - mid], flags)) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

// Y and J are X and I [rows, n] with each two runs of run elements, which are sorted, as one. A work-item joins tile elements.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sort_merge(IN(X), IN_INTS(I), OUT(Y), OUT_OF(INDEX, J), int rows, int n, int run, int tile, int flags) {
    const int pairs = (n + 2 * run - 1) / (2 * run), tiles = (2 * run + tile - 1) / tile, g = get_group_id(0);
    const int pair = g / tiles % pairs * 2 * run, row = g / tiles / pairs, base = row * n + pair, diagonal = g % tiles * tile;
    const int na = min(run, n - pair), nb = max(0, min(run, n - pair - run)), end = min(diagonal + tile, na + nb);
    if (diagonal >= end) return;
    global const ELEM *a = X + X_off + base, *b = a + na;
    global const int *ia = I + I_off + base, *ib = ia + na;
    int i = from_first(a, na, b, nb, diagonal, flags), k = diagonal - i;
    for (int at = diagonal; at < end; at++) {
        const int first = k >= nb || (i < na && sort_key(a[i], flags) <= sort_key(b[k], flags));
        Y[Y_off + base + at] = first ? a[i] : b[k];
        J[J_off + base + at] = first ? ia[i] : ib[k];
        i += first;
        k += 1 - first;
    }
}

// Y and J [rows] are the lower median of each row of X [rows, n], which is sorted, and its index; the first NaN, if there is one.
kernel void k_median(IN(X), IN_INTS(I), OUT(Y), OUT_OF(INDEX, J), int rows, int n) {
    const int row = get_global_id(0);
    if (row >= rows) return;
    global const ELEM *x = X + X_off + row * n;
    int at = (n - 1) / 2;
    if (IS_NAN(x[n - 1])) {
        int hi = n - 1;
        for (at = 0; at < hi;) {
            const int mid = (at + hi) / 2;
            if (IS_NAN(x[mid])) hi = mid;
            else at = mid + 1;
        }
    }
    Y[Y_off + row] = x[at];
    J[J_off + row] = I[I_off + row * n + at];
}
