// @depends: combine
// Scatters to rows in parallel, with a fixed order: the indices are sorted, stably, and each run of equal ones makes what
// comes to a row. The sort is by digits of 4 bits, the lowest first (LSD radix sort): Knuth, The Art of Computer
// Programming 3, section 5.2.5.

#define SORT_GROUP 256 // work-items in a group
#define SORT_KEYS 8    // neighbouring keys of a work-item
#define SORT_DIGITS 16

// A key is an index, or rows where that is outside [0, rows).
static int sort_key(int index, int rows) { return index >= 0 && index < rows ? index : rows; }

// C[d, t] is how many keys of tile t have the digit d.
kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1)))
void k_sort_count(IN_INTS(K), OUT_INTS(C), int n, int rows, int shift) {
    local int count[SORT_DIGITS];
    const int lid = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0);
    if (lid < SORT_DIGITS) count[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < SORT_KEYS; k++) {
        const int i = (tile * SORT_KEYS + k) * SORT_GROUP + lid;
        if (i < n) atomic_inc(count + ((sort_key(K[K_off + i], rows) >> shift) & (SORT_DIGITS - 1)));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < SORT_DIGITS) C[C_off + lid * tiles + tile] = count[lid];
}

// C[i] becomes the sum of those before it. One work-group: each work-item sums a run, and what the runs before it hold is
// added.
kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1)))
void k_sort_scan(OUT_INTS(C), int n) {
    local int sums[SORT_GROUP];
    const int lid = get_local_id(0), run = (n + SORT_GROUP - 1) / SORT_GROUP;
    const int from = min(n, lid * run), to = min(n, from + run);
    int sum = 0;
    for (int i = from; i < to; i++) sum += C[C_off + i];
    sums[lid] = sum;
    for (int span = 1; span < SORT_GROUP; span *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int before = lid >= span ? sums[lid - span] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[lid] += before;
    }
    sum = sums[lid] - sum;
    for (int i = from; i < to; i++) {
        const int own = C[C_off + i];
        C[C_off + i] = sum;
        sum += own;
    }
}

// Moves the keys K, and where they came from, P, to their places by a digit, KO and PO. C has the place of the first key
// of each digit and tile. In the first pass keys are made of indices, which come from where they are.
kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1)))
void k_sort_move(IN_INTS(K), IN_INTS(P), IN_INTS(C), OUT_INTS(KO), OUT_INTS(PO), int n, int rows, int shift, int first) {
    local int count[SORT_DIGITS][SORT_GROUP]; // of the keys of a work-item, then of those before it in the tile
    local int part[SORT_DIGITS][SORT_GROUP / SORT_DIGITS];
    const int lid = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0);
    const int base = (tile * SORT_GROUP + lid) * SORT_KEYS, end = min(n, base + SORT_KEYS);
    for (int d = 0; d < SORT_DIGITS; d++) count[d][lid] = 0;
    for (int i = base; i < end; i++) count[(sort_key(K[K_off + i], rows) >> shift) & (SORT_DIGITS - 1)][lid]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    // A work-item adds up 16 neighbours of one digit.
    const int d = lid / SORT_DIGITS, run = lid % SORT_DIGITS;
    int sum = 0;
    for (int j = 0; j < SORT_GROUP / SORT_DIGITS; j++) sum += count[d][run * (SORT_GROUP / SORT_DIGITS) + j];
    part[d][run] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = C[C_off + d * tiles + tile];
    for (int j = 0; j < run; j++) sum += part[d][j];
    for (int j = 0; j < SORT_GROUP / SORT_DIGITS; j++) {
        const int at = run * (SORT_GROUP / SORT_DIGITS) + j, own = count[d][at];
        count[d][at] = sum;
        sum += own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = base; i < end; i++) {
        const int key = sort_key(K[K_off + i], rows);
        const int to = count[(key >> shift) & (SORT_DIGITS - 1)][lid]++;
        KO[KO_off + to] = key;
        PO[PO_off + to] = first ? i : P[P_off + i];
    }
}

#define RUN_BLOCK 32 // sorted keys of a work-item

// Rows of G, or of G by P if sorted is not 0, go to the rows of Y that the sorted keys K name. A work-item has RUN_BLOCK of
// them, of one column. A run of equal keys within a block is combined with its row of Y at once. What a block has of a run
// that began before it goes to row 2b of H, of one that goes on behind it to row 2b + 1; HK is their keys, rows for none. So
// H is rows to be scattered by sorted keys again, and the runs of a key lie beside each other.
kernel void k_scatter_runs(IN(G), IN_INTS(P), IN_INTS(K), OUT(Y), OUT(H), OUT_INTS(HK), int n, int cols, int rows, int how, int sorted) {
    const int c = get_global_id(0), b = get_global_id(1), begin = b * RUN_BLOCK, end = min(n, begin + RUN_BLOCK);
    if (c >= cols || begin >= n) return;
    int head = rows, tail = rows;
    for (int i = begin; i < end;) {
        const int key = K[K_off + i], from = i;
        ELEM sum = G[G_off + (sorted ? P[P_off + i] : i) * cols + c];
        for (i++; i < end && K[K_off + i] == key; i++)
            sum = combined(sum, G[G_off + (sorted ? P[P_off + i] : i) * cols + c], how);
        if (key >= rows) continue;
        const int before = from == begin && begin > 0 && K[K_off + begin - 1] == key;
        const int behind = i == end && end < n && K[K_off + end] == key;
        if (before) {
            head = key;
            // The whole block is of one run: its row 2b + 1 has the result, and this one what changes nothing.
            H[H_off + 2 * b * cols + c] = !behind ? sum : how == SCATTER_ADD ? 0 : how == SCATTER_MUL ? 1 : sum;
        }
        if (behind) {
            tail = key;
            H[H_off + (2 * b + 1) * cols + c] = sum;
        }
        if (!before && !behind) {
            const int to = Y_off + key * cols + c;
            Y[to] = combined(Y[to], sum, how);
        }
    }
    if (head == rows) H[H_off + 2 * b * cols + c] = 0;
    if (tail == rows) H[H_off + (2 * b + 1) * cols + c] = 0;
    if (c == 0) {
        HK[HK_off + 2 * b] = head;
        HK[HK_off + 2 * b + 1] = tail;
    }
}
