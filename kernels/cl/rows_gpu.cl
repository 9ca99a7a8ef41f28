// @depends: common, rows, warp, pairwise
// Sums and maxima of many lines by a work-group, for devices that run it in lockstep. Each line has a number of lanes,
// a power of two, that take its elements in turn; a group has GROUP items, for some lines beside each other. The tree
// over the lanes is fixed, so the same input gives the same bits.

#ifndef GROUP
#define GROUP 256 // work-items in a group, a power of two
#define GROUP_SHIFT 8 // its logarithm
#endif
#ifndef PER
#define PER 16 // elements of a line that each lane keeps in registers; it reads others again
#endif

#ifdef NVIDIA_PTX
// Lanes that are neighbours join in their warps, by registers, and then the warps of a line, of which each lane takes one.
#define BY_WARPS(T, JOINED, OTHER)                           \
    if (step == 1) {                                         \
        T a = v;                                             \
        for (int l = 1; l < min(lanes, 32); l *= 2) {        \
            const T b = OTHER(a, l);                         \
            a = JOINED;                                      \
        }                                                    \
        if (lanes <= 32) return a;                           \
        barrier(CLK_LOCAL_MEM_FENCE);                        \
        if (lane % 32 == 0) t[slot / 32] = a;                \
        barrier(CLK_LOCAL_MEM_FENCE);                        \
        a = t[(slot - lane) / 32 + lane % (lanes / 32)];     \
        for (int l = 1; l < lanes / 32; l *= 2) {            \
            const T b = OTHER(a, l);                         \
            a = JOINED;                                      \
        }                                                    \
        return a;                                            \
    }
#else
#define BY_WARPS(T, JOINED, OTHER)
#endif

// The result of all lanes of a line, for each of them. `lane` counts its lanes, whose slots are `step` apart in t, of twice
// GROUP elements. The first sixteen lanes join what every sixteenth has, then each joins those: two barriers, and none in a
// loop, which PoCL 3.1 takes ten times as long to compile.
#define TREE(name, T, JOINED, OTHER)                                                  \
    static INLINE T name(local T *t, T v, int slot, int lane, int lanes, int step) {  \
        BY_WARPS(T, JOINED, OTHER)                                                    \
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

TREE(tree_prod, REAL, JOIN_PROD(a, b), other)
TREE(tree_max, REAL, JOIN_MAX(a, b), other)
TREE(tree_min, REAL, JOIN_MIN(a, b), other)
TREE(tree_max_number, REAL, JOIN_MAX_NUMBER(a, b), other)
TREE(tree_sum_int, int, JOIN_SUM(a, b), other_int)
TREE(tree_prod_int, int, JOIN_PROD(a, b), other_int)
TREE(tree_max_int, int, JOIN_MAX(a, b), other_int)
TREE(tree_min_int, int, JOIN_MIN(a, b), other_int)
TREE(tree_sum, REAL, a + b, other)
TREE(tree_sums, REAL2, a + b, others)

// The logarithm of how many lanes a line has: as many as keep half of what their registers hold.
static int lanes_shift(int len) { return min(GROUP_SHIFT, 32 - (int)clz((uint)max(len - 1, 0) / (PER / 2))); }

// Where a work-item stands among lines of `len` elements: the lanes of rows lie beside each other, `across`, those of
// columns above each other, since eight neighbouring columns are a sector of the cache. Divisions are shifts: a work-item
// has few elements, and less time than those take. A kernel that is built for rows has ROW_LANES for each of them, which the
// compiler knows then: it unrolls what joins them.
#ifdef ROW_LANES
#define INNER 1
#define ROW_PROLOGUE(len, columns)                                                                     \
    const int lanes = ROW_LANES, per_group = GROUP / ROW_LANES, step = 1, slot = get_local_id(0), lane = slot % ROW_LANES, place = slot / ROW_LANES;
#else
#define INNER inner
#define ROW_PROLOGUE(len, columns)                                                                                   \
    const int across = !(columns), shift = across ? lanes_shift(len) : min(lanes_shift(len), GROUP_SHIFT - 3);        \
    const int lanes = 1 << shift, per_group = GROUP >> shift, step = across ? 1 : per_group, slot = get_local_id(0);        \
    const int lane = across ? slot & (lanes - 1) : slot >> (GROUP_SHIFT - shift);                                     \
    const int place = across ? slot >> shift : slot & (per_group - 1);
#endif

// Element j of the PER that a lane keeps: four that are neighbours, then four after those of all lanes.
#define INDEX_OF(j) (((j) / 4 * lanes + lane) * 4 + (j) % 4)

// Whether rows of `len` elements can be read by fours, which is as fast as memory is, from element `off` of a buffer.
#define ALIGNED4(len, off) ((((len) | (off)) & 3) == 0)

#define VECTOR4_OF(T) T##4
#define VECTOR4(T) VECTOR4_OF(T)

// What FROM and TO are, below, of elements that are in memory what is computed with. Those of 16 bits have functions: see halves.cl.
#define itself(x) (x)
#define itself_4(x) (x)

// Reads what a lane keeps of a line with `count` elements, which are `apart`, into v, of type T; `rest` stands for those past it. They
// are of type M in memory, and FROM makes T of them.
#define LOAD_REGS(M, T, FROM, v, line, fours, apart, rest)                                                   \
    if (fours) {                                                                                          \
        _Pragma("unroll") for (int j = 0; j < PER; j += 4) {                                              \
            const VECTOR4(T) q = INDEX_OF(j) < count ? FROM##_4(*(global const VECTOR4(M) *)((line) + INDEX_OF(j))) : (VECTOR4(T))(rest);  \
            v[j] = q.x;                                                                                   \
            v[j + 1] = q.y;                                                                               \
            v[j + 2] = q.z;                                                                               \
            v[j + 3] = q.w;                                                                               \
        }                                                                                                 \
    } else {                                                                                              \
        _Pragma("unroll") for (int j = 0; j < PER; j++) v[j] = INDEX_OF(j) < count ? FROM((line)[INDEX_OF(j) * (apart)]) : (rest); \
    }

// Reads elements j to j + 3 of what a lane keeps of a line into v, which has four; 0 past the line.
#define LOAD_FOUR(M, FROM, v, j, line, fours, apart)                                                                \
    if (fours) {                                                                                                    \
        const REAL4 q = INDEX_OF(j) < count ? FROM##_4(*(global const VECTOR4(M) *)((line) + INDEX_OF(j))) : (REAL4)(0);    \
        v[0] = q.x;                                                                                                 \
        v[1] = q.y;                                                                                                 \
        v[2] = q.z;                                                                                                 \
        v[3] = q.w;                                                                                                 \
    } else {                                                                                                        \
        _Pragma("unroll") for (int i = 0; i < 4; i++)                                                               \
            v[i] = INDEX_OF((j) + i) < count ? FROM((line)[INDEX_OF((j) + i) * (apart)]) : 0;                               \
    }

// The same of p by channel, each of `span` neighbours. Four that are in one channel cost one division.
#define FOUR_CHANNELS(M, FROM, v, j, p, fours, span)                                                                \
    if (span == 1) {                                                                                                \
        LOAD_FOUR(M, FROM, v, j, p, fours, 1)                                                                       \
    } else if ((span & 3) == 0) {                                                                                   \
        v[0] = v[1] = v[2] = v[3] = INDEX_OF(j) < count ? FROM((p)[INDEX_OF(j) / span]) : 0;                                \
    } else {                                                                                                        \
        _Pragma("unroll") for (int i = 0; i < 4; i++) v[i] = INDEX_OF((j) + i) < count ? FROM((p)[INDEX_OF((j) + i) / span]) : 0; \
    }

// Writes v where LOAD_FOUR reads it. TO makes elements of type M of it.
#define STORE_FOUR(M, TO, v, j, line, fours, apart)                                                                 \
    if (fours) {                                                                                                    \
        if (INDEX_OF(j) < count) *(global VECTOR4(M) *)((line) + INDEX_OF(j)) = TO##_4((REAL4)(v[0], v[1], v[2], v[3]));    \
    } else {                                                                                                        \
        _Pragma("unroll") for (int i = 0; i < 4; i++)                                                               \
            if (INDEX_OF((j) + i) < count) (line)[INDEX_OF((j) + i) * (apart)] = TO(v[i]);                                  \
    }

// Adds to s, of type T, by `body`, what a lane does not keep of a line with `count` elements: see pairwise.cl.
#define PAIRWISE_REST(s, T, body)                                 \
    {                                                             \
        T levels[PAIR_LEVELS];                                    \
        int terms = 0;                                            \
        for (int k = lane + PER * lanes; k < count; k += lanes) { \
            body;                                                 \
            terms++;                                              \
            PAIRWISE(s, levels, terms)                            \
        }                                                         \
        PAIRWISE_END(s, levels, terms)                            \
    }

// Writes v where LOAD_REGS reads it.
#define STORE_KEPT(v, line, fours, apart)                                                                            \
    if (fours) {                                                                                                     \
        _Pragma("unroll") for (int j = 0; j < PER; j += 4)                                                           \
            if (INDEX_OF(j) < count) *(global REAL4 *)((line) + INDEX_OF(j)) = (REAL4)(v[j], v[j + 1], v[j + 2], v[j + 3]);  \
    } else {                                                                                                         \
        _Pragma("unroll") for (int j = 0; j < PER; j++)                                                              \
            if (INDEX_OF(j) < count) (line)[INDEX_OF(j) * (apart)] = v[j];                                                   \
    }
