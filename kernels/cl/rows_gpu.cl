// @depends: common
// Sums and maxima of many lines by a work-group, for devices that run it in lockstep. Each line has a number of lanes,
// a power of two, that take its elements in turn; a group has GROUP items, for some lines beside each other. The tree
// over the lanes is fixed, so the same input gives the same bits.

#ifndef GROUP
#define GROUP 256 // work-items in a group, a power of two
#endif
#define PER 16 // elements of a line that each lane keeps in registers; it reads others again

// The result of all lanes of a line, for each of them. `lane` counts its lanes, whose slots in t are `step` apart.
#define TREE(name, JOINED)                                                              \
    static REAL name(local REAL *t, REAL v, int slot, int lane, int lanes, int step) {  \
        t[slot] = v;                                                                    \
        for (int span = lanes / 2; span > 0; span /= 2) {                               \
            barrier(CLK_LOCAL_MEM_FENCE);                                               \
            const REAL a = t[slot], b = t[lane < span ? slot + span * step : slot];     \
            if (lane < span) t[slot] = JOINED;                                          \
        }                                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                   \
        const REAL all = t[slot - lane * step];                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                   \
        return all;                                                                     \
    }

TREE(tree_sum, a + b)
TREE(tree_max, b > a ? b : a)

// Where a work-item stands among lines of [outer, len, inner]: the lanes of a row lie beside each other, those of columns
// above each other. Lines past the last have no elements.
#define LINES                                                                                                   \
    local REAL t[GROUP];                                                                                        \
    const int across = inner == 1, step = across ? 1 : get_local_size(0);                                       \
    const int lanes = get_local_size(across ? 0 : 1), lane = get_local_id(across ? 0 : 1);                      \
    const int slot = get_local_id(1) * get_local_size(0) + get_local_id(0), line = get_global_id(across ? 1 : 0); \
    const int count = line < outer * inner ? len : 0, at = line / inner * len * inner + line % inner;
