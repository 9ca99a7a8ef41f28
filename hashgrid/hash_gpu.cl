// @depends: common
// A multi-resolution hash grid: features at the vertices of grids over the picture, interpolated at a position.
// Source: Müller, Evans, Schied, Keller, "Instant Neural Graphics Primitives with a Multiresolution Hash
// Encoding", SIGGRAPH 2022, §3.
//
// LEVELS [l*4 + {0, 1, 2, 3}]: the level's first entry in TABLE, its cells across and down, and its entries less
// one if vertices are hashed to entries, or 0 if each has its own. Position (x, y) lies at
// (x·across + ½, y·down + ½) in a level of (across + 2)·(down + 2) vertices: where there is a cell for each
// pixel, the centres of pixels are vertices.
// C: [i*2 + axis]  TABLE, D: [entry*FEATURES + f]  F, G: [(i*levels + l)*FEATURES + f]

#ifndef FEATURES
#define FEATURES 2 // of an entry
#endif

// The entries at the corners of the cell around C[0:2], and their weights, which add up to 1.
static void corners(global const REAL *C, global const int *level, int *entry, REAL *weight) {
    const int across = level[1], down = level[2], mask = level[3];
    const REAL x = fma(C[0], (REAL)across, (REAL)0.5), y = fma(C[1], (REAL)down, (REAL)0.5);
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

// F[i][l] = Σ_corner weight·TABLE[corner].
kernel void k_hash_encode(IN(C), IN(TABLE), IN_INTS(LEVELS), OUT(F), int n, int levels) {
    const int e = get_global_id(0);
    if (e >= n * levels) return;
    const int l = e / n, i = e % n; // neighbours share a level
    int entry[4];
    REAL weight[4];
    corners(C + C_off + 2 * i, LEVELS + LEVELS_off + 4 * l, entry, weight);
    global const REAL *t = TABLE + TABLE_off;
    global REAL *f = F + F_off + (i * levels + l) * FEATURES;
    for (int k = 0; k < FEATURES; k++) {
        REAL sum = weight[0] * t[entry[0] * FEATURES + k];
        for (int c = 1; c < 4; c++) sum = fma(weight[c], t[entry[c] * FEATURES + k], sum);
        f[k] = sum;
    }
}

// The same sums for GPUs, in fixed point, so that they do not depend on the order in which work-items come:
// SUM[(entry*FEATURES + f)*2 + {0, 1}] are the low and the high word of the sum in units of 2⁻³⁶. Integer
// addition is associative, and whoever makes the low word wrap carries. Sums are good to ±2²⁶.
kernel void k_hash_scatter(IN(C), IN(G), IN_INTS(LEVELS), OUT_INTS(SUM), int n, int levels) {
    const int e = get_global_id(0);
    if (e >= n * levels) return;
    const int l = e / n, i = e % n;
    int entry[4];
    REAL weight[4];
    corners(C + C_off + 2 * i, LEVELS + LEVELS_off + 4 * l, entry, weight);
    global const REAL *g = G + G_off + (i * levels + l) * FEATURES;
    for (int c = 0; c < 4; c++) {
        for (int k = 0; k < FEATURES; k++) {
            const long part = convert_long_sat_rte(weight[c] * g[k] * (REAL)0x1p36f);
            if (part == 0) continue;
            volatile global uint *sum = (volatile global uint *)SUM + SUM_off + (entry[c] * FEATURES + k) * 2;
            const uint low = (uint)part, before = atomic_add(sum, low);
            atomic_add(sum + 1, (uint)(part >> 32) + (before + low < before));
        }
    }
}

// D[e] = SUM[e], which becomes 0 for the next pass.
kernel void k_hash_collect(OUT_INTS(SUM), OUT(D), int n) {
    const int e = get_global_id(0);
    if (e >= n) return;
    global int *sum = SUM + SUM_off + 2 * e;
    D[D_off + e] = (REAL)(((long)sum[1] << 32) | (uint)sum[0]) * (REAL)0x1p-36f;
    sum[0] = sum[1] = 0;
}
