// @depends: sort
// Sorts of blocks for devices that run a work-group in lockstep. Elements are compared by their key and then by their place, so
// that equal ones keep their order. Source: Batcher, "Sorting Networks and Their Applications", AFIPS 1968.

#ifndef SORT_GROUP
#define SORT_GROUP 256
#endif
#ifndef SORT_BLOCK
#define SORT_BLOCK 2048 // elements that a work-group sorts, a power of two
#endif

// Y and J [rows, blocks, keep] are the first keep elements, in order, of each block of X [rows, n], of block elements, the last of
// a row fewer, and their indices; less than keep where a block has less, and then the next follows at once. block is at most
// SORT_BLOCK. A work-group sorts a block by a bitonic network.
kernel __attribute__((reqd_work_group_size(SORT_GROUP, 1, 1)))
void k_sort_blocks(IN(X), IN_INTS(I), OUT(Y), OUT_OF(INDEX, J), int rows, int n, int block, int keep, int flags) {
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
