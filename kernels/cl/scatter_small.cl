// @depends: combine
// Scatters to few rows by few indices, in the order of the indices: for GPUs.
//
// A work-group lists where its row of Y occurs among the indices I [n], and brings those rows of G to it: as k_scatter_rows
// does, with its bits.

#define LIST_GROUP 256 // work-items in a group
#define LIST_EACH 8    // indices that a work-item looks at: there are LIST_GROUP·LIST_EACH at most
#define LIST_AHEAD 16  // rows of G that are on their way at once

kernel __attribute__((reqd_work_group_size(LIST_GROUP, 1, 1)))
void k_scatter_lists(IN(G), IN_INTS(I), OUT(Y), int n, int cols, int rows, int how) {
    local int places[LIST_GROUP * LIST_EACH], upto[LIST_GROUP];
    const int lid = get_local_id(0), row = get_group_id(0), first = lid * LIST_EACH;
    int here = 0; // a bit for each index
    _Pragma("unroll") for (int j = 0; j < LIST_EACH; j++) here |= (first + j < n && I[I_off + first + j] == row) << j;
    const int count = popcount(here);
    int sum = count;
    upto[lid] = sum;
    for (int step = 1; step < LIST_GROUP; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid >= step) sum += upto[lid - step];
        barrier(CLK_LOCAL_MEM_FENCE);
        upto[lid] = sum;
    }
    int at = sum - count;
    _Pragma("unroll") for (int j = 0; j < LIST_EACH; j++) {
        if (here >> j & 1) places[at++] = first + j;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int all = upto[LIST_GROUP - 1];
    if (all == 0) return;
    for (int c = lid; c < cols; c += LIST_GROUP) {
        global const ELEM *g = G + G_off + c;
        global ELEM *to = Y + Y_off + row * cols + c;
        ELEM y = *to;
        for (int k = 0; k < all; k += LIST_AHEAD) {
            ELEM v[LIST_AHEAD];
            _Pragma("unroll") for (int j = 0; j < LIST_AHEAD; j++) v[j] = k + j < all ? g[places[k + j] * cols] : 0;
            _Pragma("unroll") for (int j = 0; j < LIST_AHEAD; j++) {
                if (k + j < all) y = combined(y, v[j], how);
            }
        }
        *to = y;
    }
}
