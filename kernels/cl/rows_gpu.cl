// @depends: common
// Sums and maxima of many lines by a work-group, for devices that run it in lockstep. Each line has a number of lanes,
// a power of two, that take its elements in turn; a group has GROUP items, for some lines beside each other. The tree
// over the lanes is fixed, so the same input gives the same bits.

#ifndef GROUP
#define GROUP 256 // work-items in a group, a power of two
#endif
#define PER 16 // elements of a line that each lane keeps in registers; it reads others again

// The result of all lanes of a line, for each of them. `lane` counts its lanes, whose slots are `step` apart in t, of twice
// GROUP elements. The first sixteen lanes join what every sixteenth has, then each joins those: two barriers, and none in a
// loop, which PoCL 3.1 takes ten times as long to compile.
#define TREE(name, T, JOINED)                                                         \
    static T name(local T *t, T v, int slot, int lane, int lanes, int step) {         \
        const int few = min(lanes, 16);                                               \
        t[slot] = v;                                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                 \
        if (lane < few) {                                                             \
            T a = v;                                                                  \
            for (int l = few; l < lanes; l += few) {                                  \
                const T b = t[slot + l * step];                                       \
                a = JOINED;                                                           \
            }                                                                         \
            t[GROUP + slot] = a;                                                      \
        }                                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                 \
        T a = t[GROUP + slot - lane * step];                                          \
        for (int l = 1; l < few; l++) {                                               \
            const T b = t[GROUP + slot + (l - lane) * step];                          \
            a = JOINED;                                                               \
        }                                                                             \
        return a;                                                                     \
    }

TREE(tree_max, REAL, b > a ? b : a)
TREE(tree_sum, REAL, a + b)
TREE(tree_sums, REAL2, a + b)

// How many lanes a line has: as many as keep half of what their registers hold.
static int lanes_of(int len) {
    int lanes = 1;
    while (lanes < GROUP && lanes * PER / 2 < len) lanes *= 2;
    return lanes;
}

// Where a work-item stands among lines of `len` elements: the lanes of rows lie beside each other, `across`, those of
// columns above each other, since eight neighbouring columns are a sector of the cache.
#define LINES(len, columns)                                                                        \
    const int across = !(columns), lanes = across ? lanes_of(len) : min(lanes_of(len), GROUP / 8); \
    const int beside = GROUP / lanes, step = across ? 1 : beside, slot = get_local_id(0);          \
    const int lane = across ? slot % lanes : slot / beside, place = across ? slot / lanes : slot % beside;
