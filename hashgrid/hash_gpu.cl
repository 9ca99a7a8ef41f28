// @depends: common, philox, epilogue
// A multi-resolution hash grid, for GPUs: features at the vertices of grids over the picture, interpolated at a position.
// Source: Müller, Evans, Schied, Keller, "Instant Neural Graphics Primitives with a Multiresolution Hash
// Encoding", SIGGRAPH 2022, §3.
//
// LEVELS [l*LEVEL + {0 to 5}]: the level's first entry in TABLE, its cells across and down, its entries less one if vertices are
// hashed to entries, or 0 if each has its own; where it begins in SUM, in entries, and how many copies it has there, less one.
// Position (x, y) lies at (x·across + ½, y·down + ½) in a level of (across + 2)·(down + 2) vertices: where there is a cell for
// each pixel, the centres of pixels are vertices.
// C: [i*2 + axis]  TABLE, D: [entry*FEATURES + f]  F, G: [(i*levels + l)*FEATURES + f]
//
// Work-items follow the order of F and G: neighbours read and write neighbours, also of the entries that they share.

#ifndef FEATURES
#define FEATURES 2 // of an entry
#endif

#define LEVEL 6

// How many features a work-item encodes, and a vector of them: memory that begins at such is read and written at once.
#if FEATURES % 4 == 0
#define LANES 4
#define VECTOR REAL4
#define LOAD(p, whole) ((whole) ? *(global const REAL4 *)(p) : vload4(0, p))
#define STORE(v, p, whole) if (whole) *(global REAL4 *)(p) = v; else vstore4(v, 0, p)
#elif FEATURES % 2 == 0
#define LANES 2
#define VECTOR REAL2
#define LOAD(p, whole) ((whole) ? *(global const REAL2 *)(p) : vload2(0, p))
#define STORE(v, p, whole) if (whole) *(global REAL2 *)(p) = v; else vstore2(v, 0, p)
#else
#define LANES 1
#define VECTOR REAL
#define LOAD(p, whole) (*(p))
#define STORE(v, p, whole) *(p) = v
#endif
#define VECTORS (FEATURES / LANES)

// The entries at the corners of the cell around (x, y), and their weights, which add up to 1.
static void corners(REAL x, REAL y, global const int *level, int *entry, REAL *weight) {
    const int across = level[1], down = level[2], mask = level[3];
    x = fma(x, (REAL)across, (REAL)0.5);
    y = fma(y, (REAL)down, (REAL)0.5);
    // Cut off as reals: what an int does not hold becomes anything.
    const int column = fmin(fmax(x, 0), (REAL)across), row = fmin(fmax(y, 0), (REAL)down);
    const REAL right = x - column, below = y - row, left = 1 - right, above = 1 - below;
    weight[0] = left * above;
    weight[1] = right * above;
    weight[2] = left * below;
    weight[3] = right * below;
    for (int k = 0; k < 4; k++) {
        const uint c = column + k % 2, r = row + k / 2;
        entry[k] = level[0] + (mask != 0 ? (int)((c ^ r * 2654435761u) & (uint)mask) : (int)(r * (across + 2) + c));
    }
}

// Vector v of what (x, y) sees of a level.
static VECTOR seen(REAL x, REAL y, global const int *level, global const REAL *TABLE, int TABLE_off, int v) {
    int entry[4];
    REAL weight[4];
    corners(x, y, level, entry, weight);
    global const REAL *t = TABLE + TABLE_off + v * LANES;
    const int whole = TABLE_off % LANES == 0;
    VECTOR sum = weight[0] * LOAD(t + entry[0] * FEATURES, whole);
    for (int c = 1; c < 4; c++) sum = fma((VECTOR)weight[c], LOAD(t + entry[c] * FEATURES, whole), sum);
    return sum;
}

// F[i][l] = Σ_corner weight·TABLE[corner].
kernel void k_hash_encode(IN(C), IN(TABLE), IN_INTS(LEVELS), OUT(F), int n, int levels) {
    const int e = get_global_id(0), l = e / VECTORS % levels, i = e / VECTORS / levels;
    if (i >= n) return;
    global const REAL *at = C + C_off + 2 * i;
    const VECTOR f = seen(at[0], at[1], LEVELS + LEVELS_off + l * LEVEL, TABLE, TABLE_off, e % VECTORS);
    STORE(f, F + F_off + e * LANES, F_off % LANES == 0);
}

// The same of n random pixels of IMAGE [height*width, channels], drawn from the words of counters (i/4, call, 0, 0), with their
// centres in C and their colours in V [n, channels]. A work-item draws its sample's pixel again.
kernel void k_hash_draw(IN(IMAGE), IN(TABLE), IN_INTS(LEVELS), OUT(F), OUT(C), OUT(V), int n, int levels, int width, int height,
                        int channels, int seed_lo, int seed_hi, int call) {
    const int e = get_global_id(0), items = levels * VECTORS, item = e % items, i = e / items;
    if (i >= n) return;
    const uint4 four = philox((uint4)((uint)i / 4, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    const uint word = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    const int pixel = mul_hi(word, (uint)(width * height));
    const REAL x = ((REAL)(pixel % width) + (REAL)0.5) / width, y = ((REAL)(pixel / width) + (REAL)0.5) / height;
    for (int k = item; k < 2 + channels; k += items) {
        if (k < 2) C[C_off + 2 * i + k] = k == 0 ? x : y;
        else V[V_off + i * channels + k - 2] = IMAGE[IMAGE_off + pixel * channels + k - 2];
    }
    const VECTOR f = seen(x, y, LEVELS + LEVELS_off + item / VECTORS * LEVEL, TABLE, TABLE_off, item % VECTORS);
    STORE(f, F + F_off + e * LANES, F_off % LANES == 0);
}

// The gradient of TABLE, Σ weight·G[i][l] at each corner, is summed in fixed point, so that it does not depend on the order in
// which work-items come: SUM[(place*FEATURES + f)*2 + {0, 1}] are the low and the high word of a sum in units of 2⁻³⁶, and
// integer addition is associative. SUM starts at an even offset. A level with few entries has copies of them, which samples take
// by turns: additions to one place wait for each other. A sum that leaves ±LARGEST becomes NaN, and so does one of which a term
// does, or is none: with b = entry*FEATURES + f, bit b%32 of STRANGE[b/32*2] says so.
//
// Where all features of a level have gradients below SMALL, as of a loss that is a mean of many, terms are summed in units of 2⁻⁵⁸
// in FINE, which is laid out as SUM is; bit b%32 of STRANGE[b/32*2 + 1] says that there are some. So most launches read SUM alone.
#define LARGEST (REAL)0x1p26f
#define SMALL (REAL)0x1p-22f
#define FINER 22 // powers of two between the two units

#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
static void add(global int *sum, long v) { atom_add((volatile global long *)sum, v); }
#else
// Whoever makes the low word wrap carries.
static void add(global int *sum, long v) {
    const uint low = (uint)v, before = atomic_add((volatile global uint *)sum, low);
    atomic_add((volatile global uint *)sum + 1, (uint)(v >> 32) + (before + low < before));
}
#endif

// How many entries a level has.
static int entries_of(global const int *level) { return level[3] != 0 ? level[3] + 1 : (level[1] + 2) * (level[2] + 2); }

// SUM[corner] += weight·G[i][l]. A work-item has an element of G and the corners at one side of the cell: those at the other,
// whose entries often lie beside these, come from its neighbours.
static void hash_scatter(IN(C), IN(G), IN_INTS(LEVELS), OUT_INTS(SUM), OUT_INTS(FINE), OUT_INTS(STRANGE), int n, int levels) {
    const uint e = get_global_id(0), corner = e / FEATURES; // twice as many as G has elements
    const int f = e % FEATURES, right = corner % 2, l = corner / 2 % levels, i = corner / 2 / levels;
    if (i >= n) return;
    int entry[4];
    REAL weight[4];
    global const REAL *at = C + C_off + 2 * i;
    global const int *level = LEVELS + LEVELS_off + l * LEVEL;
    corners(at[0], at[1], level, entry, weight);
    global const REAL *up = G + G_off + (i * levels + l) * FEATURES;
    const REAL g = up[f];
    int small = fabs(g) < SMALL; // few are: the other features are looked at for those, and weights, which are large far outside the square
    if (small) {
        for (int k = 0; k < FEATURES; k++) small &= fabs(up[k]) < SMALL;
        for (int k = 0; k < 4; k++) small &= fabs(weight[k]) <= 1;
    }
    global int *sums = small ? FINE + FINE_off : SUM + SUM_off;
    const REAL units = small ? (REAL)0x1p58f : (REAL)0x1p36f;
    const int copy = level[4] - level[0] + (i & level[5]) * entries_of(level);
    for (int c = 0; c < 4; c += 2) {
        const int to = right ? entry[c + 1] : entry[c];
        const REAL v = (right ? weight[c + 1] : weight[c]) * g;
        if (small | !(fabs(v) < LARGEST)) {
            const int bit = to * FEATURES + f;
            atomic_or((volatile global int *)STRANGE + STRANGE_off + bit / 32 * 2 + small, 1 << bit % 32);
            if (!small) continue;
        }
        const long part = convert_long_rte(v * units);
        if (part != 0) add(sums + ((copy + to) * FEATURES + f) * 2, part);
    }
}

kernel void k_hash_scatter(IN(C), IN(G), IN_INTS(LEVELS), OUT_INTS(SUM), OUT_INTS(FINE), OUT_INTS(STRANGE), int n, int levels) {
    hash_scatter(C, C_off, G, G_off, LEVELS, LEVELS_off, SUM, SUM_off, FINE, FINE_off, STRANGE, STRANGE_off, n, levels);
}

#define PARTS 64 // of the entries of a level, for work-items to share

// The same without atomics, for a CPU that does not compute the form of hash_cpu.cl rightly. A work-item owns some of the PARTS
// of the levels' entries. entries is that of the whole table.
kernel void k_hash_grad(IN(C), IN(G), IN_INTS(LEVELS), OUT(D), int n, int levels, int entries) {
    const int g = get_group_id(0), groups = get_num_groups(0);
    const int from = (long)levels * PARTS * g / groups, to = (long)levels * PARTS * (g + 1) / groups;
    global REAL *d = D + D_off;
    for (int l = from / PARTS; l * PARTS < to; l++) {
        global const int *level = LEVELS + LEVELS_off + l * LEVEL;
        const long size = (l + 1 < levels ? level[LEVEL] : entries) - level[0];
        const int first = level[0] + size * max(from - l * PARTS, 0) / PARTS, end = level[0] + size * min(to - l * PARTS, PARTS) / PARTS;
        for (int e = first * FEATURES; e < end * FEATURES; e++) d[e] = 0;
        for (int i = 0; i < n; i++) {
            int entry[4];
            REAL weight[4];
            corners(C[C_off + 2 * i], C[C_off + 2 * i + 1], level, entry, weight);
            for (int c = 0; c < 4; c++) {
                if (entry[c] < first || entry[c] >= end) continue;
                for (int k = 0; k < FEATURES; k++) d[entry[c] * FEATURES + k] += weight[c] * G[G_off + (i * levels + l) * FEATURES + k];
            }
        }
    }
}

#define AHEAD 8            // copies on their way at once
#define COLLECT_GROUP 256  // work-items of a group: those of a word of STRANGE are in one

// The sum of so many copies of a number, which become 0.
static long take(global ulong *sum, int apart, int copies) {
    ulong all = 0;
    for (int from = 0; from < copies; from += AHEAD) {
        ulong part[AHEAD];
        _Pragma("unroll") for (int k = 0; k < AHEAD; k++) part[k] = from + k < copies ? sum[(from + k) * apart] : 0;
        _Pragma("unroll") for (int k = 0; k < AHEAD; k++) all += part[k];
        for (int k = from; k < min(copies, from + AHEAD); k++) sum[k * apart] = 0;
    }
    return (long)all;
}

// D[e] = the sum of the copies in SUM and in FINE. These and STRANGE become 0, for the next pass.
kernel __attribute__((reqd_work_group_size(COLLECT_GROUP, 1, 1)))
void k_hash_collect(OUT_INTS(SUM), OUT_INTS(FINE), OUT_INTS(STRANGE), IN_INTS(LEVELS), OUT(D), int n, int levels PUT_PARAMS) {
    const int e = get_global_id(0);
    global int *words = STRANGE + STRANGE_off + e / 32 * 2;
    const int strange = e < n ? words[0] : 0, fine = e < n ? words[1] : 0;
    barrier(CLK_GLOBAL_MEM_FENCE); // all have read them
    if (e >= n) return;
    if ((strange | fine) != 0 && e % 32 == 0) words[0] = words[1] = 0;
    int l = 0;
    for (int k = 1; k < levels; k++) l += e / FEATURES >= LEVELS[LEVELS_off + k * LEVEL];
    global const int *level = LEVELS + LEVELS_off + l * LEVEL;
    const int apart = FEATURES * entries_of(level), copies = level[5] + 1;
    const int place = e + (level[4] - level[0]) * FEATURES;
    long all = take((global ulong *)(SUM + SUM_off) + place, apart, copies), rest = 0;
    if ((fine >> e % 32 & 1) != 0) { // its whole units join the others: what is left is less than one, and not negative
        const long small = take((global ulong *)(FINE + FINE_off) + place, apart, copies);
        all += small >> FINER;
        rest = small & ((1 << FINER) - 1);
    }
    const REAL v = fma((REAL)rest, (REAL)0x1p-58f, (REAL)all * (REAL)0x1p-36f);
    PUT(D + D_off, e, (strange >> e % 32 & 1) != 0 || fabs(v) >= LARGEST ? (REAL)NAN : v);
}
