// @depends: combine
// Scatters to rows in parallel, with a fixed order: the indices are sorted, stably, by radix.cl, and each run of equal ones makes
// what comes to a row.

#define RUN_BLOCK 32 // sorted keys of a work-item
#define RUN_AHEAD 8  // of which so many are on their way at once

// Rows of G, or of G by P if sorted is not 0, go to the rows of Y that the sorted keys K name. A work-item has RUN_BLOCK of
// them, of one column. A run of equal keys within a block is combined with its row of Y at once. What a block has of a run
// that began before it goes to row 2b of H, of one that continues behind it to row 2b + 1; HK is their keys, rows for none. So
// H is rows to be scattered by sorted keys again, and the runs of a key lie beside each other.
kernel void k_scatter_runs(IN(G), IN_INTS(P), IN_INTS(K), OUT(Y), OUT(H), OUT_INTS(HK), int n, int cols, int rows, int how, int sorted) {
    const int c = get_global_id(0), b = get_global_id(1), begin = b * RUN_BLOCK, end = min(n, begin + RUN_BLOCK);
    if (c >= cols || begin >= n) return;
    global const int *keys = K + K_off, *places = P + P_off;
    global const ELEM *g = G + G_off + c;
    global ELEM *y = Y + Y_off + c, *h = H + H_off + 2 * b * cols + c;
    const int joins = begin > 0 ? keys[begin - 1] : -1, goes_on = end < n ? keys[end] : -1; // the keys beside the block
    int key = -1, from = begin, head = rows, tail = rows;
    ELEM sum = 0, old = 0; // of the run of key, and what is in its row of Y
// A run that ends before element i of the block.
#define RUN_ENDS(i)                                                                                                       \
    if (key >= 0 && key < rows) {                                                                                         \
        const int before = from == begin && joins == key, behind = (i) == end && goes_on == key;                          \
        if (before) {                                                                                                     \
            head = key;                                                                                                   \
            /* The whole block is of one run: its row 2b + 1 has the result, and this one what changes nothing. */        \
            h[0] = !behind ? sum : how == SCATTER_ADD ? 0 : how == SCATTER_MUL ? 1 : sum;                                 \
        }                                                                                                                 \
        if (behind) {                                                                                                     \
            tail = key;                                                                                                   \
            h[cols] = sum;                                                                                                \
        }                                                                                                                 \
        if (!before && !behind) y[key * cols] = combined(old, sum, how);                                                  \
    }
    for (int i0 = begin; i0 < end; i0 += RUN_AHEAD) {
        int ks[RUN_AHEAD];
        ELEM gs[RUN_AHEAD], ys[RUN_AHEAD];
        _Pragma("unroll") for (int j = 0; j < RUN_AHEAD; j++) ks[j] = i0 + j < end ? keys[i0 + j] : rows;
        _Pragma("unroll") for (int j = 0; j < RUN_AHEAD; j++) {
            const int there = ks[j] < rows;
            gs[j] = there ? g[(sorted ? places[i0 + j] : i0 + j) * cols] : 0;
            ys[j] = there ? y[ks[j] * cols] : 0; // nobody else writes the row of a run that ends here
        }
        _Pragma("unroll") for (int j = 0; j < RUN_AHEAD; j++) {
            if (i0 + j < end) {
                if (ks[j] == key) {
                    sum = combined(sum, gs[j], how);
                } else {
                    RUN_ENDS(i0 + j)
                    key = ks[j];
                    from = i0 + j;
                    sum = gs[j];
                }
                old = ys[j];
            }
        }
    }
    RUN_ENDS(end)
    if (head == rows) h[0] = 0;
    if (tail == rows) h[cols] = 0;
    if (c == 0) {
        HK[HK_off + 2 * b] = head;
        HK[HK_off + 2 * b + 1] = tail;
    }
}
