// @depends: sort
// Sorts for CPUs: one work-item per work-group.

// The first element from k on of sixteen of which one may come before the last that is kept, or of those left over at the end.
static int none_before(global const ELEM *x, int k, int m, ELEM last, int flags) {
#ifdef HALF_INFINITY
    const KEY key = sort_key(last, flags);
#endif
    for (; k + 16 <= m; k += 16) {
#ifdef HALF_INFINITY
        int before = 0;
        for (int j = 0; j < 16; j++) before |= sort_key(x[k + j], flags) < key;
        if (before) return k;
#else
        const ELEM16 v = vload16(0, x + k);
        if (!(flags & DESCENDING ? all(v <= last) : all(v >= last))) return k;
#endif
    }
    return k;
}

// Y and J [rows, blocks, keep] are the first keep elements, in order, of each block of X [rows, n], of block elements, the last of
// a row fewer, and their indices; less than keep where a block has less, and then the next follows at once. Equal elements keep
// their order. An element is inserted where it belongs among those that are kept.
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k_sort_blocks(IN(X), IN_INTS(I), OUT(Y), OUT_OF(INDEX, J), int rows, int n, int block, int keep, int flags) {
    const int blocks = (n + block - 1) / block, g = get_group_id(0), groups = get_num_groups(0);
    const int last = min(keep, n - (blocks - 1) * block), row_out = (blocks - 1) * min(keep, block) + last;
    const long units = (long)rows * blocks;
    for (int u = units * g / groups; u < units * (g + 1) / groups; u++) {
        const int row = u / blocks, b = u % blocks, from = row * n + b * block, m = min(block, n - b * block), most = min(keep, m);
        global ELEM *y = Y + Y_off + row * row_out + b * min(keep, block);
        global INDEX *j = J + J_off + row * row_out + b * min(keep, block);
        int have = 0;
        for (int k = 0, sixteen = 0; k < m; k++) {
            if (k >= sixteen && have == most && most > 0) {
                k = none_before(X + X_off + from, k, m, y[most - 1], flags);
                if (k == m) break;
                sixteen = k + 16;
            }
            const ELEM x = X[X_off + from + k];
            const KEY key = sort_key(x, flags);
            int at = have;
            if (have == most) {
                if (most == 0 || key >= sort_key(y[most - 1], flags)) continue;
                at = most - 1;
            } else {
                have++;
            }
            for (; at > 0 && sort_key(y[at - 1], flags) > key; at--) {
                y[at] = y[at - 1];
                j[at] = j[at - 1];
            }
            y[at] = x;
            j[at] = flags & GIVEN ? I[I_off + from + k] : b * block + k;
        }
    }
}
