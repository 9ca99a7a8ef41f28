// @depends: sort
// A radix sort by eight bits of the key at a time, the lowest first, for devices that run a work-group in lockstep: each tile of a
// row counts its digits, the counts are added up over the tiles, and each tile moves its elements. Equal ones keep their order,
// and the work-groups need nothing of each other. Source: Knuth, The Art of Computer Programming 3, section 5.2.5.

#define RADIX_GROUP 256 // work-items in a group, and digits
#define TEAMS (RADIX_GROUP / 32)
#if defined(OF_ROWS)
#define RADIX_PER 4 // elements of a work-item: there are few
#elif defined(OF_LONGS) || defined(REAL_IS_DOUBLE) && !defined(OF_INTS) && !defined(HALF_INFINITY)
#define RADIX_PER 8 // a tile fits in local memory
#else
#define RADIX_PER 16
#endif
#define TILE (RADIX_GROUP * RADIX_PER)

#ifdef OF_ROWS
// The elements are ints that name one of `flags` rows, or none: those come last, as one behind the last row.
#define RADIX_KEY(x) ((uint)((x) >= 0 && (x) < flags ? (x) : flags))
#define KEPT_AS(x) (ELEM)RADIX_KEY(x)
#else
#define RADIX_KEY(x) sort_key(x, flags)
#define KEPT_AS(x) (x)
#endif
#define DIGIT(x) ((int)(RADIX_KEY(x) >> shift) & 255)

// Element k of the RADIX_PER of a work-item in its tile: those of 32 work-items, a team, lie side by side.
#define NUMBER(k) (lid / 32 * (32 * RADIX_PER) + (k) * 32 + lid % 32)

// C [rows, tiles + 1, 256] gets how many elements of each tile of X [rows, n] have each digit; the last of a row stays.
kernel __attribute__((reqd_work_group_size(RADIX_GROUP, 1, 1)))
void k_radix_count(IN(X), OUT_INTS(C), int rows, int n, int tiles, int shift, int flags) {
    local int count[256];
    const int lid = get_local_id(0), row = get_group_id(0) / tiles, tile = get_group_id(0) % tiles;
    const int m = min(TILE, n - tile * TILE);
    global const ELEM *x = X + X_off + row * n + tile * TILE;
    ELEM v[RADIX_PER];
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++) v[k] = NUMBER(k) < m ? x[NUMBER(k)] : 0;
    count[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++)
        if (NUMBER(k) < m) atomic_inc(count + DIGIT(v[k]));
    barrier(CLK_LOCAL_MEM_FENCE);
    C[C_off + (row * (tiles + 1) + tile) * 256 + lid] = count[lid];
}

// Of C, what a tile counts becomes what the tiles before it count, and behind the last is what all do. A work-group has eight
// digits of a row.
kernel __attribute__((reqd_work_group_size(RADIX_GROUP, 1, 1)))
void k_radix_scan(OUT_INTS(C), int rows, int tiles) {
    local int sums[RADIX_GROUP];
    const int lid = get_local_id(0), row = get_group_id(0) / 32, run = (tiles + 31) / 32;
    const int from = min(tiles, lid / 8 * run), to = min(tiles, from + run);
    global int *c = C + C_off + row * (tiles + 1) * 256 + get_group_id(0) % 32 * 8 + lid % 8;
    int sum = 0;
    for (int t = from; t < to; t++) sum += c[t * 256];
    sums[lid] = sum;
    for (int span = 8; span < RADIX_GROUP; span *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int before = lid >= span ? sums[lid - span] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[lid] += before;
    }
    if (lid / 8 == 31) c[tiles * 256] = sums[lid];
    sum = sums[lid] - sum;
    for (int t = from; t < to; t++) {
        const int own = c[t * 256];
        c[t * 256] = sum;
        sum += own;
    }
}

// Counts an element of this work-item with the digit, or none if that is 256, and returns how many of its team, in the order of
// the work-items, came before it: `count` has 256 of a team.
#ifdef NVIDIA_PTX
#define PLACES TILE
static int ballot(int v) {
    int r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(r) : "r"(v));
    return r;
}
static int counted_before(int digit, local int *count, local uint *bits) {
    uint peers = ~0U;
    _Pragma("unroll") for (int b = 0; b < 9; b++) {
        const int on = digit >> b & 1;
        peers &= ballot(on) ^ (on - 1);
    }
    const uint before = peers & ((1U << get_local_id(0) % 32) - 1);
    int first = 0;
    if (before == 0 && digit < 256) first = atomic_add(count + digit, (int)popcount(peers));
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(first) : "r"(first), "r"(31 - (int)clz(peers & -peers)) : "memory");
    return first + popcount(before);
}
#else
#define PLACES (TILE > TEAMS * 256 ? TILE : TEAMS * 256)
// By way of `bits`, 256 of each team, which are 0 before and after.
static int counted_before(int digit, local int *count, local uint *bits) {
    const int lid = get_local_id(0), here = digit < 256;
    local uint *mine = bits + lid / 32 * 256 + digit % 256;
    if (here) atomic_or(mine, 1U << lid % 32);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint peers = *mine, before = peers & ((1U << lid % 32) - 1);
    const int first = count[digit % 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here && before == 0) {
        *mine = 0;
        count[digit] = first + popcount(peers);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return first + popcount(before);
}
#endif

// Y and J are X and I [rows, n] sorted by a digit, whose counts are C; not `given`, the indices are places. A tile is sorted in local
// memory first, so that neighbours are written side by side.
kernel __attribute__((reqd_work_group_size(RADIX_GROUP, 1, 1)))
void k_radix_move(IN(X), IN_INTS(I), IN_INTS(C), OUT(Y), OUT_OF(INDEX, J), int rows, int n, int tiles, int shift, int flags, int given) {
    local ELEM values[TILE] __attribute__((aligned(16)));
    local int places[PLACES] __attribute__((aligned(16)));
    local int count[TEAMS][256]; // of the elements of a team, then of the teams before it
    local int begin[256];        // where the elements of a digit begin in the tile, then where they go, less that
    const int lid = get_local_id(0), row = get_group_id(0) / tiles, tile = get_group_id(0) % tiles;
    const int base = row * n, first = base + tile * TILE, m = min(TILE, n - tile * TILE);
    global const ELEM *x = X + X_off + first;
    global const int *index = I + I_off + first, *c = C + C_off + row * (tiles + 1) * 256 + lid;
    local uint *bits = (local uint *)places;
    ELEM v[RADIX_PER];
    int rank[RADIX_PER], from[RADIX_PER];
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++) v[k] = NUMBER(k) < m ? x[NUMBER(k)] : 0;
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++)
        from[k] = !given ? tile * TILE + NUMBER(k) : NUMBER(k) < m ? index[NUMBER(k)] : 0;
    const int in_tiles = c[tile * 256], in_row = c[tiles * 256];
    for (int t = 0; t < TEAMS; t++) {
        count[t][lid] = 0;
#ifndef NVIDIA_PTX
        bits[t * 256 + lid] = 0;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *own = count[lid / 32];
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++) rank[k] = counted_before(NUMBER(k) < m ? DIGIT(v[k]) : 256, own, bits);
    barrier(CLK_LOCAL_MEM_FENCE);
    // A work-item has a digit: how many the teams before have, and what lies before it in the tile and in the row.
    int sum = 0;
    for (int t = 0; t < TEAMS; t++) {
        const int some = count[t][lid];
        count[t][lid] = sum;
        sum += some;
    }
    const int2 all = (int2)(sum, in_row);
    local int2 *sums = (local int2 *)values;
    sums[lid] = all;
    for (int span = 1; span < 256; span *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int2 before = lid >= span ? sums[lid - span] : (int2)(0, 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[lid] += before;
    }
    const int2 start = sums[lid] - all;
    begin[lid] = start.x;
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++) {
        if (NUMBER(k) < m) {
            const int digit = DIGIT(v[k]), to = begin[digit] + own[digit] + rank[k];
            values[to] = KEPT_AS(v[k]);
            places[to] = from[k];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    begin[lid] = start.y + in_tiles - start.x;
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (int k = 0; k < RADIX_PER; k++) {
        const int at = k * RADIX_GROUP + lid;
        if (at < m) {
            const ELEM e = values[at];
            const int to = base + begin[DIGIT(e)] + at;
            Y[Y_off + to] = e;
            J[J_off + to] = places[at];
        }
    }
}
