// @depends: common
// Copies that compute, axis by axis, which element comes where: padding and mirroring. Also built with ELEM as int, uchar,
// ushort or long.

// Y [m0, m1, m2, m3] takes X [n0, n1, n2, n3]: index i of an axis comes from i − before. The mode of the axis says what
// stands for an index that is none: 0 the value, 1 its mirror image in the first or last element, 2 the nearest, 3 that
// of the next period. In mode 4 the axis is mirrored: index i comes from n − 1 − i.
static int pad_source(int i, int n, int mode) {
    if (i >= 0 && i < n) return mode == 4 ? n - 1 - i : i;
    switch (mode) {
    case 1: return i < 0 ? -i : 2 * (n - 1) - i;
    case 2: return i < 0 ? 0 : n - 1;
    case 3: return i < 0 ? i + n : i - n;
    }
    return -1;
}

#define AXIS_PARAMS int m0, int n0, int before0, int mode0, int m1, int n1, int before1, int mode1, int m2, int n2, int before2, int mode2, int m3, int n3, int before3, int mode3

// The elements of an axis that come from index j, where modes are those above but 4: from s0 to below s1, and one, if s2 is not
// below 0, and from s3 to below s4.
typedef struct {
    int s0, s1, s2, s3, s4;
} pad_places;

static pad_places pad_places_of(int j, int m, int n, int before, int mode) {
    pad_places p = {0, 0, j + before, 0, 0};
    if (p.s2 >= m) p.s2 = -1;
    if (mode == 2) {
        if (j == 0) p.s1 = clamp(before, 0, m);
        if (j == n - 1) p.s3 = max(before + n, 0), p.s4 = m;
    } else if (mode != 0) {
        const int left = mode == 1 ? before - j : before + j - n, right = mode == 1 ? before + 2 * (n - 1) - j : before + j + n;
        if (left >= 0 && left < m && (mode == 3 || j > 0)) p.s0 = left, p.s1 = left + 1;
        if (right >= 0 && right < m && (mode == 3 || j < n - 1)) p.s3 = right, p.s4 = right + 1;
    }
    return p;
}

// How many they are, and which is number k of them.
static int pad_count(pad_places p) { return p.s1 - p.s0 + (p.s2 >= 0) + max(p.s4 - p.s3, 0); }
static int pad_place(pad_places p, int k) {
    const int left = p.s1 - p.s0, own = p.s2 >= 0;
    return k < left ? p.s0 + k : k < left + own ? p.s2 : p.s3 + k - left - own;
}

#define PLACES(j, a) pad_places_of(j, m##a, n##a, before##a, mode##a)
