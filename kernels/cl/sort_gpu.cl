// @depends: sort
// Sorts for devices that run a work-group in lockstep. Elements are compared by their key and then by their place, so that equal
// ones keep their order. Sources: Batcher, "Sorting Networks and Their Applications", AFIPS 1968; Green, McColl, Bader, "GPU Merge
// Path", ICS 2012.

#ifndef SORT_GROUP
#define SORT_GROUP 256
#endif
#ifndef SORT_BLOCK
#define SORT_BLOCK 2048 // elements that a work-group sorts or joins, a power of two
#endif

// Y and J [rows, blocks, keep] are the first keep elements, in order, of each block of X [rows, n], of block elements, the last of
// a row fewer, and their indices; less than keep where a block has less, and then the next follows at once. block is at most
// SORT_BLOCK. A work-group sorts a block by a bitonic network.
kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1)))
void k_sort_blocks(IN(X), IN_INTS(I), OUT(Y), OUT_INTS(J), int rows, int n, int block, int keep, int flags) {
    local KEY keys[SORT_BLOCK];
    local int places[SORT_BLOCK];
    const int blocks = (n + block - 1) / block, lid = get_local_id(0), row = get_group_id(0) / blocks, b = get_group_id(0) % blocks;
    const int from = row * n + b * block, m = min(block, n - b * block);
    int size = 1;
    while (size < min(n, block)) size *= 2;
    for (int k = lid; k < size; k += SORT_GROUP) {
        keys[k] = k < m ? sort_key(X[X_off + from + k], flags) : ~(KEY)0;
        places[k] = k; // those that fill up lie behind all others
    }
    for (int width = 2; width <= size; width *= 2) {
        for (int apart = width / 2; apart > 0; apart /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int t = lid; t < size / 2; t += SORT_GROUP) {
                const int i = 2 * t - (t & (apart - 1)), k = i + apart;
                const KEY u = keys[i], v = keys[k];
                const int p = places[i], q = places[k];
                if ((u > v || (u == v && p > q)) == ((i & width) == 0)) {
                    keys[i] = v;
                    keys[k] = u;
                    places[i] = q;
                    places[k] = p;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int last = min(keep, n - (blocks - 1) * block), to = row * ((blocks - 1) * min(keep, block) + last) + b * min(keep, block);
    for (int k = lid; k < min(keep, m); k += SORT_GROUP) {
        const int p = places[k];
        Y[Y_off + to + k] = X[X_off + from + p];
        J[J_off + to + k] = flags & GIVEN ? I[I_off + from + p] : b * block + p;
    }
}

// How many of the first diagonal elements of two sorted runs joined are from a: of keys in either kind of memory.
#define FROM_FIRST(lo, KEY_A, na, KEY_B, nb, diagonal)                         \
    for (int hi_ = min(diagonal, na); lo < hi_;) {                             \
        const int mid_ = (lo + hi_) / 2;                                       \
        if (KEY_A(mid_) <= KEY_B((diagonal) - 1 - mid_)) lo = mid_ + 1;        \
        else hi_ = mid_;                                                       \
    }

// Y and J are X and I [rows, n] with each two runs of run elements, which are sorted, as one. A work-group joins tile elements,
// which are SORT_BLOCK: what it needs of either run is copied to local memory, where each work-item joins eight.
kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1)))
void k_sort_merge(IN(X), IN_INTS(I), OUT(Y), OUT_INTS(J), int rows, int n, int run, int tile, int flags) {
    local KEY keys[SORT_BLOCK];
    local int bounds[2];
    const int per = SORT_BLOCK / SORT_GROUP, lid = get_local_id(0);
    const int pairs = (n + 2 * run - 1) / (2 * run), tiles = (2 * run + tile - 1) / tile, g = get_group_id(0);
    const int pair = g / tiles % pairs * 2 * run, row = g / tiles / pairs, base = row * n + pair, diagonal = g % tiles * tile;
    const int na = min(run, n - pair), nb = max(0, min(run, n - pair - run)), end = min(diagonal + tile, na + nb);
    global const ELEM *a = X + X_off + base, *b = a + na;
#define KEY_A(i) sort_key(a[i], flags)
#define KEY_B(i) sort_key(b[i], flags)
    if (lid < 2 && diagonal < end) {
        const int d = lid == 0 ? diagonal : end;
        int lo = max(0, d - nb);
        FROM_FIRST(lo, KEY_A, na, KEY_B, nb, d)
        bounds[lid] = lo;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (diagonal >= end) return; // the whole group
    const int a0 = bounds[0], ma = bounds[1] - a0, b0 = diagonal - a0, m = end - diagonal, mb = m - ma;
    for (int k = lid; k < m; k += SORT_GROUP) keys[k] = k < ma ? KEY_A(a0 + k) : KEY_B(b0 + k - ma);
    barrier(CLK_LOCAL_MEM_FENCE);
#define NEAR_A(i) keys[i]
#define NEAR_B(i) keys[ma + (i)]
    const int d = min(lid * per, m);
    int i = max(0, d - mb);
    FROM_FIRST(i, NEAR_A, ma, NEAR_B, mb, d)
    int k = d - i;
    for (int at = d; at < min(d + per, m); at++) {
        const int first = k >= mb || (i < ma && NEAR_A(i) <= NEAR_B(k)), src = base + (first ? a0 + i : na + b0 + k);
        Y[Y_off + base + diagonal + at] = X[X_off + src];
        J[J_off + base + diagonal + at] = I[I_off + src];
        i += first;
        k += 1 - first;
    }
}
