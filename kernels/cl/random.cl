// @depends: common, philox
// Random fills from a seed (two words) and a call number. A work-item makes four neighbours:
// Y[4i … 4i+3] from the four words of counter (i, call, 0, 0).

#define STORE4(v0, v1, v2, v3)                        \
    if (4 * i < n) Y[Y_off + 4 * i] = v0;             \
    if (4 * i + 1 < n) Y[Y_off + 4 * i + 1] = v1;     \
    if (4 * i + 2 < n) Y[Y_off + 4 * i + 2] = v2;     \
    if (4 * i + 3 < n) Y[Y_off + 4 * i + 3] = v3;

// 24 bits of a word, as a real in [0, 1). Exact, so every device makes the same number.
static REAL unit(uint word) { return (REAL)(word >> 8) * (REAL)0x1p-24f; }

// low + (high − low)·u with u in [0, 1); one rounding, by fma. What rounds up to high is the number before it.
static REAL between(uint word, REAL low, REAL high) {
    const REAL v = fma(unit(word), high - low, low);
    return v == high && low != high ? nextafter(high, low) : v;
}

// Y[i] is uniform in [low, high).
kernel void k_uniform(OUT(Y), int n, int seed_lo, int seed_hi, int call, REAL low, REAL high) {
    const int i = get_global_id(0);
    const uint4 w = philox((uint4)((uint)i, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    STORE4(between(w.x, low, high), between(w.y, low, high), between(w.z, low, high), between(w.w, low, high))
}

// Y[i] = mean + sd·z, z standard normal by Box and Muller's transform: words 0 and 1 make the first
// pair, words 2 and 3 the second. log and cospi differ between devices in the last places.
kernel void k_normal(OUT(Y), int n, int seed_lo, int seed_hi, int call, REAL mean, REAL sd) {
    const int i = get_global_id(0);
    const uint4 w = philox((uint4)((uint)i, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    // 1 − u is in (0, 1]: the logarithm is finite.
    const REAL r0 = sd * sqrt(-2 * log(1 - unit(w.x))), r1 = sd * sqrt(-2 * log(1 - unit(w.z)));
    const REAL t0 = 2 * unit(w.y), t1 = 2 * unit(w.w);
    STORE4(mean + r0 * cospi(t0), mean + r0 * sinpi(t0), mean + r1 * cospi(t1), mean + r1 * sinpi(t1))
}

// Y[i] = an int in [0, bound), by the high half of word·bound; the bias is below bound/2³².
kernel void k_random_ints(OUT_INTS(Y), int n, int seed_lo, int seed_hi, int call, int bound) {
    const int i = get_global_id(0);
    const uint4 w = philox((uint4)((uint)i, (uint)call, 0, 0), (uint2)((uint)seed_lo, (uint)seed_hi));
    const uint4 v = mul_hi(w, (uint4)((uint)bound));
    STORE4((int)v.x, (int)v.y, (int)v.z, (int)v.w)
}
